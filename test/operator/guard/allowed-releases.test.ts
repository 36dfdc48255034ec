import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import { nextReleases, pastReleases, readReleases, releasesText, type SeenRelease } from '#operator/guard/allowed-releases.ts';
import { allowedRelease } from '#operator/guard/sidecar-release.ts';
import { release, sizes } from './guarded-cluster.ts';

const of = (letter: string) => allowedRelease({ ...release, image: `r@sha256:${letter.repeat(64)}` }, sizes);
const hour = 3_600_000;

test('allowed releases: survive their text, and what is no list is empty', () => {
  const list = nextReleases([], of('a'), 1000);
  assert.deepEqual(readReleases(releasesText(list)), JSON.parse(JSON.stringify(list)));
  for (const text of [
    undefined,
    '',
    'x',
    '{}',
    '[1]',
    '[{"seenMs":1}]',
    '[{"seenMs":"1","release":{}}]',
    '[{"seenMs":1,"release":{"container":{},"sizes":{},"volumes":[]}}]',
  ]) {
    assert.deepEqual(readReleases(text), [], text);
  }
});

test('allowed releases: one that nobody runs is gone after a day, also when its time is in the future', () => {
  const first = nextReleases([], of('a'), 0);
  assert.equal(nextReleases(first, of('b'), 23 * hour).length, 2);
  assert.equal(nextReleases(first, of('b'), 24 * hour).length, 1);
  assert.equal(nextReleases([{ release: of('a'), seenMs: 1000 * hour }], of('b'), 0).length, 1);
});

test('allowed releases: the own release is always among them, at most three, and looking twice changes nothing', () => {
  const letters = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const steps = fc.array(fc.record({ letter: letters, afterMs: fc.integer({ min: 0, max: 30 * hour }) }), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (all) => {
      let list: readonly SeenRelease[] = [];
      let nowMs = 0;
      for (const { letter, afterMs } of all) {
        nowMs += afterMs;
        list = nextReleases(list, of(letter), nowMs);
        assert.ok(list.length <= limits.guardReleasesMax);
        assert.ok(list.some((entry) => releasesText([entry]).includes(letter.repeat(64))));
        const recent = list.filter((entry) => nowMs - entry.seenMs < limits.guardReleaseSeenMs);
        for (const entry of recent) assert.deepEqual(nextReleases(list, entry.release, nowMs), list);
      }
    }),
  );
});

test('past releases: newest first, each once, none that is allowed again, and so many at most (INJ-23)', () => {
  const at = (letter: string): SeenRelease => ({ release: of(letter), seenMs: 0 });
  assert.deepEqual(pastReleases([], [at('a'), at('b')], [at('b')]), [at('a')]);
  assert.deepEqual(pastReleases([at('a'), at('c')], [at('b'), at('d')], [at('d')]), [at('b'), at('a'), at('c')]);
  assert.deepEqual(pastReleases([at('a')], [at('b')], [at('a')]), [at('b')], 'a way back');
  const many = Array.from({ length: 40 }, (_, index): SeenRelease => ({ release: { ...of('a'), volumes: [{ index }] }, seenMs: 0 }));
  const kept = pastReleases(many, [at('b')], [at('c')]);
  assert.equal(kept.length, limits.guardPastReleasesMax);
  assert.deepEqual(kept[0], at('b'));
  assert.ok(Buffer.byteLength(releasesText(kept)) < 200_000, 'annotations of an object have 256 KiB');
  assert.deepEqual(pastReleases(kept, [at('c')], [at('c')]), kept, 'looking twice changes nothing');
});
