import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  decodeFrame,
  encodeFrame,
  FRAME_BYTES_MAX,
  type Frame,
  type FrameContent,
  type FrameStart,
  labelledHash,
  originHash,
  SEALED_KINDS,
  STATEMENT_KINDS,
} from '#core/audit/frame.ts';
import { limits } from '#core/bounds/limits.ts';

const START: FrameStart = { sequence: 7, epoch: 3, timeMs: 1_764_547_200_123, previous: Buffer.alloc(32, 0xab) };
const OPERATION = `op_${'0123456789abcdefghijklmnop'}`;
const SEALED: FrameContent = {
  form: 'sealed',
  heads: [{ kind: 'intent', operationId: OPERATION }, { kind: 'counted' }],
  body: Buffer.from('age'),
};

const PLAIN = { noNullPrototype: true };
const operationId = fc
  .string({ minLength: 26, maxLength: 26, unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789') })
  .map((id) => `op_${id}`);
const body = fc.uint8Array({ minLength: 1, maxLength: 9000 });
const sealed = fc.record(
  {
    form: fc.constant('sealed' as const),
    heads: fc.array(
      fc.oneof(
        fc.record({ kind: fc.constantFrom(...SEALED_KINDS), operationId }, PLAIN),
        fc.record({ kind: fc.constantFrom(...SEALED_KINDS) }, PLAIN),
      ),
      { minLength: 1, maxLength: 40 },
    ),
    body,
  },
  PLAIN,
);
const statement = fc.record(
  {
    form: fc.constant('statement' as const),
    heads: fc.tuple(fc.record({ kind: fc.constantFrom(...STATEMENT_KINDS) }, PLAIN)),
    body,
  },
  PLAIN,
);
const start = fc.record(
  {
    sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 40 }),
    epoch: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    timeMs: fc.integer({ min: 0, max: 2 ** 45 }),
    previous: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  },
  PLAIN,
);

