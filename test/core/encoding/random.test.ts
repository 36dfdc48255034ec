import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomText, smallRandom } from '#core/encoding/random.ts';

test('random: no bytes are given out twice, also across refills of the pool', () => {
  const seen = new Set(Array.from({ length: 2000 }, () => Buffer.from(smallRandom(12)).toString('hex')));
  assert.equal(seen.size, 2000);
});

test('random: what is given out is a copy that later calls leave alone', () => {
  const first = smallRandom(16);
  const kept = Buffer.from(first).toString('hex');
  for (let i = 0; i < 1000; i += 1) smallRandom(16);
  assert.equal(Buffer.from(first).toString('hex'), kept);
  assert.throws(() => smallRandom(5000), RangeError);
});

test('random: text uses every character of an alphabet that does not divide 256 about equally', () => {
  const counts = new Map<string, number>();
  for (const char of randomText('abcdefghijklmnopqrstuvwxyz0123456789', 72_000)) counts.set(char, (counts.get(char) ?? 0) + 1);
  assert.equal(counts.size, 36);
  // 2000 expected each; six standard deviations are allowed.
  for (const [char, count] of counts) assert.ok(Math.abs(count - 2000) < 268, `${char}: ${count}`);
});
