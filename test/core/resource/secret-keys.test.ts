import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretKeysOf } from '#core/resource/secret-keys.ts';

test('secret keys: every field that names one, each once and sorted, and which of them are no secret', () => {
  const destinations = [
    { origin: 'https://a.example', ca: { key: 'ca.crt' } },
    { origin: 'https://b.example', ca: { key: 'ca.crt' } },
  ];
  const use = { basic: { usernameKey: 'user', passwordKey: 'password' }, bearer: { key: 'token' } };
  assert.deepEqual(secretKeysOf({ destinations, use }), [
    { key: 'ca.crt', kind: 'public' },
    { key: 'password', kind: 'secret' },
    { key: 'token', kind: 'secret' },
    { key: 'user', kind: 'public' },
  ]);
});

test('secret keys: ids and certificates are no secrets, private keys are', () => {
  const app = { githubApp: { appIdKey: 'app-id', installationIdKey: 'installation-id', privateKeyKey: 'key.pem' } };
  const certificate = { clientCertificate: { certificateKey: 'tls.crt', privateKeyKey: 'tls.key' } };
  assert.deepEqual(secretKeysOf({ destinations: [], use: { ...app, ...certificate } }), [
    { key: 'app-id', kind: 'public' },
    { key: 'installation-id', kind: 'public' },
    { key: 'key.pem', kind: 'secret' },
    { key: 'tls.crt', kind: 'public' },
    { key: 'tls.key', kind: 'secret' },
  ]);
});
