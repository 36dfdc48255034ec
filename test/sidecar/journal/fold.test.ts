import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry, Step } from '#sidecar/journal/entry.ts';
import {
  afterCrash,
  foldRecord,
  type OperationState,
  STEP_TRANSITIONS,
  type StepEvent,
  type StepState,
  TRANSITIONS,
} from '#sidecar/journal/fold.ts';
import { decodeJournalRecord, encodeJournalRecord, type OperationJournalRecord } from '#sidecar/journal/journal-record.ts';
import { operation } from './operation-record.ts';

const id = 'op_a';
const STATES = ['planned', 'running', 'done', 'failed', 'unknown'] as const;

function entryIn(phase: Entry['phase'], steps: readonly Step[] = [], idempotency: 'None' | 'Key' = 'Key'): Entry {
  return { record: operation(id, { idempotency }), phase, steps };
}

/** Each record with the name of its column; the steps an entry must have for it to be about the state alone. */
const EVENTS: readonly (readonly [string, OperationJournalRecord, readonly Step[]])[] = [
  ['plan', { kind: 'plan', id, record: operation(id) }, []],
  ['begin', { kind: 'begin', id, approval: 'op-a' }, []],
  ['again', { kind: 'again', id }, []],
  ['intent', { kind: 'intent', id, index: 0 }, []],
  ['step', { kind: 'step', id, index: 0, state: 'done' }, [{ index: 0, state: 'sent' }]],
  ...(['done', 'failed', 'unknown'] as const).map(
    (phase) => [`end:${phase}`, { kind: 'end', id, phase, atMs: 1, outcome: {} }, []] as [string, OperationJournalRecord, readonly Step[]],
  ),
  ...(['done', 'notDone'] as const).map(
    (verdict) =>
      [`resolve:${verdict}`, { kind: 'resolve', id, verdict, by: 'ann', atMs: 1 }, []] as [string, OperationJournalRecord, readonly Step[]],
  ),
  ['restart:planned', { kind: 'restart', id, phase: 'planned', atMs: 1 }, []],
  ['restart:unknown', { kind: 'restart', id, phase: 'unknown', atMs: 1 }, [{ index: 0, state: 'sent' }]],
  ['restart:done', { kind: 'restart', id, phase: 'done', atMs: 1 }, [{ index: 0, state: 'done' }]],
  ['restart:failed', { kind: 'restart', id, phase: 'failed', atMs: 1 }, [{ index: 0, state: 'notDone' }]],
  ['drop', { kind: 'drop', id }, []],
  ...STATES.map(
    (phase) => [`entry:${phase}`, { kind: 'entry', id, entry: entryIn(phase) }, []] as [string, OperationJournalRecord, readonly Step[]],
  ),
];

// Written out once more, by hand: state -> what it takes.
const TAKES: Readonly<Record<OperationState, string>> = {
  absent: 'plan>planned entry:planned>planned entry:running>running entry:done>done entry:failed>failed entry:unknown>unknown',
  planned: 'begin>running end:failed>failed drop>absent',
  running:
    'intent>running step>running end:done>done end:failed>failed end:unknown>unknown restart:planned>planned restart:unknown>unknown restart:done>done restart:failed>failed',
  done: 'drop>absent',
  failed: 'drop>absent',
  unknown: 'again>running resolve:done>done resolve:notDone>failed',
};

test('fold: every state takes exactly the records it should, over the whole product', () => {
  for (const state of ['absent', ...STATES] as const) {
    const taken: string[] = [];
    for (const [event, record, steps] of EVENTS) {
      const folded = foldRecord(state === 'absent' ? undefined : entryIn(state, steps), record);
      if (folded === 'forgotten') taken.push(`${event}>absent`);
      else if ('entry' in folded) taken.push(`${event}>${folded.entry.phase}`);
    }
    assert.deepEqual(taken.sort(), TAKES[state].split(' ').sort(), state);
  }
  assert.deepEqual(Object.keys(TRANSITIONS).sort(), Object.keys(TAKES).sort());
});

