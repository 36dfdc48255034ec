import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { Gathering } from '#operator/gathering.ts';

test('gathering: a thousand changes of one key are one look, and later ones do not prolong the wait', () => {
  const rings: (() => void)[] = [];
  const clock: Clock = { ...systemClock, alarm: alarmInto(rings) };
  const flushed: string[] = [];
  const gathering = new Gathering(clock, 1_000, (key) => flushed.push(key));
  for (let count = 0; count < 1_000; count += 1) gathering.note('triage/list-stock');
  gathering.note('triage/other');
  assert.equal(rings.length, 2);
  for (const ring of rings.splice(0)) ring();
  assert.deepEqual(flushed, ['triage/list-stock', 'triage/other']);
  gathering.note('triage/list-stock');
  assert.equal(rings.length, 1);
});

test('gathering: what waits is forgotten at the end', () => {
  let cancelled = 0;
  const clock: Clock = { ...systemClock, alarm: () => () => (cancelled += 1) };
  const gathering = new Gathering(clock, 1_000, () => {});
  gathering.note('a');
  gathering.note('b');
  gathering.stop();
  assert.equal(cancelled, 2);
});

function alarmInto(rings: (() => void)[]): Clock['alarm'] {
  return (_ms, ring) => {
    rings.push(ring);
    return () => {};
  };
}
