/**
 * Mounted Secrets: rotation as the kubelet does it, values that are gone, values that cannot be credentials, and nothing printed.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';

const CANARY = 'SYN-canary-0123456789';

interface Fixture {
  readonly store: CredentialStore;
  readonly clock: Clock & { nowMs: number };
  write(key: string, value: string | Uint8Array): void;
  path(key: string): string;
  /** Lets the store look at its files again. */
  later(): void;
}

function withStore(use: (fixture: Fixture) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
  const clock = { nowMs: 0, wallMs: () => 0, monotonicMs: () => clock.nowMs, sleep: () => Promise.resolve(), alarm: () => () => {} };
  mkdirSync(join(directory, 'postern-x'));
  const path = (key: string) => join(directory, 'postern-x', key);
  try {
    use({
      clock,
      store: new CredentialStore({ directory, clock }),
      path,
      write: (key, value) => writeFileSync(path(key), value),
      later: () => {
        clock.nowMs += limits.credentialCheckMs;
      },
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function refusal(run: () => unknown): PosternError {
  try {
    run();
  } catch (error) {
    assert(error instanceof PosternError, String(error));
    return error;
  }
  return assert.fail('was accepted');
}

test('store: gives the value of a key without one final line end, and the same object while the file is the same', () => {
  withStore(({ store, write, later }) => {
    write('token', `${CANARY}\n`);
    const first = store.read('postern-x', 'token');
    assert.equal(first.reveal(), CANARY);
    later();
    assert.equal(store.read('postern-x', 'token'), first);
    write('two', 'line one\n\n');
    assert.equal(store.read('postern-x', 'two').reveal(), 'line one\n');
  });
});

test('LEAK-15: a changed file is used after the check interval, not before, and the old value is retired', () => {
  withStore(({ store, write, later }) => {
    write('token', 'old-value-1');
    store.read('postern-x', 'token');
    write('token', 'new-value-22');
    assert.equal(store.read('postern-x', 'token').reveal(), 'old-value-1');
    later();
    assert.equal(store.read('postern-x', 'token').reveal(), 'new-value-22');
    assert.deepEqual(
      store
        .retired('postern-x')
        .list()
        .map((secret) => secret.reveal()),
      ['old-value-1'],
    );
  });
});

test("store: a swap of the kubelet's ..data link is seen", () => {
  withStore(({ store, path, later }) => {
    for (const version of ['..1', '..2']) {
      mkdirSync(path(version));
      writeFileSync(join(path(version), 'token'), `value-of-${version}`);
    }
    symlinkSync('..1', path('..data'));
    symlinkSync('..data/token', path('token'));
    assert.equal(store.read('postern-x', 'token').reveal(), 'value-of-..1');
    symlinkSync('..2', path('..data_tmp'));
    renameSync(path('..data_tmp'), path('..data'));
    later();
    assert.equal(store.read('postern-x', 'token').reveal(), 'value-of-..2');
  });
});

test('LEAK-23: a retired value is masked for 24 hours and then forgotten', () => {
  withStore(({ store, clock, write, later }) => {
    write('token', 'old-value-1');
    store.read('postern-x', 'token');
    write('token', 'new-value-22');
    later();
    store.read('postern-x', 'token');
    const retired = store.retired('postern-x');
    const generation = retired.generation;
    clock.nowMs += limits.secretRetiredMs - 1;
    assert.equal(retired.generation, generation);
    assert.equal(retired.list().length, 1);
    clock.nowMs += 1;
    assert.notEqual(retired.generation, generation);
    assert.equal(retired.list().length, 0);
  });
});

test('store: a file that is missing, unreadable or taken away is VAULT_LOCKED, and comes back', () => {
  withStore(({ store, write, path, later }) => {
    assert.equal(refusal(() => store.read('postern-x', 'token')).reason, 'VAULT_LOCKED');
    write('token', CANARY);
    later();
    assert.equal(store.read('postern-x', 'token').reveal(), CANARY);
    rmSync(path('token'));
    later();
    assert.equal(refusal(() => store.read('postern-x', 'token')).reason, 'VAULT_LOCKED');
    assert.deepEqual(
      store
        .retired('postern-x')
        .list()
        .map((secret) => secret.reveal()),
      [CANARY],
    );
    mkdirSync(path('token'));
    later();
    assert.equal(refusal(() => store.read('postern-x', 'token')).reason, 'VAULT_LOCKED');
    if (process.getuid?.() !== 0) {
      write('locked', CANARY);
      chmodSync(path('locked'), 0);
      assert.equal(refusal(() => store.read('postern-x', 'locked')).reason, 'VAULT_LOCKED');
    }
  });
});

test('LEAK-21: what cannot be a credential is CREDENTIAL_INVALID and named without its value', () => {
  withStore(({ store, write }) => {
    for (const [key, value] of [
      ['short', '1234567'],
      ['empty', ''],
      ['line', '\n'],
      ['bytes', Buffer.from([0x41, 0xff, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41])],
      ['huge', 'x'.repeat(limits.secretBytesMax + 1)],
    ] as const) {
      write(key, value);
      const error = refusal(() => store.read('postern-x', key));
      assert.equal(error.reason, 'CREDENTIAL_INVALID', key);
      assert(!error.message.includes('1234567'));
    }
    write('user', 'me');
    assert.equal(store.read('postern-x', 'user', 'public').reveal(), 'me');
  });
});

test('store: a name that leaves the directory is refused', () => {
  withStore(({ store }) => {
    for (const [secret, key] of [
      ['..', 'token'],
      ['postern-x', '../token'],
      ['postern-x', '..'],
      ['postern-x', ''],
      ['/etc', 'passwd'],
    ] as const) {
      assert.equal(refusal(() => store.read(secret, key)).reason, 'INTERNAL');
    }
  });
});

test('LEAK-01: no way of printing a secret or the error about one shows its value', () => {
  withStore(({ store, write }) => {
    write('token', CANARY);
    const secret = store.read('postern-x', 'token');
    const shown = [
      `${secret}`,
      String(secret),
      JSON.stringify({ secret }),
      inspect({ secret }, { depth: 9, showHidden: true }),
      format('%s %o %O %j', secret, secret, secret, secret),
      inspect(store, { depth: 9, showHidden: true }),
      JSON.stringify(Object.entries(secret)),
      // biome-ignore lint/style/useTemplate: concatenation is one of the ways
      '' + secret,
    ];
    for (const text of shown) assert(!text.includes(CANARY), text);
  });
});
