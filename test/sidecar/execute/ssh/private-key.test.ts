/** Private keys as people mount them: what signs, and what is refused in words that give nothing away. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { parsePrivateKey } from '#sidecar/execute/ssh/private-key.ts';
import { rsaKey } from '#test/fakes/ssh-server.ts';
import { makeKey } from '#test/servers/sshd.ts';

const folder = mkdtempSync(join(tmpdir(), 'postern-keys-'));
after(() => rmSync(folder, { recursive: true }));
const PASSPHRASE = 'SYN-the-passphrase';
const plain = readFileSync(await makeKey(folder, 'plain', 'ed25519'), 'utf8');
const locked = readFileSync(await makeKey(folder, 'locked', 'ed25519', PASSPHRASE), 'utf8');

function refusal(text: string, passphrase?: string): string {
  try {
    parsePrivateKey(text, passphrase);
  } catch (error) {
    assert.ok(error instanceof PosternError && error.reason === 'CREDENTIAL_INVALID');
    assert.equal(error.cause, undefined);
    return error.message;
  }
  return assert.fail('it was taken');
}

test('SSH-19: an encrypted key without a passphrase, and with a wrong one, are two refusals', () => {
  assert.equal(refusal(locked), 'The SSH key of this action is encrypted, and the binding names no passphraseKey.');
  assert.equal(refusal(locked, 'another passphrase'), 'The SSH key of this action does not open with its passphrase.');
  assert.equal(parsePrivateKey(locked, PASSPHRASE).type, 'ssh-ed25519');
});

test('SSH-19: whatever cannot be read is refused without a word of it', () => {
  const broken = plain.replace(/\n[A-Za-z0-9+/]{8}/, '\nAAAAAAAA');
  for (const text of [
    broken,
    'SYN-no-key-at-all',
    plain.slice(0, 200),
    '-----BEGIN OPENSSH PRIVATE KEY-----\nSYN\n-----END OPENSSH PRIVATE KEY-----',
    '{"key": "SYN"}',
  ]) {
    const message = refusal(text);
    assert.match(message, /^The SSH key of this action [a-z][A-Za-z0-9 ,;#-]+\.$/);
    assert.doesNotMatch(message, /SYN|openssh|AAAA/);
  }
});

test('SSH-19: a public key is told from a private one', () => {
  assert.match(refusal(readFileSync(join(folder, 'plain.pub'), 'utf8')), /is a public key/);
});

test('SSH-18: a certificate is refused by its name', () => {
  execFileSync('ssh-keygen', ['-q', '-s', join(folder, 'plain'), '-I', 'id', '-n', 'u', join(folder, 'locked.pub')], { stdio: 'ignore' });
  assert.match(refusal(readFileSync(join(folder, 'locked-cert.pub'), 'utf8')), /is an OpenSSH certificate, which is not supported/);
});

test('SSH-17: an RSA key signs with SHA-2, and never with SHA-1', () => {
  const key = parsePrivateKey(rsaKey().privateKey, undefined);
  const data = Buffer.from('session');
  for (const algorithm of ['sha256', 'sha512']) assert.ok(key.verify(data, key.sign(data, algorithm), algorithm), algorithm);
  const sign: (data: Buffer, algorithm?: string) => unknown = key.sign.bind(key);
  for (const algorithm of ['sha1', undefined]) assert.ok(sign(data, algorithm) instanceof Error, String(algorithm));
});
