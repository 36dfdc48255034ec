/** What the chain does with answers of witness and authority, with entries it cannot take, and with whoever asks for a segment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyLog } from '#cli/audit-log-chain.ts';
import { decodeFrame } from '#core/audit/frame.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';
import { recover } from '#sidecar/wal/recover.ts';
import { FaultyDisk } from '#test/sidecar/wal/faulty-disk.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { checkChain, entry, makeAuthority, noise, openChain, readChain } from './chain-stage.ts';
import { appendSoon, REFUSED, textsIn, until } from './chain-waits.ts';

test('chain: certificate and receipt are asked for until they come, and answers that speak of something else are not recorded', async (t) => {
  const folder = freshFolder(t);
  const good = makeAuthority();
  let [certified, witnessed] = [0, 0];
  const chain = await openChain(folder, {
    clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(1, signal) },
    authority: {
      certify: async (certificate) => {
        certified += 1;
        if (certified === 1) throw new PosternError('AUDIT_UNAVAILABLE', 'away');
        return certified === 2 ? good.certify({ ...certificate, epoch: certificate.epoch + 1 }) : good.certify(certificate);
      },
      witness: async (checkpoint) => {
        witnessed += 1;
        if (witnessed === 1) throw new PosternError('AUDIT_UNAVAILABLE', 'away');
        if (witnessed === 2) return checkpoint;
        if (witnessed === 3) return 'nonsense';
        return good.witness(checkpoint);
      },
    },
  });
  await until(() => certified >= 3 && chain.headWitnessedMs !== undefined, 'both have answered');
  await chain.append(entry('one'));
  await chain.end();
  await chain.close();
  const { kinds } = await readChain(folder);
  assert.equal(kinds.filter((kind) => kind === 'certificate').length, 1);
  assert.equal(kinds.filter((kind) => kind === 'receipt').length, 1);
});

test('chain: a conflict is told once, nothing more is shown to the witness, and the end does not wait for it (AUD-24)', async (t) => {
  const told: unknown[] = [];
  let shown = 0;
  const chain = await openChain(freshFolder(t), {
    bounds: { auditCheckpointRecords: 1 },
    onConflict: (error) => told.push(error),
    authority: {
      ...makeAuthority(),
      witness: async () => {
        shown += 1;
        throw new PosternError('AUDIT_UNAVAILABLE', 'a later head is known', { details: { conflict: 'rollback' } });
      },
    },
  });
  for (let index = 0; index < 5; index += 1) await chain.append(entry());
  await chain.end();
  await chain.close();
  assert.deepEqual([told.length, shown], [1, 1]);
});

test('chain: a certificate that a fault of the disk kept out goes in without a record to bring it along', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const answer = Promise.withResolvers<void>();
  const good = makeAuthority();
  const chain = await openChain(folder, {
    disk,
    authority: { certify: async (certificate) => answer.promise.then(() => good.certify(certificate)) },
  });
  let failed = 0;
  disk.fault = { when: (call) => call === 'write' && ++failed > 0, what: { code: 'EIO' } };
  const { size } = chain.head;
  answer.resolve();
  await until(() => failed > 0, 'the disk has refused it');
  disk.fault = undefined;
  await until(() => chain.head.size > size, 'it goes in');
  await chain.close();
  assert.ok((await readChain(folder)).kinds.includes('certificate'));
});

test('chain: an entry that no frame may hold is a RangeError, and those beside it are taken', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder);
  const beside = chain.append(entry('beside'));
  assert.throws(() => chain.append({ kind: 'intent', text: `"${'x'.repeat(limits.auditRecordBytesMax)}"` }), RangeError);
  assert.throws(() => chain.append({ kind: 'intent', text: '{}\n{}' }), RangeError);
  assert.throws(() => chain.append({ kind: 'intent', text: '' }), RangeError);
  assert.throws(() => chain.append({ kind: 'intent', text: '{}', operationId: 'op_short' }), RangeError);
  await beside;
  const longest = { ...entry(), text: JSON.stringify({ text: noise(limits.auditRecordBytesMax - 11) }) };
  await Promise.all(Array.from({ length: 20 }, () => chain.append(longest)));
  await chain.close();
  assert.equal((await textsIn(folder)).length, 21);
});

test('chain: whoever asks for a segment to be closed is answered, also at the end, at a fault and while records are on their way', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const chain = await openChain(folder, { disk });
  await chain.closeSegment();
  assert.deepEqual(chain.closed(), [], 'a segment with no record stays');
  const one = chain.append(entry('one'));
  await Promise.all([chain.closeSegment(), chain.closeSegment()]);
  await one;
  assert.equal(chain.closed().length, 1);
  const two = chain.append(entry('two'));
  await two;
  disk.fault = { when: (call) => call === 'write', what: { code: 'EIO' } };
  await assert.rejects(chain.closeSegment(), REFUSED);
  disk.fault = undefined;
  await appendSoon(chain, 'three');
  await Promise.all([chain.closeSegment(), chain.end()]);
  await chain.closeSegment();
  await chain.close();
  const segments = await Promise.all(chain.closed().map((segment) => chain.read(segment)));
  assert.deepEqual(
    (await checkChain(Buffer.concat(segments), true)).texts.map(({ text }) => text),
    ['one', 'two', 'three'],
  );
});

test('chain: a log whose head is the rest of a shipped segment verifies, and a rest that does not lead on is broken', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder, { bounds: { auditSegmentBytes: 5_000, walSegmentBytes: 4_096 } });
  const segments: Buffer[] = [];
  let starts = 0;
  for (let index = 0; index < 40; index += 1) {
    await chain.append(entry(noise(300)));
    for (const segment of chain.closed()) {
      segments.push(await chain.read(segment));
      await chain.shipped(segment);
    }
    const verifier = new ChainVerifier({ anywhere: true });
    assert.equal(await verifyLog(folder, verifier), 0);
    assert.equal(verifier.verdict().broken, undefined, `after ${index}`);
    let first = '';
    await recover(nodeDisk, folder, (payload) => {
      const frame = decodeFrame(Buffer.from(payload), 0);
      first ||= 'no' in frame ? frame.no : frame.heads[0].kind;
    });
    starts += first === 'segment' ? 0 : 1;
  }
  await chain.close();
  assert.ok(starts > 0, 'a log begins in the middle of a segment now and then');
  assert.ok(segments.length > 2);
});
