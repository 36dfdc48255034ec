/**
 * One watch, from its request to its end.
 *
 * It is asked for half a minute only (`timeoutSeconds`): shortly before that the API server sends a bookmark and ends the answer in
 * order, and the next watch goes over the same connection. So a connection that is dead without a word, also behind a proxy that
 * keeps its own side open, is noticed by a missing end (failure case OPR-04), and a quiet kind has a version that is never older than
 * half a minute (OPR-05, OPR-06). Longer watches would need a guess when silence is normal.
 *
 * Frames are handed over as bytes arrive, never queued: an answer that is cut loses nothing that came before the cut (OPR-09).
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ApiTransport } from './api-transport.ts';
import { KubeError } from './kube-error.ts';
import { collectionPath, type ResourceKind } from './resource-kind.ts';
import { type Frame, frameOf } from './watch-frame.ts';

export interface WatchOptions {
  /** Events after this version. MUST not be empty: that would mean "from anywhere". */
  readonly version: string;
  readonly seconds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The API server accepted; frames follow. */
  readonly onOpen: () => void;
  /** False ends the watch; the connection is closed. MUST not throw. */
  readonly onFrame: (frame: Frame) => boolean;
}

/** Resolves when the watch ended in order or by `onFrame`. Throws KubeError for every other end, the signal's reason for an abort. */
export async function watchOnce(transport: ApiTransport, kind: ResourceKind, options: WatchOptions): Promise<void> {
  const { version, seconds, clock, signal } = options;
  const body = await transport.open({
    what: `watch ${kind.plural}`,
    method: 'GET',
    path: collectionPath(kind),
    query: { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: version, timeoutSeconds: String(seconds) },
    signal,
  });
  options.onOpen();
  const reader = new LineReader(limits.kubeWatchLineBytesMax);
  const guard = new Watchdog(clock, seconds * 1000 + limits.kubeWatchGraceMs);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let wanted = true;
  const leave = (settle: () => void) => {
    wanted = false;
    settle();
    body.destroy();
  };
  const onAbort = () => leave(() => reject(signal.reason));
  const broken = (cause?: unknown) => reject(new KubeError(`A watch of ${kind.plural} broke`, { status: 0, reason: 'Unreachable', cause }));
  guard.start(() => leave(() => reject(new KubeError(`A watch of ${kind.plural} fell silent`, { status: 0, reason: 'TimedOut' }))));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  body.on('data', (chunk: Buffer) => {
    guard.heard();
    for (const line of reader.push(chunk)) {
      if (wanted && !options.onFrame(frameOf(line))) leave(resolve);
    }
  });
  body.on('end', resolve).on('error', broken).on('close', broken);
  try {
    await ended;
  } finally {
    guard.stop();
    signal.removeEventListener('abort', onAbort);
    // A last line without a line feed: if it is half a line, something was said that we did not get (failure case OPR-12).
    const rest = reader.rest();
    if (wanted && rest !== '') options.onFrame(frameOf(rest));
  }
}

/** Lines of a stream of chunks. A line over the limit comes as an empty text, which is no frame. */
class LineReader {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  *push(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      yield this.#take();
    }
    this.#keep(chunk.subarray(from));
  }

  rest(): string {
    return this.#take();
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > this.#bytesMax) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #take(): string {
    const line = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    const text = this.#size > this.#bytesMax ? '' : (line as Buffer).toString('utf8');
    this.#pieces = [];
    this.#size = 0;
    return text;
  }
}

const LINE_FEED = 0x0a;

/** Rings when the watch's own time is over and nothing came for a while: a slow reader still gets its backlog. */
class Watchdog {
  readonly #clock: Clock;
  readonly #ms: number;
  #heardMs = 0;
  #cancel = () => {};

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  start(ring: () => void): void {
    this.#arm(this.#ms, ring);
  }

  heard(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #arm(ms: number, ring: () => void): void {
    this.#cancel = this.#clock.alarm(ms, () => {
      const leftMs = this.#heardMs + limits.kubeWatchGraceMs - this.#clock.monotonicMs();
      if (leftMs > 0) this.#arm(leftMs, ring);
      else ring();
    });
  }
}