test('fold: a request takes exactly the records it should, and without a repetition known to the remote no second intent', () => {
  const takes: Readonly<Record<StepState, string>> = {
    none: 'intent>sent',
    sent: 'done>done notDone>notDone unknown>unknown',
    notDone: 'intent>sent',
    unknown: 'intent>sent done>done notDone>notDone',
    done: '',
  };
  for (const idempotency of ['None', 'Key'] as const) {
    for (const state of Object.keys(STEP_TRANSITIONS) as StepState[]) {
      const entry = entryIn('running', state === 'none' ? [] : [{ index: 3, state }], idempotency);
      const taken = (['intent', 'done', 'notDone', 'unknown'] as StepEvent[]).flatMap((event) => {
        const folded = foldRecord(
          entry,
          event === 'intent' ? { kind: 'intent', id, index: 3 } : { kind: 'step', id, index: 3, state: event },
        );
        return typeof folded === 'object' && 'entry' in folded ? [`${event}>${folded.entry.steps[0]?.state}`] : [];
      });
      const expected = takes[state]
        .split(' ')
        .filter((word) => word !== '' && !(idempotency === 'None' && state === 'unknown' && word === 'intent>sent'));
      assert.deepEqual(taken.sort(), expected.sort(), `${state}, ${idempotency}`);
    }
  }
});

test('fold: what the remote does not know again is not sent again', () => {
  assert.ok('refused' in Object(foldRecord(entryIn('unknown', [], 'None'), { kind: 'again', id })));
});

test('fold: with a request in doubt an operation is neither done nor failed', () => {
  for (const state of ['sent', 'unknown'] as const) {
    for (const phase of ['done', 'failed'] as const) {
      const folded = foldRecord(entryIn('running', [{ index: 0, state }]), { kind: 'end', id, phase, atMs: 1 });
      assert.ok('refused' in Object(folded), `${state} ${phase}`);
    }
  }
});

const anyRecord = fc.constantFrom(...EVENTS.filter(([event]) => !event.startsWith('entry')).map(([, record]) => record));

test('fold: in every order of records a request is out at most once, and a start leaves nothing running (AUD-14)', () => {
  fc.assert(
    fc.property(
      fc.array(anyRecord, { maxLength: 60, size: 'max' }),
      fc.constantFrom('None' as const, 'Key' as const),
      (records, idempotency) => {
        let entry: Entry | undefined;
        let intents = 0;
        for (const each of records) {
          const record = each.kind === 'plan' ? { ...each, record: { ...each.record, idempotency } } : each;
          const folded = foldRecord(entry, record);
          if (folded === 'forgotten') [entry, intents] = [undefined, 0];
          else if ('entry' in folded) {
            if (record.kind === 'intent') intents += 1;
            entry = folded.entry;
          }
          if (entry !== undefined && idempotency === 'None') assert.ok(intents <= 1, 'sent twice');
        }
        if (entry?.phase !== 'running') return;
        const after = foldRecord(entry, { kind: 'restart', id, phase: afterCrash(entry), atMs: 1 });
        assert.ok(typeof after === 'object' && 'entry' in after && after.entry.phase !== 'running');
        if (intents > 0) assert.notEqual(after.entry.phase, 'planned');
      },
    ),
  );
});

test('journal record: what is encoded is decoded', () => {
  for (const [, record] of EVENTS) assert.deepEqual(decodeJournalRecord(encodeJournalRecord(record)), record);
  // An outcome repeats what a remote sent, also numbers that lose digits.
  const outcome = { big: 1e300, id: 2 ** 53, '': '\ud800', nested: [null, -0.5] };
  const end: OperationJournalRecord = { kind: 'end', id, phase: 'done', atMs: 1, outcome };
  assert.deepEqual(decodeJournalRecord(encodeJournalRecord(end)), end);
});

for (const [name, line] of [
  ['a later version', '{"v":2,"kind":"drop","id":"a"}'],
  ['a kind that is not known', '{"v":1,"kind":"undo","id":"a"}'],
  ['a kind of the prototype', '{"v":1,"kind":"constructor","id":"a"}'],
  ['a member that is not known', '{"v":1,"kind":"drop","id":"a","force":true}'],
  ['a member that is missing', '{"v":1,"kind":"intent","id":"a"}'],
  ['a member of another type', '{"v":1,"kind":"intent","id":"a","index":"0"}'],
  ['no JSON', '{"v":1,'],
] as const) {
  test(`journal record: ${name} is refused, and the message says so`, () => {
    assert.throws(() => decodeJournalRecord(Buffer.from(line)), { reason: 'AUDIT_UNAVAILABLE', message: /^The journal holds a record/ });
  });
}
