/** One run of the chain under one key, which is only in memory: who takes the process later cannot sign what was before (AUD-04). */
import { epochKeyName } from '#core/audit/checkpoint.ts';
import { makeSigningKey, type SigningKey, verifierText } from '#core/audit/signed-note.ts';
import { FORMAT, statementBody } from '#core/audit/statement.ts';
import type { ChainLedger } from './chain-ledger.ts';

export class Epoch {
  readonly number: number;
  readonly origin: string;
  readonly key: SigningKey;
  /** Monotonic. */
  readonly beganMs: number;
  /** Last record and hash of the epoch before; undefined in the first. */
  readonly previous: { readonly sequence: number; readonly hash: string } | undefined;

  constructor(origin: string, before: { readonly epoch: number; readonly size: number; readonly hash: Uint8Array }, beganMs: number) {
    this.origin = origin;
    this.number = before.epoch + 1;
    this.key = makeSigningKey(epochKeyName(origin, this.number));
    this.beganMs = beganMs;
    this.previous = before.size === 0 ? undefined : { sequence: before.size, hash: Buffer.from(before.hash).toString('hex') };
  }

  /** The statement of a segment of this epoch; its members in the order of FORMAT.md. */
  segment(
    { open, statement, epoch }: Pick<ChainLedger, 'open' | 'statement' | 'epoch'>,
    recipients: readonly string[],
    openedAt: string,
  ): Uint8Array {
    const first = epoch !== this.number;
    return statementBody({
      format: FORMAT,
      origin: this.origin,
      segment: (statement?.segment ?? 0) + 1,
      epoch: this.number,
      key: verifierText(this.key),
      recipients,
      opened_at: openedAt,
      ...(open === undefined ? {} : { previous_segment: { bytes: open.bytes, sha256: open.sha256().toString('hex') } }),
      ...(first && this.previous !== undefined ? { previous_epoch: this.previous } : {}),
    });
  }
}