describe('frame', () => {
  test('frame: reads as it was written, wherever it stands', () => {
    fc.assert(
      fc.property(start, fc.oneof(sealed, statement), fc.nat(100), (place, content, at) => {
        const { bytes, hash } = encodeFrame(place, content);
        const read = frameAt(Buffer.concat([Buffer.alloc(at, 0xf7), bytes, Buffer.alloc(9)]), at);
        assert.deepEqual(
          { ...read, previous: Buffer.from(read.previous), body: Buffer.from(read.body) },
          {
            ...place,
            ...content,
            previous: Buffer.from(place.previous),
            body: Buffer.from(content.body),
            hash,
            bytes,
          },
        );
      }),
    );
  });

  test('frame: has the bytes of FORMAT.md', () => {
    const { bytes } = encodeFrame(START, SEALED);
    const first = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0]), Buffer.from(OPERATION.slice(3))]);
    const expected = Buffer.concat([
      Buffer.from('f7504146' + '01' + '01' + '0200' + '0700000000000000' + '03000000' + '03000000', 'hex'),
      Buffer.from('7b8435d79a010000', 'hex'),
      Buffer.alloc(32, 0xab),
      first,
      Buffer.from([8]),
      Buffer.alloc(31),
      Buffer.from('age'),
    ]);
    const hash = createHash('sha256').update('postern/audit/frame/v1').update(Buffer.of(0)).update(expected).digest();
    assert.equal(Buffer.from(bytes).toString('hex'), Buffer.concat([expected, hash]).toString('hex'));
  });

  test('frame: the hash for one purpose is none for another, long or short', () => {
    for (const length of [0, 1, 4096, 4097, 100_000]) {
      const bytes = Buffer.alloc(length, 5);
      assert.deepEqual(labelledHash('a', bytes), createHash('sha256').update('a\0').update(bytes).digest());
      assert.notDeepEqual(labelledHash('a', bytes), labelledHash('b', bytes));
    }
    assert.deepEqual(
      originHash('postern.dev/audit/x'),
      createHash('sha256').update('postern/audit/origin/v1\0postern.dev/audit/x').digest(),
    );
  });

  test('frame: a flip of any bit is seen (AUD-12)', () => {
    const { bytes } = encodeFrame(START, SEALED);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.ok('no' in decodeFrame(flipped, 0), `bit ${bit}`);
    }
  });

  test('frame: cut anywhere it asks for more, and never for more than the longest frame', () => {
    const { bytes } = encodeFrame(START, SEALED);
    for (let length = 0; length < bytes.length; length += 1) {
      const read = decodeFrame(Buffer.from(bytes.subarray(0, length)), 0);
      assert.ok('no' in read && read.no === 'short', `${length}`);
      assert.ok(read.needed > length && read.needed <= bytes.length);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, begins) => {
        const hostile = Buffer.from(noise);
        if (begins) Buffer.from('f750414601', 'hex').copy(hostile);
        const read = decodeFrame(hostile, 0);
        assert.ok('no' in read && read.needed <= FRAME_BYTES_MAX);
      }),
    );
  });

  test('frame: a length that no frame has is refused before it is waited for (AUD-22)', () => {
    for (const [at, bytes, no] of [
      [6, '0000', 'count'],
      [6, 'ffff', 'count'],
      [20, '00000000', 'length'],
      [20, 'ffffffff', 'length'],
      [4, '02', 'version'],
      [0, '00', 'foreign'],
    ] as const) {
      const hostile: Buffer = Buffer.from(encodeFrame(START, SEALED).bytes);
      Buffer.from(bytes, 'hex').copy(hostile, at);
      assert.equal((decodeFrame(hostile.subarray(0, 64), 0) as { no?: string }).no, no);
    }
  });

  test('frame: a reader refuses forms that do not fit, though the hash does', () => {
    const cases: readonly (readonly [string, string, (bytes: Buffer) => void])[] = [
      ['a sealed kind in a statement', 'form', (bytes) => bytes.writeUInt8(2, 5)],
      ['no form', 'form', (bytes) => bytes.writeUInt8(3, 5)],
      ['epoch 0', 'epoch', (bytes) => bytes.writeUInt32LE(0, 16)],
      ['sequence 0', 'sequence', (bytes) => bytes.writeBigUInt64LE(0n, 8)],
      ['a last sequence of 2^53', 'sequence', (bytes) => bytes.writeBigUInt64LE(2n ** 53n - 1n, 8)],
      ['an unknown kind', 'head', (bytes) => bytes.writeUInt8(9, 64)],
      ['kind 0', 'head', (bytes) => bytes.writeUInt8(0, 64)],
      ['an unknown statement', 'head', (bytes) => bytes.writeUInt8(37, 64)],
      ['a statement kind in a sealed frame', 'form', (bytes) => bytes.writeUInt8(32, 64)],
      ['a reserved byte', 'head', (bytes) => bytes.writeUInt8(1, 69)],
      ['half an operation id', 'head', (bytes) => bytes.writeUInt8(0, 80)],
      ['an operation id of other letters', 'head', (bytes) => bytes.write('A', 80)],
    ];
    for (const [name, no, touch] of cases) {
      const bytes: Buffer = Buffer.from(encodeFrame(START, SEALED).bytes);
      touch(bytes);
      assert.equal((decodeFrame(rehashed(bytes), 0) as { no?: string }).no, no, name);
    }
    const last = Buffer.from(encodeFrame(START, SEALED).bytes);
    last.writeBigUInt64LE(2n ** 53n - 2n, 8);
    assert.equal(frameAt(rehashed(last), 0).sequence, 2 ** 53 - 2);
  });

  test('frame: a statement belongs to no operation', () => {
    const bytes = Buffer.from(encodeFrame(START, { form: 'statement', heads: [{ kind: 'end' }], body: Buffer.from('{}') }).bytes);
    bytes.write('a'.repeat(26), 70);
    assert.equal((decodeFrame(rehashed(bytes), 0) as { no?: string }).no, 'form');
  });

  test('frame: a writer makes none that no reader takes', () => {
    const body = Buffer.from('x');
    const many = Array.from({ length: limits.auditFrameRecordsMax + 1 }, () => ({ kind: 'intent' as const }));
    const refused: readonly (readonly [FrameStart, FrameContent])[] = [
      [START, { form: 'sealed', heads: [], body }],
      [START, { form: 'sealed', heads: many, body }],
      [START, { ...SEALED, body: Buffer.alloc(0) } as FrameContent],
      [START, { ...SEALED, body: Buffer.alloc(limits.auditFrameBodyBytesMax + 1) } as FrameContent],
      [START, { form: 'sealed', heads: [{ kind: 'intent', operationId: 'op_short' }], body }],
      [START, { form: 'statement', heads: [{ kind: 'end', operationId: OPERATION }], body }],
      [{ ...START, sequence: 0 }, SEALED],
      [{ ...START, sequence: Number.MAX_SAFE_INTEGER }, SEALED],
      [{ ...START, epoch: 0 }, SEALED],
      [{ ...START, previous: Buffer.alloc(31) }, SEALED],
    ];
    for (const [place, content] of refused) assert.throws(() => encodeFrame(place, content), RangeError);
  });
});

function frameAt(bytes: Buffer, at: number): Frame {
  const read = decodeFrame(bytes, at);
  assert.ok(!('no' in read), 'no' in read ? read.no : '');
  return read;
}

function rehashed(frame: Buffer): Buffer {
  labelledHash('postern/audit/frame/v1', frame.subarray(0, -32)).copy(frame, frame.length - 32);
  return frame;
}
