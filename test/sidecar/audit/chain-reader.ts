/** What a stranger finds of a chain: segments that were shipped, and the log they were shipped from, verified together and apart. */
import assert from 'node:assert/strict';
import { decodeFrame } from '#core/audit/frame.ts';
import { parseHeads } from '#core/audit/heads.ts';
import type { VerifierKey } from '#core/audit/signed-note.ts';
import { type ChainVerdict, ChainVerifier } from '#core/audit/verify.ts';
import type { Disk } from '#sidecar/wal/disk.ts';
import { recover } from '#sidecar/wal/recover.ts';

export interface FoundChain {
  readonly verdict: ChainVerdict;
  /** Operation ids of sealed records, in order, and the sequence of each. */
  readonly records: readonly { readonly sequence: number; readonly operationId: string }[];
}

export interface Stranger {
  readonly keys?: readonly VerifierKey[];
  /** Checkpoints that somebody outside has seen. */
  readonly heads?: readonly string[];
}

/**
 * Shipped segments by number, and what a log has behind them: one chain from its beginning. A segment that is in both is the same in both,
 * but for the leading one of a log, whose beginning may be gone. Nothing is changed.
 */
export async function findChain(
  disk: Disk,
  folder: string,
  shipped: ReadonlyMap<number, Buffer>,
  stranger: Stranger = {},
): Promise<FoundChain> {
  const logged = await segmentsInLog(disk, folder);
  assertAlike(logged, shipped);
  const all = new Map([...logged, ...shipped]);
  const records: { sequence: number; operationId: string }[] = [];
  const verifier = new ChainVerifier({
    ...(stranger.keys === undefined ? {} : { keys: stranger.keys }),
    heads: (stranger.heads ?? []).map((note) => {
      const parsed = parseHeads(Buffer.from(note), stranger.keys ?? []);
      return 'unusable' in parsed ? assert.fail(parsed.unusable) : parsed;
    }),
    onFrame: ({ heads, sequence, form }) => {
      if (form !== 'sealed') return;
      for (const [index, { operationId = '' }] of heads.entries()) records.push({ sequence: sequence + index, operationId });
    },
  });
  for (const [, bytes] of [...all].sort(([one], [other]) => one - other)) {
    verifier.begin(bytes.length);
    verifier.push(bytes);
    verifier.end();
  }
  const verdict = verifier.verdict();
  assert.equal(verdict.broken, undefined, JSON.stringify(verdict.broken));
  return { verdict, records };
}

/** By their number; a leading one that has no beginning is left out. */
async function segmentsInLog(disk: Disk, folder: string): Promise<Map<number, Buffer>> {
  const segments = new Map<number, Buffer[]>();
  let open: Buffer[] = [];
  await recover(disk, folder, (payload) => {
    const bytes = Buffer.from(payload);
    for (let at = 0; at < bytes.length; ) {
      const frame = decodeFrame(bytes, at);
      if ('no' in frame) throw assert.fail(frame.no);
      if (frame.heads[0].kind === 'segment') {
        open = [];
        segments.set(JSON.parse(Buffer.from(frame.body).toString()).segment, open);
      }
      open.push(Buffer.from(frame.bytes));
      at += frame.bytes.length;
    }
  });
  return new Map([...segments].map(([number, frames]) => [number, Buffer.concat(frames)]));
}

function assertAlike(logged: ReadonlyMap<number, Buffer>, shipped: ReadonlyMap<number, Buffer>): void {
  for (const [number, bytes] of shipped)
    assert.ok(logged.get(number)?.equals(bytes) ?? true, `segment ${number} is no longer what was shipped`);
}
