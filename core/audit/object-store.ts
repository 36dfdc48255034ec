/**
 * Where segments, manifests, intents and heads are kept, as the rest sees it: objects are created once and never changed. A store that
 * cannot promise that is refused before anything is trusted to it (failure case AUD-18).
 */

export interface NewObject {
  /** `/` between folders; no `.`, `..` or empty part. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
}

/** `present`: an object of that name with exactly these bytes was there before, such as after a lost reply (AUD-19). */
export type Creation = 'created' | 'present';

export interface ObjectStore {
  /** Resolves once the store has it durably. Throws StoreFault. */
  create(object: NewObject, signal?: AbortSignal): Promise<Creation>;
  /** Undefined where there is none. Throws StoreFault, `too-large` for more than `bytesMax` before they are in memory. */
  read(name: string, bytesMax: number): Promise<Buffer | undefined>;
  /**
   * All names below a folder (`a/b/`, or `` for everything), by their bytes; a server that lists folders one by one has an order of its own
   * between them, and the names of one folder in order. Not in memory at once. Throws StoreFault.
   */
  list(folder: string): AsyncIterable<{ readonly name: string; readonly bytes: number }>;
}

/**
 * `occupied`: the name has other bytes. `unavailable`: may work later. `refused`: rights or address are wrong, or the bytes are not taken.
 * `unsafe`: the store does not keep what was created first.
 */
export type StoreFaultKind = 'occupied' | 'unavailable' | 'refused' | 'unsafe' | 'too-large';

export class StoreFault extends Error {
  readonly kind: StoreFaultKind;

  /** `message` is our own; what the store said is the cause. */
  constructor(kind: StoreFaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreFault';
    this.kind = kind;
  }
}
