/**
 * Goal: no file below the credentials folder stops the sidecar, fills its memory or becomes a credential it should not be.
 * Method: the real store on a real folder with links, pipes, devices and giants.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { bearerScheme } from '#sidecar/credential/static-scheme.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';

const root = mkdtempSync(join(tmpdir(), 'postern-attack-'));
after(() => rmSync(root, { recursive: true }));

const clock = { nowMs: 0, wallMs: () => 0, monotonicMs: () => clock.nowMs, sleep: () => Promise.resolve(), alarm: () => () => {} };
const store = new CredentialStore({ directory: root, clock });
mkdirSync(join(root, 'postern-x'));
const at = (key: string) => join(root, 'postern-x', key);

/** What reading the key says, looked at anew. */
function read(key: string): string {
  clock.nowMs += limits.credentialCheckMs;
  try {
    return store.read('postern-x', key).reveal();
  } catch (thrown) {
    assert.ok(thrown instanceof PosternError);
    return thrown.reason;
  }
}

test('credential files: a pipe nobody writes to is VAULT_LOCKED at once, and a file in its place is read', () => {
  execFileSync('mkfifo', [at('pipe')]);
  assert.equal(read('pipe'), 'VAULT_LOCKED');
  rmSync(at('pipe'));
  writeFileSync(at('pipe'), 'value-0123456789');
  assert.equal(read('pipe'), 'value-0123456789');
});

test('credential files: a file that becomes a pipe is VAULT_LOCKED, and the old value stays masked', () => {
  writeFileSync(at('turning'), 'value-of-before');
  assert.equal(read('turning'), 'value-of-before');
  rmSync(at('turning'));
  execFileSync('mkfifo', [at('turning')]);
  assert.equal(read('turning'), 'VAULT_LOCKED');
  const retired = store.retired('postern-x').list();
  assert.ok(retired.some((secret) => secret.reveal() === 'value-of-before'));
});

test('credential files: links to endless devices, to themselves and to folders are VAULT_LOCKED', () => {
  for (const [key, target] of [
    ['zero', '/dev/zero'],
    ['random', '/dev/urandom'],
    ['null', '/dev/null'],
    ['tty', '/dev/tty'],
    ['loop', 'loop'],
    ['folder', '.'],
    ['gone', 'not-there'],
  ] as const) {
    symlinkSync(target, at(key));
    assert.equal(read(key), 'VAULT_LOCKED', key);
  }
});

test('credential files: two links in a circle are VAULT_LOCKED', () => {
  symlinkSync('round-b', at('round-a'));
  symlinkSync('round-a', at('round-b'));
  assert.equal(read('round-a'), 'VAULT_LOCKED');
});

test('credential files: a socket is VAULT_LOCKED', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
  assert.equal(read('socket'), 'VAULT_LOCKED');
  await new Promise((resolve) => server.close(resolve));
});

test('credential files: a file of gigabytes is CREDENTIAL_INVALID, and hardly anything of it is read', () => {
  writeFileSync(at('giant'), 'x');
  truncateSync(at('giant'), 8 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  assert.equal(read('giant'), 'CREDENTIAL_INVALID');
  assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
});

test('credential files: a value with a line end, a NUL or bytes beyond ASCII never becomes a header', () => {
  const scheme = bearerScheme(store, 'postern-x', { key: 'lines' });
  const request = { method: 'GET', origin: 'https://api.test', target: '/', headers: [] };
  for (const value of ['token-0123\r\nX-Evil: 1', 'token-0123\u0000', 'token-0123\n\n', ' token-0123', 'token-0123\u010a']) {
    writeFileSync(at('lines'), value);
    clock.nowMs += limits.credentialCheckMs;
    assert.throws(
      () => scheme.headers(request, { origin: 'https://api.test' }, AbortSignal.timeout(1000)),
      (thrown: PosternError) => thrown.reason === 'CREDENTIAL_INVALID' && !thrown.message.includes('token-0123'),
    );
  }
});

test('credential files: a rotation in mid-write gives the old value, the new one or a refusal, never a half', () => {
  const values = ['a'.repeat(5000), 'b'.repeat(7000)];
  const seen = new Set<string>();
  for (let turn = 0; turn < 40; turn += 1) {
    writeFileSync(at('next'), values[turn % 2] ?? '');
    renameSync(at('next'), at('rotating'));
    seen.add(read('rotating'));
  }
  assert.deepEqual([...seen].sort(), values);
});
