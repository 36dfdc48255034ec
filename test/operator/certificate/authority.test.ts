import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { AuthorityError, caBundleOf, readAuthorities } from '#operator/certificate/authority.ts';
import { createAuthority, issueLeaf } from '#operator/certificate/issue.ts';

const now = Date.now();
const one = await createAuthority(now);
const two = await createAuthority(now);
const leaf = await issueLeaf(one, ['a.example'], now);
const old = await createAuthority(now - 20 * 365 * 24 * 3_600_000);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsa = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const good = { 'ca.crt': one.certificatePem, 'ca.key': one.keyPem };

for (const [name, files, message] of [
  ['nothing', {}, /^ca\.crt and ca\.key are not there/],
  ['a certificate without its key', { 'ca.crt': one.certificatePem }, /^Of ca\.crt and ca\.key one is missing/],
  ['half a pair beside a good one', { ...good, 'next.key': two.keyPem }, /^Of next\.crt and next\.key one is missing/],
  ['no PEM', { 'ca.crt': 'secret words', 'ca.key': one.keyPem }, /^ca\.crt cannot be read as PEM/],
  ['a broken key', { 'ca.crt': one.certificatePem, 'ca.key': one.keyPem.slice(0, 80) }, /^ca\.key cannot be read as PEM/],
  ["another CA's key", { 'ca.crt': one.certificatePem, 'ca.key': two.keyPem }, /^ca\.key is not the key of ca\.crt/],
  ['an RSA key beside', { 'ca.crt': one.certificatePem, 'ca.key': rsa }, /^ca\.key is not the key of ca\.crt/],
  ['a leaf', { 'ca.crt': leaf.certificatePem, 'ca.key': leaf.keyPem }, /^ca\.crt is no certificate of a CA/],
  ['an expired CA', { 'ca.crt': old.certificatePem, 'ca.key': old.keyPem }, /^ca\.crt has expired: /],
  ['one CA twice', { ...good, 'next.crt': one.certificatePem, 'next.key': one.keyPem }, /^Two certificates of the CA have one key/],
] as const) {
  test(`authority: ${name} is refused without a word of its content`, () => {
    assert.throws(
      () => readAuthorities(files, now),
      (error: unknown) => {
        assert.ok(error instanceof AuthorityError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes('secret words') && !error.message.includes('BEGIN'));
        return true;
      },
    );
  });
}

test('authority: the bundle holds certificates only, the current one first', () => {
  const authorities = readAuthorities({ ...good, 'next.crt': two.certificatePem, 'next.key': two.keyPem }, now);
  const bundle = caBundleOf(authorities);
  assert.equal(bundle.match(/BEGIN CERTIFICATE/g)?.length, 2);
  assert.ok(!bundle.includes('PRIVATE KEY'));
  assert.equal(new X509Certificate(bundle).fingerprint256, new X509Certificate(one.certificatePem).fingerprint256);
});

test('authority: a CA lives ten years and signs no CA; its leaf is for servers and a day, and begins before it is made', () => {
  const ca = new X509Certificate(one.certificatePem);
  assert.ok(Math.abs(ca.validToDate.getTime() - now - 3_650 * 24 * 3_600_000) < 60_000);
  const shown = new X509Certificate(leaf.certificatePem);
  assert.ok(ca.ca && !shown.ca);
  assert.ok(shown.verify(ca.publicKey) && shown.checkIssued(ca));
  assert.deepEqual(shown.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(shown.subjectAltName, 'DNS:a.example');
  assert.ok(shown.validFromDate.getTime() < now - 59 * 60_000);
  assert.ok(Math.abs(shown.validToDate.getTime() - now - 24 * 3_600_000) < 60_000);
});

test('authority: a leaf does not outlive its CA', async () => {
  const ends = new X509Certificate(one.certificatePem).validToDate.getTime();
  const late = await issueLeaf(one, ['a.example'], ends - 1_000);
  assert.equal(late.notAfterMs, ends);
});

for (const slot of ['next', 'previous'] as const) {
  test(`authority: ${slot === 'next' ? 'a next' : 'a previous'} CA that has expired is left out, and the current one serves (INJ-04)`, () => {
    const files = { ...good, [`${slot}.crt`]: old.certificatePem, [`${slot}.key`]: old.keyPem };
    const { current, all } = readAuthorities(files, now);
    assert.deepEqual([current.slot, all.length], ['ca', 1]);
  });
}
