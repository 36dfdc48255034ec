import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { foundRecord, maskedArguments, refusedRecord } from '#sidecar/call/call-records.ts';

const SECRET = '12345678';
const masked = (text: string) => text.replaceAll(SECRET, '[masked]');

test('call records: a credential is taken out of strings, names and numbers (AUD-25)', () => {
  const args = { a: `x${SECRET}`, [SECRET]: [12345678, 1, true, null], other: { b: 'c' } };
  assert.deepEqual(maskedArguments(args, masked), {
    arguments: { a: 'x[masked]', '[masked]': ['[masked]', 1, true, null], other: { b: 'c' } },
  });
});

test('call records: arguments without one are recorded as they are', () => {
  const args = { a: 'b' };
  assert.equal(maskedArguments(args, masked).arguments, args);
});

test('call records: a credential that is spread over values leaves all of them out', () => {
  const spread = (text: string) => text.replaceAll('one","two', '[masked]');
  assert.deepEqual(maskedArguments(['one', 'two'], spread), { arguments_left_out: 'credential' });
});

test('call records: an action that is not served is named only where the name can be none of ours', () => {
  const error = new PosternError('ACTION_UNKNOWN', 'There is none.');
  const named = (asked: string) =>
    refusedRecord({ requestId: 'req', asked }, error, 1.4, (text) => text.replaceAll('secret_name', '*')).action;
  assert.equal(named('delete_all'), 'delete_all');
  assert.equal(named('secret_name'), undefined);
  assert.equal(named('\u001b[31m'), undefined);
});

test('call records: a broken rule is recorded by its word, never by what broke it', () => {
  const field = { path: '/secret', rule: 'pattern', message: 'secret' };
  const error = new PosternError('INVALID_ARGUMENT', 'no', { fields: [field, field] });
  const record = refusedRecord({ requestId: 'req', asked: 'a', action: 'a' }, error, 1, masked);
  assert.deepEqual(record.rules, ['pattern']);
  assert.equal(JSON.stringify(record).includes('secret'), false);
});

test('call records: what a person found out later names that person', () => {
  const operation = { operationId: 'op', requestId: 'req', action: 'a', revision: 'r', effect: 'Write' };
  const record = foundRecord(operation as never, { verdict: 'notDone', by: { person: 'ada' } });
  assert.deepEqual([record.status, record.found, record.by], ['failed', 'person', 'ada']);
});
