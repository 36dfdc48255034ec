/**
 * What a chain proves, held against every damage of failure-cases AUD-01 to AUD-27 that a verifier alone can see. Chains come from a writer
 * in order (chain-rig.ts); whoever damages them has all powers but the keys that the case takes away.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { epochKeyName } from '#core/audit/checkpoint.ts';
import type { Frame } from '#core/audit/frame.ts';
import { makeSigningKey } from '#core/audit/signed-note.ts';
import { statementBody } from '#core/audit/statement.ts';
import { compareSegments, firstSequenceOf } from '#core/audit/verify.ts';
import { limits } from '#core/bounds/limits.ts';
import { ChainRig, ORIGIN, RECIPIENT, verifierOf, verify, wholeChain } from './chain-rig.ts';

describe('verify: a chain in order', () => {
  test('verify: is valid, in pieces of any size, and keeps nothing of a piece', () => {
    const rig = wholeChain();
    const whole = verify(rig.files, { keys: [rig.authority] });
    assert.deepEqual([whole.good, whole.firstSequence, whole.lastSequence, whole.broken], [true, 1, rig.last, undefined]);
    for (const bytes of [1, 2, 31, 63, 64, 65, 500, 4096])
      assert.deepEqual(verify(rig.files, { keys: [rig.authority] }, bytes), whole, `${bytes}`);
  });

  test('verify: says what it did not check apart from what it did (AUD-27)', () => {
    const { signature, tail } = verify(wholeChain().files);
    assert.deepEqual([signature.sentence, tail.sentence], ['not checked (--key)', 'not checked (--head)']);
  });

  test('verify: any row of what a writer may do is valid', () => {
    const step = fc.constantFrom('records', 'checkpoint', 'receipt', 'segment', 'epoch', 'crash', 'late');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.integer({ min: 50, max: 5000 }), (steps, pieceBytes) => {
        const rig = new ChainRig().beginEpoch();
        for (const one of steps) act(rig, one);
        const verdict = verify(rig.files, { keys: [rig.authority] }, pieceBytes);
        assert.deepEqual([verdict.good, verdict.lastSequence], [true, rig.last], verdict.broken?.sentence ?? verdict.signature.sentence);
      }),
      { numRuns: 60 },
    );
  });

  test('verify: tells of epochs that were cut off, of another reader, and of a clock that went back (AUD-05, AUD-17, AUD-21)', () => {
    const rig = new ChainRig().beginEpoch().records().beginEpoch().records();
    rig.recipients = [RECIPIENT, `${RECIPIENT}x`];
    rig.beginSegment().records();
    rig.timeMs -= limits.auditClockSkewMs + 2000;
    rig.records();
    rig.timeMs += 86_400_000;
    const verdict = verify(rig.records().files);
    assert.deepEqual(verdict.epochsWithoutEnd, { count: 1, first: [1] });
    assert.deepEqual(verdict.recipientChanges, { count: 1, first: [9] });
    assert.deepEqual(verdict.clockSkews, { count: 1, first: [{ sequence: 11, backMs: limits.auditClockSkewMs + 1000 }] });
    assert.equal(verdict.good, true);
  });

  test('verify: begins anywhere only when it is told to, and then says from where', () => {
    const rig = wholeChain();
    const files = rig.files.slice(1);
    assert.deepEqual(brokenOf(files), [1, 'missing']);
    const verdict = verify(files, { anywhere: true });
    assert.deepEqual([verdict.good, verdict.firstSequence, verdict.lastSequence], [true, rig.segments[1]?.[0]?.sequence, rig.last]);
    assert.equal(verify(rig.files, { anywhere: true }).firstSequence, 1);
  });
});

describe('verify: damage', () => {
  test('verify: a flip of any bit is broken at the first record of its frame or where its absence shows (AUD-12)', () => {
    const rig = new ChainRig().beginEpoch().records(3).beginSegment().records(2);
    const frames = rig.segments.flat();
    const [first, second] = rig.files;
    assert.ok(first !== undefined && second !== undefined);
    for (let bit = 0; bit < first.length * 8; bit += 7) {
      const flipped: Buffer = Buffer.from(first);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const hit = frames.findLast(({ bytes }) => startOf(frames, bytes) <= bit >> 3);
      assert.equal(brokenOf([flipped, second])[0], hit?.sequence, `bit ${bit}`);
    }
  });

  test('verify: a frame taken out, doubled, moved or put in from elsewhere is broken where it should have stood', () => {
    const rig = new ChainRig().beginEpoch().records().records().records();
    const frames = rig.segments[0]?.map(({ bytes }) => Buffer.from(bytes)) ?? [];
    const [a, b, c, d, e, f] = frames as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
    const other =
      new ChainRig(ORIGIN)
        .beginEpoch()
        .records()
        .records()
        .segments[0]?.map(({ bytes }) => Buffer.from(bytes)) ?? [];
    assert.deepEqual(brokenOf([Buffer.concat([a, b, c, e, f])]), [4, 'sequence']);
    assert.deepEqual(brokenOf([Buffer.concat([a, b, c, d, d, e])]), [5, 'sequence']);
    assert.deepEqual(brokenOf([Buffer.concat([a, b, c, e, d, f])]), [4, 'sequence']);
    assert.deepEqual(brokenOf([Buffer.concat([a, b, c, d, other[4] as Buffer])]), [5, 'previous']);
    assert.deepEqual(brokenOf([Buffer.concat([a, b, c, d.subarray(0, -1)])]), [4, 'rest']);
    assert.deepEqual(brokenOf([Buffer.concat([a, b, c, d, Buffer.of(0)])]), [5, 'foreign']);
    assert.deepEqual(brokenOf([Buffer.concat(frames.slice(1))]), [1, 'missing']);
  });

  test('verify: segments dropped, swapped, doubled, cut or of two chains are broken (AUD-03)', () => {
    const rig = new ChainRig().beginEpoch().records().beginSegment().records().beginSegment().records();
    const [a, b, c] = rig.files as [Buffer, Buffer, Buffer];
    const next = rig.segments.map((frames) => frames[0]?.sequence);
    const foreign = new ChainRig('postern.dev/audit/test/local/two').beginEpoch().records().beginSegment().records().files[1] as Buffer;
    assert.deepEqual(brokenOf([a, c]), [next[1], 'sequence']);
    assert.deepEqual(brokenOf([a, c, b]), [next[1], 'sequence']);
    assert.deepEqual(brokenOf([a, a, b, c]), [next[1], 'sequence']);
    assert.deepEqual(brokenOf([a, Buffer.alloc(0), b]), [next[1], 'empty']);
    assert.deepEqual(brokenOf([a, foreign]), [next[1], 'previous']);
    assert.deepEqual(brokenOf([b, c]), [1, 'missing']);
    const joined = Buffer.concat([a, b]);
    assert.deepEqual(brokenOf([joined, c]), [next[1], 'inner-segment']);
  });

  test('verify: a longer file than any segment is not looked at', () => {
    const verifier = verifierOf(new ChainRig().beginEpoch().files);
    verifier.begin(limits.auditSegmentFileBytesMax + 1);
    assert.equal(verifier.verdict().broken?.reason, 'too-long');
    const lying = verifierOf([]);
    lying.begin(1);
    for (let pieces = 0; pieces < 20; pieces += 1) lying.push(Buffer.alloc(1024 * 1024));
    assert.equal(lying.verdict().broken?.sequence, 1);
  });

  test('verify: another form, or a plain file, is no chain (AUD-06)', () => {
    const [file] = new ChainRig().beginEpoch().files as [Buffer];
    const older = Buffer.from(file);
    older[4] = 0;
    assert.deepEqual(brokenOf([older]), [1, 'version']);
    assert.deepEqual(brokenOf([Buffer.from('{"record":"intent"}\n')]), [1, 'foreign']);
  });

  test('verify: a length of its own invention is not waited for or allocated (AUD-22)', () => {
    const [file] = new ChainRig().beginEpoch().files as [Buffer];
    const hostile = Buffer.from(file);
    hostile.writeUInt32LE(0xffff_ffff, 20);
    assert.deepEqual(brokenOf([hostile]), [1, 'length']);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(200), (noise, at) => {
        const changed = Buffer.concat([file.subarray(0, at), noise, file.subarray(at + 3)]);
        const verdict = verify([changed], {}, 33);
        assert.ok(verdict.lastSequence <= 3);
      }),
    );
  });

  test('verify: statements that do not fit their place are broken there, though every hash fits', () => {
    const broken = (work: (rig: ChainRig) => ChainRig) => {
      const rig = new ChainRig().beginEpoch().records(2);
      const at = rig.sequence;
      const [sequence, reason] = brokenOf(work(rig).records().files);
      assert.ok(sequence === at || sequence === at + 1, `${reason} at ${sequence}, not ${at}`);
      return reason;
    };
    const text = (rig: ChainRig, kind: 'certificate' | 'checkpoint' | 'receipt' | 'end', body: string) =>
      rig.state(kind, Buffer.from(body));
    const zero = '0'.repeat(64);
    assert.equal(
      broken((rig) => rig.beginSegment({ origin: 'postern.dev/audit/other' })),
      'statement',
    );
    assert.equal(
      broken((rig) => rig.beginSegment({ segment: 3 })),
      'segment',
    );
    assert.equal(
      broken((rig) => rig.beginSegment({ previous_segment: { bytes: 1, sha256: zero } })),
      'previous-segment',
    );
    assert.equal(
      broken((rig) => rig.beginSegment({ previous_epoch: { sequence: 1, hash: zero } })),
      'previous-epoch',
    );
    assert.equal(
      broken((rig) => {
        rig.key = makeSigningKey(epochKeyName(ORIGIN, 1));
        return rig.beginSegment();
      }),
      'key',
    );
    assert.equal(
      broken((rig) => {
        rig.epoch = 2;
        return rig.records();
      }),
      'epoch',
    );
    assert.equal(
      broken((rig) => {
        rig.epoch = 2;
        return rig.beginEpoch();
      }),
      'epoch',
    );
    assert.equal(
      broken((rig) => rig.checkpoint(makeSigningKey(epochKeyName(ORIGIN, 1)))),
      'signature',
    );
    assert.equal(
      broken((rig) => text(rig, 'checkpoint', rig.checkpointNote)),
      'checkpoint',
    );
    assert.equal(
      broken((rig) => rig.certificate(1, makeSigningKey(epochKeyName(ORIGIN, 1)))),
      'certificate',
    );
    assert.equal(
      broken((rig) => rig.certificate(2, makeSigningKey(epochKeyName(ORIGIN, 2)))),
      'certificate',
    );
    assert.equal(
      broken((rig) => text(rig, 'receipt', rig.checkpointNote)),
      'receipt',
    );
    assert.equal(
      broken((rig) => text(rig, 'receipt', rig.headNote())),
      'receipt',
    );
    assert.equal(
      broken((rig) => text(rig, 'end', '{}')),
      'statement',
    );
    assert.equal(
      broken((rig) => rig.state('end', statementBody({ ended_at: '2026-12-01T10:00:00Z', because: 'stopped' }))),
      'no-checkpoint',
    );
    assert.equal(
      broken((rig) => {
        rig.recipients = [];
        return rig.records();
      }),
      'recipients',
    );
    assert.equal(
      broken((rig) => {
        rig.recipients = [RECIPIENT, RECIPIENT];
        return rig.records();
      }),
      'recipients',
    );
    assert.equal(
      broken((rig) => rig.add({ form: 'sealed', heads: [{ kind: 'intent' }], body: Buffer.from('plain') })),
      'recipients',
    );
  });

  test('verify: an epoch begins with its checkpoint, and ends with one (AUD-04, AUD-05)', () => {
    const begun = new ChainRig();
    begun.epoch = 1;
    begun.key = makeSigningKey(epochKeyName(ORIGIN, 1));
    assert.deepEqual([verify(begun.beginSegment().files).good, brokenOf(begun.records().files)], [true, [2, 'no-checkpoint']]);
    const ended = new ChainRig().beginEpoch().end();
    const at = ended.sequence;
    assert.equal(verify(ended.files).ended, true);
    assert.deepEqual(brokenOf(ended.records().files), [at, 'ended']);
    const again = new ChainRig().beginEpoch().end();
    assert.deepEqual(brokenOf(again.beginSegment().files), [at, 'ended']);
  });

  test('verify: a receipt is for one of the last checkpoints', () => {
    const rig = new ChainRig().beginEpoch();
    const old = rig.receiptNote();
    for (let count = 0; count < limits.auditReceiptCheckpointsMax - 1; count += 1) rig.checkpoint();
    rig.state('receipt', Buffer.from(old)).checkpoint();
    const at = rig.sequence;
    assert.deepEqual(brokenOf(rig.state('receipt', Buffer.from(old)).files), [at, 'receipt']);
  });
});

describe('verify: order of segments', () => {
  test('verify: goes by the sequence in the file, then by name in bytes; what is too short comes last', () => {
    const place = (name: string, sequence: bigint | undefined) => ({ name, firstSequence: sequence });
    const sorted = [place('a', undefined), place('b', 2n ** 64n - 1n), place('é', 5n), place('z', 5n), place('c', 1n)].sort(
      compareSegments,
    );
    assert.deepEqual(
      sorted.map(({ name }) => name),
      ['c', 'z', 'é', 'b', 'a'],
    );
    assert.equal(firstSequenceOf(Buffer.alloc(15)), undefined);
    assert.equal(firstSequenceOf(Buffer.from(`${'00'.repeat(8)}0200000000000000`, 'hex')), 2n);
  });
});

function act(rig: ChainRig, step: string): void {
  if (step === 'records') rig.records(3);
  if (step === 'checkpoint') rig.checkpoint();
  if (step === 'receipt') rig.receipt();
  if (step === 'segment') rig.beginSegment();
  if (step === 'epoch') rig.end().beginEpoch();
  if (step === 'crash') rig.beginEpoch();
  if (step === 'late') {
    const { epoch, key } = rig;
    rig.beginEpoch({ certified: false }).certificate(epoch, key).certificate();
  }
}

function startOf(frames: readonly Frame[], bytes: Uint8Array): number {
  return frames
    .slice(
      0,
      frames.findIndex((frame) => frame.bytes === bytes),
    )
    .reduce((sum, frame) => sum + frame.bytes.length, 0);
}

function brokenOf(files: readonly Buffer[]): readonly [number | undefined, string | undefined] {
  const { broken } = verify(files);
  return [broken?.sequence, broken?.reason];
}
