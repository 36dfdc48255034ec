import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { CredentialTexts } from '#sidecar/execute/credential-texts.ts';
import { HandClock } from '#test/sidecar/approval/hand-clock.ts';

const KEY = `-----BEGIN KEY-----\n${'a1b2c3d4'.repeat(6)}\n${'e5f6g7h8'.repeat(6)}\n-----END KEY-----`;

function build() {
  const directory = mkdtempSync(join(tmpdir(), 'postern-texts-'));
  mkdirSync(join(directory, 'secret'));
  const write = (key: string, value: string) => writeFileSync(join(directory, 'secret', key), value);
  write('token', 'first-token-of-the-test');
  write('key', KEY);
  const clock = new HandClock();
  const spec = (use: object) => ({ name: 'reader', spec: { secret: { name: 'secret' }, destinations: [], use } });
  const bindings = [spec({ bearer: { key: 'token' } }), spec({ sshKey: { privateKeyKey: 'key', user: 'deploy' } })];
  const texts = new CredentialTexts(bindings as never, new CredentialStore({ directory, clock }), () => []);
  return { texts, write, clock, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

test('credential texts: a credential that no call has used yet is taken out, in any form', () => {
  using built = build();
  const encoded = Buffer.from('first-token-of-the-test').toString('base64');
  assert.equal(built.texts.masked('it is first-token-of-the-test'), 'it is [masked]');
  assert.equal(built.texts.masked(encoded).includes(encoded.slice(4, -4)), false);
});

test('credential texts: one line of a key is found alone', () => {
  using built = build();
  assert.equal(built.texts.masked(`<${'e5f6g7h8'.repeat(6)}>`), '<[masked]>');
});

test('credential texts: a value that was replaced is taken out beside the new one', () => {
  using built = build();
  built.texts.masked('');
  built.write('token', 'second-token-of-the-test');
  built.clock.pass(limits.credentialCheckMs);
  assert.equal(built.texts.masked('first-token-of-the-test second-token-of-the-test'), '[masked] [masked]');
});

test('credential texts: a text without one is the same text', () => {
  using built = build();
  assert.equal(built.texts.masked('{"id":"one"}'), '{"id":"one"}');
});
