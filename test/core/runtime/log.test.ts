import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { createLog, type LogFields, type LogLevel } from '#core/runtime/log.ts';

function record(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const log = createLog({ level, destination: { write: (line: string) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') };
}

/** What a careless caller could pass, past the types. */
const loose = (fields: Record<string, unknown>) => fields as LogFields;

test('log: a line is JSON with level, time, message and the given facts', () => {
  const { log, last } = record();
  log.child({ component: 'call' }).info('call ended', { action: 'list_open_issues', duration_ms: 12.5, complete: true, reason: 'OK' });
  const { time, ...line } = last();
  assert.deepEqual(line, {
    level: 'info',
    component: 'call',
    action: 'list_open_issues',
    duration_ms: 12.5,
    complete: true,
    reason: 'OK',
    message: 'call ended',
  });
  assert.match(time, /^\d{4}-\d{2}-\d{2}T/);
});

test('log: a field outside the closed set is not written', () => {
  const { log, lines, last } = record();
  log.info('x', loose({ authorization: 'Bearer s3cr3t', body: { a: 's3cr3t' }, arguments: 's3cr3t', __proto__: null }));
  assert.doesNotMatch(lines.join(''), /s3cr3t/);
  assert.equal(last().unfit_field, 'arguments');
});

test('log: a value that has not the form of its field is not written', () => {
  const { log, lines } = record();
  for (const value of ['Bearer s3cr3t', 's3cr3t\nforged', { s3cr3t: 1 }, ['s3cr3t'], 's3cr3t s3cr3t']) {
    log.info(
      'x',
      loose({ action: value, request_id: value, revision: value, duration_ms: value, complete: value, ignored_metadata: value }),
    );
  }
  assert.doesNotMatch(lines.join(''), /s3cr3t/);
});

test('log: of an error class, code and places are written, never its message', () => {
  const { log, lines, last } = record();
  const inner = Object.assign(new TypeError('s3cr3t in a library text'), { code: 'ECONNRESET', headers: 's3cr3t' });
  log.error('call failed', {}, new PosternError('INTERNAL', 's3cr3t of ours', { cause: inner }));
  assert.doesNotMatch(lines.join(''), /s3cr3t/);
  assert.equal(last().error_name, 'PosternError');
  assert.deepEqual([last().error_cause.error_name, last().error_cause.error_code], ['TypeError', 'ECONNRESET']);
  assert.match(last().error_at[0], /log\.test\.ts:\d+:\d+$/);
});

test('log: a stack made by hand cannot smuggle text', () => {
  const { log, lines } = record();
  const error = new Error('x');
  error.stack = 'Error: s3cr3t\n    at s3cr3t=1; (file:///a.ts:1:1)\n  s3cr3t\n    at ok (s3cr3t value:1:1)';
  error.name = 's3cr3t with spaces';
  log.error('x', {}, error);
  log.error('x', {}, 's3cr3t thrown as a string');
  assert.doesNotMatch(lines.join(''), /s3cr3t/);
});

test('log: lines below the level are not written', () => {
  const { log, lines } = record('warn');
  log.info('x');
  log.debug('x');
  log.warn('y');
  assert.equal(lines.length, 1);
});
