import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RotationFacts, refusalOf, rotated, STAGES } from '#operator/certificate/authority-rotation.ts';

const CA = ['ca.crt', 'ca.key'];
const NEXT = [...CA, 'next.crt', 'next.key'];
const PREVIOUS = [...CA, 'previous.crt', 'previous.key'];
const MINUTES = 60_000;
const DAY = 24 * 60 * MINUTES;

const facts = (files: readonly string[], more: Partial<RotationFacts> = {}): RotationFacts => ({
  files,
  sinceMs: 2 * DAY,
  nextTrusted: true,
  pinnedBy: 'unknown',
  atOnce: false,
  abandon: false,
  ...more,
});

const ALLOWED = { next: CA, switch: NEXT, drop: PREVIOUS };

for (const stage of STAGES) {
  for (const [name, files] of Object.entries({ CA, NEXT, PREVIOUS })) {
    const allowed = ALLOWED[stage] === files;
    test(`CA rotation: ${stage} with ${name} is ${allowed ? 'taken' : 'refused, with the step to take instead'}`, () => {
      const refusal = refusalOf(stage, facts(files));
      if (allowed) assert.equal(refusal, undefined);
      else assert.match(refusal ?? '', /--stage (next|switch|drop)|no rotation is under way/);
    });
  }
}

test('CA rotation: no switch while a webhook configuration does not trust the next CA, also not at once', () => {
  assert.match(refusalOf('switch', facts(NEXT, { nextTrusted: false, atOnce: true })) ?? '', /do not trust the next CA yet/);
});

for (const [stage, files, leastMs] of [
  ['switch', NEXT, 5 * MINUTES],
  ['drop', PREVIOUS, DAY],
] as const) {
  test(`CA rotation: ${stage} waits ${leastMs / MINUTES} minutes, unless told otherwise`, () => {
    assert.equal(refusalOf(stage, facts(files, { sinceMs: leastMs })), undefined);
    assert.match(refusalOf(stage, facts(files, { sinceMs: leastMs - MINUTES })) ?? '', /due in 1 minutes/);
    assert.match(refusalOf(stage, facts(files, { sinceMs: undefined })) ?? '', new RegExp(`due in ${leastMs / MINUTES} minutes`));
    assert.equal(refusalOf(stage, facts(files, { sinceMs: 0, atOnce: true })), undefined);
  });
}

test('CA rotation: a next CA that nobody pins yet can be given up', () => {
  assert.equal(refusalOf('drop', facts(NEXT, { abandon: true, sinceMs: 0 })), undefined);
  const after = rotated('drop', { 'ca.crt': 'a', 'ca.key': 'b', 'next.crt': 'c', 'next.key': 'd' }, undefined);
  assert.deepEqual(after, { 'next.crt': null, 'next.key': null });
});

test('CA rotation: the switch moves both files of each pair in one write', () => {
  const after = rotated('switch', { 'ca.crt': 'a', 'ca.key': 'b', 'next.crt': 'c', 'next.key': 'd' }, undefined);
  assert.deepEqual(after, { 'ca.crt': 'c', 'ca.key': 'd', 'previous.crt': 'a', 'previous.key': 'b', 'next.crt': null, 'next.key': null });
});

test('CA rotation: no drop while pods pin the previous CA, however long ago the switch was; they are named (INJ-04)', () => {
  const pods = Array.from({ length: 12 }, (_, index) => `triage/agent-${String(index + 1).padStart(2, '0')}`);
  const refusal = refusalOf('drop', facts(PREVIOUS, { pinnedBy: pods })) ?? '';
  assert.match(refusal, /Sidecars of 12 pods still pin .*triage\/agent-01, .*triage\/agent-10, and 2 more/);
  assert.equal(refusalOf('drop', facts(PREVIOUS, { pinnedBy: pods, atOnce: true })), undefined);
  assert.equal(refusalOf('drop', facts(PREVIOUS, { pinnedBy: [] })), undefined);
});
