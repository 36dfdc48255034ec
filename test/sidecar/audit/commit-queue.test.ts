/** What waits for the chain, cut into frames. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { originHash } from '#core/audit/frame.ts';
import { createFrameSealer } from '#core/audit/seal.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Entry } from '#sidecar/audit/audit-log.ts';
import { CommitDraft } from '#sidecar/audit/commit-draft.ts';
import { CommitQueue, lineBytes } from '#sidecar/audit/commit-queue.ts';
import { makeIdentity, ORIGIN } from './chain-stage.ts';

const OPERATION = `op_${'a'.repeat(26)}`;
const sealer = createFrameSealer(Array.from({ length: limits.auditRecipientsMax }, () => makeIdentity().recipient));

/** Of each frame that the queue makes of these, in order: its bytes, and the lines in it. */
async function framesOf(entries: readonly Entry[]): Promise<readonly { bytes: number; texts: readonly string[] }[]> {
  const queue = new CommitQueue();
  for (const entry of entries)
    assert.ok(queue.push({ entry, bytes: lineBytes(entry), atMs: 0, resolve: () => {}, reject: () => {} }), 'no room');
  const frames = [];
  while (queue.length > 0) {
    const batch = queue.takeBatch().map(({ entry }) => entry);
    assert.ok(batch.length > 0, 'nothing is taken');
    const draft = new CommitDraft({ size: 0, hash: originHash(ORIGIN) }, 1, 0);
    const { bytes } = draft.sealed(batch, await sealer.seal(batch.map(({ text }) => `${text}\n`).join('')));
    frames.push({ bytes: bytes.length, texts: batch.map(({ text }) => text) });
  }
  return frames;
}

const entry = fc
  .record({
    kind: fc.constantFrom('intent', 'outcome', 'request'),
    bytes: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 2, max: 2_000 }) }, fc.integer({ min: 2, max: limits.auditRecordBytesMax })),
    operation: fc.boolean(),
  })
  .map(({ kind, bytes, operation }): Entry => {
    const text = 'x'.repeat(bytes);
    return operation ? { kind: kind as 'intent', operationId: OPERATION, text } : { kind: kind as 'intent', text };
  });

test('commit queue: every frame is one that the authority keeps, whatever waits beside an intent, for as many recipients as there may be', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 30 }), async (entries) => {
      const frames = await framesOf(entries);
      for (const { bytes } of frames) assert.ok(bytes <= limits.auditIntentBytesMax, `a frame of ${bytes} bytes`);
      assert.deepEqual(
        frames.flatMap(({ texts }) => texts),
        entries.map(({ text }) => text),
      );
    }),
    { numRuns: 30 },
  );
});

test('commit queue: the longest record, and the most records, each fit a frame that the authority keeps', async () => {
  const [longest, ...more] = await framesOf([{ kind: 'intent', operationId: OPERATION, text: 'x'.repeat(limits.auditRecordBytesMax) }]);
  assert.deepEqual([(longest?.bytes ?? 0) <= limits.auditIntentBytesMax, more], [true, []]);
  const many = Array.from({ length: limits.auditFrameRecordsMax }, (): Entry => ({ kind: 'request', text: 'x'.repeat(200) }));
  for (const { bytes } of await framesOf(many)) assert.ok(bytes <= limits.auditIntentBytesMax, `a frame of ${bytes} bytes`);
});

test('commit queue: what the authority keeps fits a message of its stream', () => {
  assert.ok(limits.auditIntentBytesMax + 64 <= limits.controlMessageBytesMax);
});
