import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#core/runtime/settings.ts';

const table = {
  listen: { env: 'POSTERN_LISTEN', type: 'text', pattern: /^127\.0\.0\.1:\d+$/, sentence: 'Address and port.' },
  drainMs: { env: 'POSTERN_DRAIN_MS', type: 'integer', min: 0, max: 60_000, fallback: 5000, sentence: 'Time for running calls.' },
  level: { env: 'POSTERN_LOG_LEVEL', type: 'choice', choices: ['info', 'debug'], fallback: 'info', sentence: 'Lines written.' },
  loopback: { env: 'POSTERN_ALLOW_LOOPBACK', type: 'switch', fallback: false, sentence: 'For development.' },
} as const;

test('settings: values are typed, defaults fill in, the result is frozen', () => {
  const read = readSettings(table, { POSTERN_LISTEN: '127.0.0.1:1', POSTERN_DRAIN_MS: '7', POSTERN_LOG_LEVEL: '', OTHER: 'x' });
  assert.ok(read.ok);
  assert.deepEqual({ ...read.settings }, { listen: '127.0.0.1:1', drainMs: 7, level: 'info', loopback: false });
  assert.ok(Object.isFrozen(read.settings));
});

test('settings: every problem is named at once, without the value', () => {
  const read = readSettings(table, {
    POSTERN_DRAIN_MS: '1e3',
    POSTERN_LOG_LEVEL: 's3cr3t',
    POSTERN_ALLOW_LOOPBACK: 'yes',
    POSTERN_LISTNE: 's3cr3t',
  });
  assert.ok(!read.ok);
  assert.equal(read.problems.length, 5);
  assert.match(read.problems.join('\n'), /POSTERN_LISTEN is required: Address and port\./);
  assert.match(read.problems.join('\n'), /POSTERN_LISTNE is not a setting/);
  assert.doesNotMatch(read.problems.join('\n'), /s3cr3t/);
});

for (const text of ['-1', '60001', '1.5', '0x10', ' 5', 'Infinity', '99999999999999999999']) {
  test(`settings: ${JSON.stringify(text)} is no whole number in the range`, () => {
    assert.equal(readSettings(table, { POSTERN_LISTEN: '127.0.0.1:1', POSTERN_DRAIN_MS: text }).ok, false);
  });
}
