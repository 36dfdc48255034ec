/** Who gets an SSH key: a command whose host is final and among the binding's, and nobody else. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Clock } from '#core/bounds/clock.ts';
import { assembleCommand } from '#core/contract/assemble-command.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { SshCredential } from '#sidecar/credential/ssh-credential.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-ssh-credential-'));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'postern-x'));
const KEY = '-----BEGIN X-----\nSYNc2VjcmV0\nc2VjcmV0SYN\n-----END X-----';
const write = (key: string, text: string) => writeFileSync(join(directory, 'postern-x', key), text);
write('key', `${KEY}\n`);
write('passphrase', 'SYN-passphrase');

let nowMs = 0;
const clock: Clock = {
  wallMs: () => nowMs,
  monotonicMs: () => nowMs,
  sleep: async () => undefined,
  alarm: () => () => undefined,
};

function credentialOf(more: Partial<CompiledBinding['spec']> = {}): SshCredential<string> {
  const spec: CompiledBinding['spec'] = {
    owner: 'team',
    secret: { name: 'postern-x' },
    contracts: ['c'],
    destinations: [{ origin: 'ssh://a.test:22', hostKeys: [`SHA256:${'A'.repeat(43)}`] }],
    use: { sshKey: { user: 'u', privateKeyKey: 'key', passphraseKey: 'passphrase' } },
    ...more,
  };
  return new SshCredential({ name: 'x', namespace: 'n', spec }, new CredentialStore({ directory, clock }));
}

function commandTo(host: string) {
  const values = { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} };
  return assembleCommand({ kind: 'ssh', credential: 'x', host: [host], argv: [['uptime']], shell: 'Posix' }, values).outbound;
}

function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof PosternError ? error.reason : String(error);
  }
  return 'none';
}

test('ssh credential: a key goes to a host of its binding, for a command that was assembled, and nowhere else', () => {
  const credential = credentialOf();
  const parse = (key: string, passphrase: string | undefined) => `${key.length}:${passphrase}`;
  assert.deepEqual(credential.login(commandTo('a.test'), parse), {
    destination: { origin: 'ssh://a.test:22', hostKeys: [`SHA256:${'A'.repeat(43)}`] },
    user: 'u',
    key: `${KEY.length}:SYN-passphrase`,
  });
  const never = () => assert.fail('the key was read');
  assert.equal(
    reasonOf(() => credential.login(commandTo('b.test'), never)),
    'EGRESS_DENIED',
  );
  assert.equal(
    reasonOf(() => credential.login(commandTo('a.test:2222'), never)),
    'EGRESS_DENIED',
  );
  assert.equal(
    reasonOf(() => credential.login({ ...commandTo('a.test') }, never)),
    'INTERNAL',
  );
  assert.equal(
    reasonOf(() => credentialOf({ suspended: { because: 'x' } }).login(commandTo('a.test'), never)),
    'SESSION_SUSPENDED',
  );
});

test('ssh credential: a hop has one destination', () => {
  const destinations = ['ssh://a.test:22', 'ssh://b.test:22'].map((origin) => ({ origin, hostKeys: [`SHA256:${'A'.repeat(43)}`] }));
  assert.equal(
    reasonOf(() => credentialOf({ destinations }).hop(() => '')),
    'CONTRACT_NOT_READY',
  );
  assert.equal(credentialOf().hop(() => 'k').destination.origin, 'ssh://a.test:22');
});

test('ssh credential: a file is parsed once, again when it changed, and the old value stays masked (LEAK-23)', () => {
  const credential = credentialOf();
  let parsed = 0;
  const parse = () => {
    parsed += 1;
    return `key ${parsed}`;
  };
  for (const _ of [1, 2, 3]) assert.equal(credential.login(commandTo('a.test'), parse).key, 'key 1');
  const first = credential.mask;
  assert.equal(credential.mask, first);
  write('key', '-----BEGIN X-----\nanother0secret\n-----END X-----\n');
  nowMs += 60_000;
  assert.equal(credential.login(commandTo('a.test'), parse).key, 'key 2');
  const mask = credential.mask.forAnyone();
  for (const text of [KEY, 'another0secret', 'SYN-passphrase']) assert.equal(mask.text(`<${text}>`), '<[masked]>', text);
});

test('ssh credential: a key that cannot be parsed is asked for again at each call, and still masked', () => {
  const credential = credentialOf();
  const fail = () => {
    throw new PosternError('CREDENTIAL_INVALID', 'no key');
  };
  for (const _ of [1, 2])
    assert.equal(
      reasonOf(() => credential.login(commandTo('a.test'), fail)),
      'CREDENTIAL_INVALID',
    );
  assert.equal(credential.mask.forAnyone().text('SYN-passphrase'), '[masked]');
});
