/**
 * The records of a chain, opened and checked in one pass: what is given out is what was checked, also where somebody changes a file
 * meanwhile. Behind the first broken sequence nothing is opened.
 */
import type { Frame } from '#core/audit/frame.ts';
import { type FrameOpener, FrameUnopened } from '#core/audit/open.ts';
import { parseRecord } from '#core/audit/record-line.ts';
import type { ChainRecord } from '#core/audit/record-members.ts';
import { parseSegmentStatement } from '#core/audit/statement.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { limits } from '#core/bounds/limits.ts';
import { walkSegments } from './audit-chains.ts';
import type { ChainSource } from './audit-source.ts';
import { UsageError } from './report-failure.ts';

export interface ReadChain {
  readonly verifier: ChainVerifier;
  readonly opened: number;
  /** Frames that none of the identities opens. */
  readonly foreign: number;
  /** Frames and records that are not what a sidecar writes. */
  readonly odd: number;
  /** `age1…` of the last segment that stood before a frame which no identity opens. */
  readonly recipients: readonly string[];
}

/** `from`: the first sequence that is wanted. */
export interface Wanted {
  readonly from: number;
  readonly onRecord: (record: ChainRecord) => void;
}

export class ChainReading {
  readonly verifier: ChainVerifier;
  opened = 0;
  foreign = 0;
  odd = 0;
  recipients: readonly string[] = [];
  readonly #opener: FrameOpener;
  readonly #wanted: Wanted;
  #waiting: Frame[] = [];
  #waitingBytes = 0;
  #current: readonly string[] = [];

  constructor(opener: FrameOpener, wanted: Wanted, anywhere: boolean) {
    this.#opener = opener;
    this.#wanted = wanted;
    this.verifier = new ChainVerifier({ anywhere, onFrame: (frame) => this.#take(frame) });
  }

  /** Opens what was good since the last time. */
  async drain(): Promise<void> {
    const frames = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const frame of frames) await this.#open(frame);
  }

  #take(frame: Frame): void {
    this.#waitingBytes += frame.bytes.length;
    if (this.#waitingBytes > limits.auditReadLogBytesMax)
      throw new UsageError(
        `This log is longer than ${limits.auditReadLogBytesMax} bytes, which no sidecar keeps.`,
        'Read what was shipped instead.',
      );
    if (frame.form === 'statement' ? frame.heads[0].kind === 'segment' : frame.sequence + frame.heads.length > this.#wanted.from)
      this.#waiting.push(frame);
  }

  async #open(frame: Frame): Promise<void> {
    if (frame.form === 'statement') {
      this.#current = parseSegmentStatement(frame.body)?.recipients ?? [];
      return;
    }
    try {
      for (const { sequence, text } of await this.#opener.open(frame)) {
        const record = parseRecord(text);
        if (record === undefined) this.odd += 1;
        else if (sequence >= this.#wanted.from) this.#wanted.onRecord({ origin: this.verifier.origin ?? '', sequence, record });
      }
      this.opened += 1;
    } catch (thrown) {
      if (!(thrown instanceof FrameUnopened)) throw thrown;
      if (thrown.kind === 'identity') {
        this.foreign += 1;
        this.recipients = this.#current;
      } else this.odd += 1;
    }
  }
}

/** Reads one chain whole. Throws UsageError, AUDIT_UNAVAILABLE for a log that cannot be read. */
export async function readChain(source: ChainSource, opener: FrameOpener, wanted: Wanted): Promise<ReadChain> {
  const reading = new ChainReading(opener, wanted, source.log !== undefined);
  if (source.log === undefined) await walkSegments(source, reading.verifier, () => reading.drain());
  else {
    const { verifyLog } = await import('./audit-log-chain.ts');
    await verifyLog(source.log, reading.verifier);
    await reading.drain();
  }
  return reading;
}
