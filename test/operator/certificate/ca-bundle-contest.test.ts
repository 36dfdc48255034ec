import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ContestState, judgeBundles, UNCONTESTED } from '#operator/certificate/ca-bundle-contest.ts';

const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const OURS = pem('OURS');
const THEIRS = pem('THEIRS');
const STEP_MS = 3_000;

/** A cluster in which `other` writes after each of our looks; returns when we wrote. */
function play(looks: number, other: (found: string, look: number) => string, wanted: (look: number) => string = () => OURS) {
  let state: ContestState = UNCONTESTED;
  let found = '';
  const writes: number[] = [];
  const contested: boolean[] = [];
  for (let look = 0; look < looks; look += 1) {
    const judged = judgeBundles(state, [found, found], wanted(look), look * STEP_MS);
    state = judged.state;
    contested.push(judged.contested);
    if (judged.write) {
      writes.push(look);
      found = wanted(look);
    }
    found = other(found, look);
  }
  return { writes, contested, found };
}

test('caBundle: written once and then left alone', () => {
  assert.deepEqual(play(100, (found) => found).writes, [0]);
});

test('caBundle: blanked at any time, it is back at the next look, however often (INJ-06)', () => {
  const { writes, contested } = play(40, (found, look) => (look % 4 === 3 ? '' : found));
  assert.deepEqual(writes, [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
  assert.ok(!contested.includes(true));
});

test('caBundle: against a writer that never stops, an hour has a dozen writes at most, and the contest is told (INJ-05)', () => {
  const { writes, contested } = play(3_600_000 / STEP_MS, () => THEIRS);
  assert.ok(writes.length <= 12, `${writes.length}`);
  assert.equal(contested.at(-1), true);
  assert.ok(contested.indexOf(true) <= 4);
});

test('caBundle: when the other writer is gone, ours is back within the longest wait, and the contest is over', () => {
  const gone = 100;
  const { contested, found, writes } = play(3 * gone + 1_400, (value, look) => (look < gone ? THEIRS : value));
  assert.equal(found, OURS);
  assert.equal(contested.at(-1), false);
  assert.ok((writes.at(-1) ?? 0) - gone <= 1_800_000 / STEP_MS);
});

test('caBundle: one other value is taken for an older replica and written over', () => {
  assert.deepEqual(play(10, (found, look) => (look === 4 ? THEIRS : found)).writes, [0, 5]);
});

test('caBundle: somebody who adds to ours is left alone; a change of ours is written all the same', () => {
  const added = (found: string) => (found.includes('OURS') && !found.includes('THEIRS') ? found + THEIRS : found);
  assert.deepEqual(play(20, added).writes, [0]);
  const next = OURS + pem('NEXT');
  assert.deepEqual(play(20, added, (look) => (look < 10 ? OURS : next)).writes, [0, 10]);
});

test('caBundle: whatever others do, writes are bounded by what they did and ours stands once they stop for an hour', () => {
  const moves = fc.array(fc.constantFrom('keep', 'blank', 'theirs'), { maxLength: 60 });
  fc.assert(
    fc.property(moves, (script) => {
      const act = (found: string, look: number) => ({ keep: found, blank: '', theirs: THEIRS })[script[look] ?? 'keep'];
      const { writes, found, contested } = play(script.length + 1_300, act);
      assert.ok(writes.length <= 1 + script.filter((move) => move !== 'keep').length);
      assert.equal(found, OURS);
      assert.equal(contested.at(-1), false);
    }),
  );
});
