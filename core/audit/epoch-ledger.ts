/**
 * What a verifier remembers of the epochs it has passed: a hundred bytes for each, and each takes a kilobyte of the chain. From it comes
 * the verdict on the signature (FORMAT.md, "Checking" 3).
 */
import type { VerifierKey } from './signed-note.ts';

interface Epoch {
  /** Sequence of its first record. */
  readonly first: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Size of its last checkpoint. */
  signedTo?: number;
  /** Records up to there that bear no signature of their own. */
  signedRecords: number;
  /** The authority that answers for its key, by its place in what was given. */
  authority?: number;
  ended: boolean;
}

/** `signature`: words and where; as a reader prints it. */
export interface SignatureVerdict {
  readonly is: 'not checked' | 'valid' | 'INVALID';
  /** Signed to there, or wrong from there. */
  readonly sequence?: number;
  readonly sentence: string;
}

export class EpochLedger {
  readonly #authorities: readonly VerifierKey[];
  readonly #epochs: Epoch[] = [];
  /** Number of the first one that was met. */
  #base = 1;
  /** Records so far that bear no signature of their own: all but checkpoints, receipts and certificates. */
  #records = 0;
  #forged: { readonly sequence: number; readonly what: string } | undefined;

  constructor(authorities: readonly VerifierKey[]) {
    this.#authorities = authorities;
  }

  begin(number: number, first: number, key: VerifierKey): void {
    if (this.#epochs.length === 0) this.#base = number;
    this.#epochs.push({ first, key: Buffer.from(key.raw), signedRecords: 0, ended: false });
  }

  /** Key of an epoch. `unknown`: it was before what was looked at; undefined: it has not begun. */
  keyOf(number: number): Uint8Array | 'unknown' | undefined {
    if (number < this.#base && number >= 1) return 'unknown';
    return this.#epochs[number - this.#base]?.key;
  }

  checkpoint(size: number): void {
    const epoch = this.#epochs.at(-1);
    if (epoch === undefined) return;
    epoch.signedTo = size;
    epoch.signedRecords = this.#records;
  }

  /** Records that somebody must sign, or they are not signed. */
  records(count: number): void {
    this.#records += count;
  }

  end(): void {
    const epoch = this.#epochs.at(-1);
    if (epoch !== undefined) epoch.ended = true;
  }

  certified(number: number, authority: number): void {
    const epoch = this.#epochs[number - this.#base];
    if (epoch !== undefined) epoch.authority ??= authority;
  }

  /** A certificate or receipt bears the name of an authority that has not signed it. */
  forged(sequence: number, what: 'certificate' | 'receipt'): void {
    this.#forged ??= { sequence, what };
  }

  /** Epochs before the last one that were cut off, by a crash or by somebody; the first few, and how many. */
  withoutEnd(): { readonly count: number; readonly first: readonly number[] } {
    const open = this.#epochs.slice(0, -1).flatMap(({ ended }, index) => (ended ? [] : [index + this.#base]));
    return { count: open.length, first: open.slice(0, SHOWN_MAX) };
  }

  verdict(): SignatureVerdict {
    if (this.#authorities.length === 0) return { is: 'not checked', sentence: 'not checked (--key)' };
    if (this.#forged !== undefined) {
      const { sequence, what } = this.#forged;
      return invalid(sequence, `the ${what} at sequence ${sequence} is not signed by the authority it names`);
    }
    const index = this.#epochs.findLastIndex(({ authority, signedTo }) => authority !== undefined && signedTo !== undefined);
    const epoch = this.#epochs[index];
    const names = this.#authorities.map(({ name }) => name).join(', ');
    if (epoch?.signedTo === undefined) return invalid(1, `no checkpoint is signed by a key that ${names} answers for`);
    const before = this.#epochs.slice(0, index).findIndex(({ authority }) => authority === undefined);
    const first = this.#epochs[before]?.first;
    if (first !== undefined)
      return invalid(first, `${names} does not answer for the key of epoch ${before + this.#base}, from sequence ${first} on`);
    const name = this.#authorities[epoch.authority ?? 0]?.name ?? names;
    const sentence = `valid to sequence ${epoch.signedTo}, signed by ${name}${unsigned(this.#records - epoch.signedRecords)}`;
    return { is: 'valid', sequence: epoch.signedTo, sentence };
  }
}

const SHOWN_MAX = 10;

function invalid(sequence: number, why: string): SignatureVerdict {
  return { is: 'INVALID', sequence, sentence: `INVALID: ${why}` };
}

function unsigned(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ', 1 record after it is not signed' : `, ${count} records after it are not signed`;
}
