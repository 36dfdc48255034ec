import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ActivityView } from '#core/audit/activity-view.ts';
import { parseRecord } from '#core/audit/record-line.ts';
import { limits } from '#core/bounds/limits.ts';
import { approval, chainOf, intent, OPERATION, ORIGIN, outcome, refused } from './view-records.ts';

function rowsOf(...lines: readonly object[]) {
  const view = new ActivityView();
  for (const record of chainOf(...lines)) view.take(record);
  return view.rest();
}

test('activity view: an effect that was refused, asked, approved and done is one row', () => {
  const [row, ...more] = rowsOf(
    refused({ code: 'APPROVAL_REQUIRED' }),
    approval('asked'),
    approval('approved', { approver: 'ada', reason: 'the shed burnt down' }),
    intent({ approval: 'op-1', approver: 'ada' }),
    outcome({ status: 'ok', rows: 1, duration_ms: 12 }),
  );
  assert.deepEqual(more, []);
  assert.deepEqual(
    [row?.operation, row?.outcome, row?.decision, row?.approver, row?.reason, row?.intents, row?.code],
    [OPERATION, 'ok', 'approved', 'ada', 'the shed burnt down', 1, undefined],
  );
  assert.deepEqual([row?.first_sequence, row?.last_sequence, row?.began_at !== row?.ended_at], [1, 5, true]);
});

test('activity view: an intent without an outcome is unsettled, never done', () => {
  assert.equal(rowsOf(intent())[0]?.outcome, 'unsettled');
  assert.equal(rowsOf(intent(), outcome({ status: 'failed', code: 'UPSTREAM_REFUSED' }), intent())[0]?.outcome, 'unsettled');
});

test('activity view: an outcome that a person told later says who, and replaces the unknown one', () => {
  const [row] = rowsOf(
    intent(),
    outcome({ status: 'unknown', code: 'OUTCOME_UNKNOWN', found: 'start' }),
    outcome({ status: 'ok', found: 'person', by: 'bob' }),
  );
  assert.deepEqual([row?.outcome, row?.code, row?.found, row?.by], ['ok', undefined, 'person', 'bob']);
});

test('activity view: a second caller that is refused does not hide what runs', () => {
  assert.equal(rowsOf(intent(), refused({ code: 'OPERATION_IN_PROGRESS' }))[0]?.outcome, 'unsettled');
});

test('activity view: refusals without an operation are rows of their own', () => {
  const rows = rowsOf(refused({ operation_id: undefined }), refused({ operation_id: undefined }));
  assert.deepEqual(
    rows.map(({ outcome: what, code, operation }) => [what, code, operation]),
    [
      ['refused', 'INVALID_ARGUMENT', undefined],
      ['refused', 'INVALID_ARGUMENT', undefined],
    ],
  );
});

test('activity view: of equal operation ids in two chains each has its row', () => {
  const view = new ActivityView();
  for (const record of chainOf(intent())) view.take(record);
  for (const record of chainOf(outcome())) view.take({ ...record, origin: `${ORIGIN}/other` });
  assert.deepEqual(
    view.rest().map(({ outcome: what }) => what),
    ['unsettled', 'ok'],
  );
});

test('activity view: past the bound the oldest row leaves, and none is lost (AUD-22)', () => {
  const view = new ActivityView();
  const left: number[] = [];
  const total = limits.auditViewRowsMax + 5;
  for (let sequence = 1; sequence <= total; sequence += 1) {
    const [record] = chainOf(refused({ operation_id: undefined }));
    if (record !== undefined) left.push(...view.take({ ...record, sequence }).map(({ first_sequence }) => first_sequence));
  }
  assert.deepEqual(left, [1, 2, 3, 4, 5]);
  assert.equal(view.rest().length, limits.auditViewRowsMax);
});

test('activity view: no record, whatever is in its members, breaks it or grows a text beyond its bound (AUD-22)', () => {
  const member = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ minLength: 400, maxLength: 900 }));
  const names = ['operation_id', 'action', 'status', 'code', 'targets', 'warnings', 'rows', 'event', 'arguments', '__proto__', 'complete'];
  const kinds = fc.constantFrom('intent', 'outcome', 'refused', 'replayed', 'approval', 'session', 'counted', 'request');
  const hostile = fc.record({ record: kinds, at: fc.string({ maxLength: 30 }), members: fc.dictionary(fc.constantFrom(...names), member) });
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 6 }), (all) => {
      const view = new ActivityView();
      for (const [index, { record: kind, at, members }] of all.entries()) {
        const record = parseRecord(JSON.stringify({ ...members, record: kind, at }));
        if (record !== undefined) view.take({ origin: ORIGIN, sequence: index + 1, record });
      }
      for (const row of view.rest()) {
        assert.ok(JSON.stringify(row.targets ?? 0).length <= limits.auditViewJsonCharsMax);
        for (const [name, value] of Object.entries(row))
          if (typeof value === 'string' && !['targets', 'arguments'].includes(name))
            assert.ok(value.length <= limits.auditViewTextCharsMax);
      }
    }),
    { numRuns: 60 },
  );
});
