import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { decodeFrame, encodeFrame, FRAME_HEADER_BYTES } from '#sidecar/wal/frame.ts';
import { SEGMENT_HEADER_BYTES } from '#sidecar/wal/segment-header.ts';
import { freshFolder, openLog, text } from './open-log.ts';

const SEGMENT = '0000000001.wal';
const salt = Buffer.alloc(8, 7);

/** A log that was killed: three frames, no seal, reserved room behind. */
async function killedLog(t: TestContext): Promise<{ folder: string; path: string; bytes: Buffer; frames: readonly number[] }> {
  const folder = freshFolder(t);
  const { wal } = await openLog(folder);
  const path = join(folder, SEGMENT);
  const frames: number[] = [];
  let bytes = Buffer.alloc(0);
  let at = SEGMENT_HEADER_BYTES;
  for (const payload of ['one', 'two', 'three']) {
    frames.push(at);
    at += FRAME_HEADER_BYTES + 4 + payload.length;
    await wal.append(text(payload));
    bytes = readFileSync(path);
  }
  await wal.close();
  return { folder, path, bytes, frames };
}

async function outcomeOf(folder: string): Promise<readonly string[] | string> {
  try {
    const { wal, found } = await openLog(folder);
    await wal.close();
    return found;
  } catch (error) {
    return (error as Error).message;
  }
}

test('recovery: a last frame that is cut at any byte is torn, and the frames before it are kept (AUD-12)', async (t) => {
  const { folder, path, bytes, frames } = await killedLog(t);
  const last = frames[2] as number;
  for (let cut = last; cut < last + FRAME_HEADER_BYTES + 9; cut += 1) {
    const torn = Buffer.from(bytes);
    torn.fill(0, cut);
    for (const form of [torn, bytes.subarray(0, cut)]) {
      writeFileSync(path, form);
      assert.deepEqual(await outcomeOf(folder), ['one', 'two'], `cut at ${cut}`);
    }
  }
});

test('recovery: a flipped bit with a frame behind it is damage, names the first broken record, and changes nothing (AUD-12)', async (t) => {
  const { folder, path, bytes, frames } = await killedLog(t);
  for (let at = 0; at < (frames[2] as number); at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] as number) ^ (1 << (at % 8));
    writeFileSync(path, damaged);
    const outcome = await outcomeOf(folder);
    assert.ok(typeof outcome === 'string', `bit of byte ${at} was not noticed`);
    const where = at < SEGMENT_HEADER_BYTES ? 'the header of segment 1' : `first broken record ${at < (frames[1] as number) ? 1 : 2}`;
    assert.ok(outcome.includes(where), `byte ${at}: ${outcome}`);
    assert.deepEqual(readFileSync(path), damaged);
  }
});

test('recovery: a log that was closed in order does not lose its last record to a flipped bit', async (t) => {
  const { folder, path, frames } = await killedLog(t);
  const sealed = readFileSync(path);
  sealed[(frames[2] as number) + FRAME_HEADER_BYTES + 5] = 0;
  writeFileSync(path, sealed);
  assert.match(String(await outcomeOf(folder)), /damaged.*first broken record 3/);
});

test('recovery: a segment of a later version is refused and said', async (t) => {
  const { folder, path, bytes } = await killedLog(t);
  const later = Buffer.from(bytes);
  later.writeUInt32LE(2, 8);
  const { crc32 } = await import('node:zlib');
  later.writeUInt32LE(crc32(later.subarray(0, 68)), 68);
  writeFileSync(path, later);
  assert.match(String(await outcomeOf(folder)), /later release/);
});

test('recover: a pipe or a device under the name of a segment is refused, and keeps nobody for ever (AUD-11, AUD-22)', async (t) => {
  for (const put of [(path: string) => void execFileSync('mkfifo', [path]), (path: string) => symlinkSync('/dev/zero', path)]) {
    const { folder, path } = await killedLog(t);
    rmSync(path);
    put(path);
    assert.match(String(await outcomeOf(folder)), /cannot be read/);
  }
});

test('frame: a payload that holds a whole frame of another salt is not found as one', () => {
  const inner = encodeFrame({ kind: 'records', sequence: 9, payloads: [text('forged')] }, Buffer.alloc(8, 8));
  const frame = encodeFrame({ kind: 'records', sequence: 1, payloads: [inner] }, salt);
  assert.equal(decodeFrame(frame, 44, salt), undefined);
});

test('frame: what is encoded is decoded, and no other bytes are', () => {
  const payload = fc.uint8Array({ minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 6 }), fc.maxSafeNat(), fc.nat(), (payloads, sequence, flip) => {
      const bytes = encodeFrame({ kind: 'records', sequence, payloads }, salt);
      const read = decodeFrame(bytes, 0, salt);
      assert.deepEqual(
        { sequence: read?.frame.sequence, payloads: read?.frame.payloads.map((each) => Buffer.from(each).toString('hex')), end: read?.end },
        { sequence, payloads: payloads.map((each) => Buffer.from(each).toString('hex')), end: bytes.length },
      );
      const at = flip % bytes.length;
      bytes[at] = (bytes[at] as number) ^ (1 << (flip % 8));
      assert.equal(decodeFrame(bytes, 0, salt), undefined);
    }),
  );
});
