import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import { type ListedSegment, manifestOf } from '#sidecar/audit/manifest.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-shipped-list-'));
after(() => rmSync(home, { recursive: true, force: true }));

const ORIGIN = 'postern.dev/audit/standalone/local/one';
const segment = (number: number): ListedSegment => ({
  number,
  firstSequence: number * 10 - 9,
  lastSequence: number * 10,
  bytes: 100 + number,
  sha256: Buffer.alloc(32, number),
});
const numbersOf = (bytes: Buffer) => JSON.parse(bytes.toString()).segments.map(({ number }: { number: number }) => number);

test('shipped list: what was added is there for the next process, and for no other chain', async () => {
  const path = join(home, 'kept');
  const list = await openShippedList(path, ORIGIN);
  assert.equal(list.beganMs, undefined);
  await list.began(1_700_000_000_000);
  for (const number of [1, 2, 3]) await list.add(segment(number));
  const again = await openShippedList(path, ORIGIN);
  assert.equal(again.beganMs, 1_700_000_000_000);
  assert.deepEqual(await again.segments(), [1, 2, 3].map(segment));
  const other = await openShippedList(path, `${ORIGIN}x`);
  assert.deepEqual([other.beganMs, await other.segments()], [undefined, []]);
});

test('shipped list: a bit that flips or a file that is cut anywhere makes no line say something else', async () => {
  const path = join(home, 'damaged');
  const list = await openShippedList(path, ORIGIN);
  await list.began(1_700_000_000_000);
  for (const number of [1, 2, 3]) await list.add(segment(number));
  const whole = readFileSync(path);
  const truth = [1, 2, 3].map((number) => JSON.stringify(segment(number)));
  const at = fc.integer({ min: 0, max: whole.length - 1 });
  await fc.assert(
    fc.asyncProperty(at, fc.integer({ min: 0, max: 7 }), fc.boolean(), async (index, bit, cut) => {
      const bytes = Buffer.from(whole);
      bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
      writeFileSync(path, bytes);
      if (cut) truncateSync(path, index);
      const again = await openShippedList(path, ORIGIN);
      assert.ok(again.beganMs === undefined || again.beganMs === 1_700_000_000_000);
      for (const found of await again.segments()) assert.ok(truth.includes(JSON.stringify(found)));
      await again.add(segment(3));
      assert.equal(JSON.stringify((await again.segments()).at(-1)), truth[2], 'a torn line spoils no later one');
    }),
    { numRuns: 200 },
  );
});

test('shipped list: it does not grow without end, and keeps the newest', async () => {
  const path = join(home, 'long');
  const list = await openShippedList(path, ORIGIN);
  await list.began(1);
  await list.add(segment(1));
  const line = readFileSync(path, 'utf8').trim().split('\n').at(-1) ?? '';
  appendFileSync(path, `${line}\n`.repeat(Math.ceil(limits.auditShippedListBytesMax / line.length)));
  await list.add(segment(2));
  assert.ok(statSync(path).size < 0.6 * limits.auditShippedListBytesMax);
  assert.deepEqual((await list.segments()).at(-1), segment(2));
  assert.equal((await openShippedList(path, ORIGIN)).beganMs, 1);
});

test('shipped list: without a folder to write in, shipping goes on without it', async () => {
  const list = await openShippedList(join(home, 'not-there', 'list'), ORIGIN);
  await list.began(5);
  await list.add(segment(1));
  assert.deepEqual([list.beganMs, await list.segments()], [5, []]);
});

test('manifest: it lists the row that ends with the last segment, and claims nothing about a gap', () => {
  assert.equal(manifestOf(ORIGIN, []), undefined);
  const whole = manifestOf(ORIGIN, [3, 1, 2, 2].map(segment));
  assert.ok(whole !== undefined);
  assert.deepEqual([whole.firstSequence, whole.lastSequence, numbersOf(whole.bytes)], [1, 30, [1, 2, 3]]);
  const gap = manifestOf(ORIGIN, [1, 2, 4, 5].map(segment));
  assert.ok(gap !== undefined);
  assert.deepEqual([gap.firstSequence, numbersOf(gap.bytes)], [31, [4, 5]]);
  const shifted = manifestOf(ORIGIN, [segment(1), { ...segment(2), firstSequence: 12 }]);
  assert.ok(shifted !== undefined);
  assert.deepEqual(numbersOf(shifted.bytes), [2]);
});
