/** A store of one's own behind a CA of one's own: a real S3 server (SeaweedFS) behind TLS. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { StoreFault } from '#core/audit/object-store.ts';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { openStore } from '#core/runtime/open-store.ts';
import { PutFault, putPermitted } from '#sidecar/audit/permitted-put.ts';
import { unavailable } from '#test/servers/build.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { startTlsFront, type TlsFront } from '#test/servers/tls-front.ts';

const skip = await unavailable('weed');
const folder = mkdtempSync(join(tmpdir(), 'postern-roots-'));
let s3: Seaweedfs;
let front: TlsFront;
before(async () => {
  if (skip !== false) return;
  s3 = await startSeaweedfs();
  await s3.createBucket('own');
  front = await startTlsFront({ target: s3.endpoint });
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (skip !== false) return;
  await front[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

let files = 0;
function bundle(text: string): string {
  files += 1;
  const path = join(folder, `${files}.pem`);
  writeFileSync(path, text);
  return path;
}

const open = (endpoint: string, caBundle?: string) =>
  openStore(parseStoreAddress(`s3://own/chains?endpoint=${endpoint}`), {
    clock: { ...systemClock, sleep: async () => {} },
    env: {
      AWS_ACCESS_KEY_ID: s3?.accessKeyId ?? 'id',
      AWS_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? 'secret',
      ...(caBundle === undefined ? {} : { AWS_CA_BUNDLE: caBundle }),
    },
  });
const object = (name: string, text: string) => ({ name, bytes: Buffer.from(text), sha256: hash('sha256', text, 'buffer') });

test('s3 roots: a store behind a CA of its own is used by who names that CA, and by nobody else', { skip }, async () => {
  await using trusted = await open(front.url, bundle(`Our own CA:\n${front.caPem}`));
  assert.equal(await trusted.create(object('1.seg', 'one')), 'created');
  assert.equal((await trusted.read('1.seg', 10))?.toString(), 'one');
  assert.equal(trusted.roots?.trim(), front.caPem.trim(), 'nothing but the certificate is handed on');
  for (const caBundle of [undefined, bundle((await createAuthority()).caPem)]) {
    await using other = await open(front.url, caBundle);
    await assert.rejects(other.create(object('2.seg', 'two')), (fault) => fault instanceof StoreFault && fault.kind === 'unavailable');
  }
  await using behind = await open(s3.endpoint);
  assert.equal(await behind.read('2.seg', 10), undefined);
});

test('s3 roots: who holds a permit for it and its CA puts the object; without the CA nothing is sent', { skip }, async () => {
  await using store = await open(front.url, bundle(front.caPem));
  const { name, bytes, sha256 } = object('3.seg', 'three');
  const permit = await store.presign?.({ name, bytes: bytes.length, sha256 }, limits.auditPermitMs);
  const headers = Object.entries(permit?.headers ?? {}).map(([header, value]) => ({ name: header, value }));
  const put = (roots?: string) =>
    putPermitted({ url: permit?.url ?? '', headers, ...(roots === undefined ? {} : { roots }) }, bytes, new AbortController().signal);
  await assert.rejects(put(), (fault) => fault instanceof PutFault && fault.kind === 'connection');
  await assert.rejects(put((await createAuthority()).caPem), (fault) => fault instanceof PutFault && fault.kind === 'connection');
  assert.equal(await put(store.roots), 200);
  assert.equal((await store.read(name, 10))?.toString(), 'three');
});

test('s3 roots: a file that is not there, holds no certificate, a broken one or too much is refused with the cure', async () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  for (const [path, said] of [
    [join(folder, 'none.pem'), /cannot be read; check that it is mounted/],
    [bundle('a key'), /no certificate; it holds CAs as PEM/],
    [bundle(broken), /a certificate that is none/],
    [bundle('x'.repeat(limits.auditStoreRootsBytesMax + 1)), /longer than/],
  ] as const)
    await assert.rejects(open('https://127.0.0.1:1', path), (fault) => {
      assert.ok(fault instanceof StoreFault && fault.kind === 'refused', String(fault));
      assert.match(fault.message, said);
      return true;
    });
});
