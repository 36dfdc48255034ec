/** Against a real S3 server (SeaweedFS); against a fake one only where a server must do what no real one at hand does. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { StoreFault, type StoreFaultKind } from '#core/audit/object-store.ts';
import { parseStoreAddress, type S3Address } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { type OpenStore, openStore } from '#core/runtime/open-store.ts';
import { type S3Requests, s3Requests } from '#core/runtime/s3-client.ts';
import { probeS3 } from '#core/runtime/s3-probe.ts';
import { type CarelessS3, startCarelessS3 } from '#test/fakes/careless-s3.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';

let s3: Seaweedfs;
before(async () => {
  s3 = await startSeaweedfs();
  await s3.createBucket('plain');
  const locked = { method: 'PUT', path: '/locked', headers: { 'x-amz-bucket-object-lock-enabled': 'true' } };
  assert.equal((await s3.send(locked)).status, 200);
});
after(() => s3[Symbol.asyncDispose]());

const keysOf = ({ accessKeyId, secretAccessKey }: Pick<Seaweedfs, 'accessKeyId' | 'secretAccessKey'>) => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
});
const open = (path: string, env: Record<string, string> = keysOf(s3)): Promise<OpenStore> => {
  const [place = '', query] = path.split('?');
  return openStore(parseStoreAddress(`s3://${place}?endpoint=${s3.endpoint}${query === undefined ? '' : `&${query}`}`), {
    clock: systemClock,
    env,
  });
};
const careless = (server: CarelessS3) =>
  openStore(parseStoreAddress(`s3://bucket/p?endpoint=${server.endpoint}`), {
    clock: { ...systemClock, sleep: async () => {} },
    env: { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
  });
const object = (name: string, text: string) => ({ name, bytes: Buffer.from(text), sha256: hash('sha256', text, 'buffer') });
const fault = (kind: StoreFaultKind) => (error: unknown) => error instanceof StoreFault && error.kind === kind;

test('s3 objects: an object is created once, equal bytes are present, others leave it as it was (AUD-19)', async () => {
  await using store = await open('plain/once');
  assert.equal(await store.create(object('a/1.seg', 'one')), 'created');
  assert.equal(await store.create(object('a/1.seg', 'one')), 'present');
  await assert.rejects(store.create(object('a/1.seg', 'two')), fault('occupied'));
  await assert.rejects(store.create({ ...object('a/2.seg', 'two'), sha256: hash('sha256', 'other', 'buffer') }), fault('refused'));
  assert.equal((await store.read('a/1.seg', 3))?.toString(), 'one');
  await assert.rejects(store.read('a/1.seg', 2), fault('too-large'));
  assert.equal(await store.read('a/2.seg', 10), undefined);
  await assert.rejects(store.read('../plain/x', 10), fault('refused'));
});

test('s3 objects: an object put without a digest is compared by its bytes', async () => {
  await using store = await open('plain/foreign');
  await s3.putObject('plain', 'foreign/1.seg', 'theirs');
  assert.equal(await store.create(object('1.seg', 'theirs')), 'present');
  await assert.rejects(store.create(object('1.seg', 'Theirs')), fault('occupied'));
});

test('s3 objects: more names than one page holds are all listed, and only those below the folder', async () => {
  await using store = await open('plain/many');
  const names = Array.from({ length: 1_100 }, (_, index) => `d/${String(index).padStart(4, '0')} +ü`);
  for (let at = 0; at < names.length; at += 20) await Promise.all(names.slice(at, at + 20).map((name) => store.create(object(name, name))));
  await store.create(object('e/1', 'x'));
  const listed: string[] = [];
  for await (const { name, bytes } of store.list('d/')) {
    listed.push(name);
    assert.equal(bytes, Buffer.byteLength(name));
  }
  assert.deepEqual(listed, names);
});

test('s3 objects: with retention a version cannot be deleted before its time, and the probe has nothing to warn of', async () => {
  await using store = await open('locked/kept?retention=COMPLIANCE:2');
  assert.equal(await store.create(object('1.seg', 'kept')), 'created');
  const head = await s3.send({ method: 'HEAD', path: '/locked/kept/1.seg' });
  assert.equal(head.headers['x-amz-object-lock-mode'], 'COMPLIANCE');
  const untilMs = Date.parse(String(head.headers['x-amz-object-lock-retain-until-date'])) - Date.now();
  assert.ok(untilMs > 86_400_000 && untilMs <= 2 * 86_400_000 + 1_000, String(untilMs));
  const versionId = String(head.headers['x-amz-version-id']);
  assert.equal((await s3.send({ method: 'DELETE', path: '/locked/kept/1.seg', query: { versionId } })).status, 403);
  assert.deepEqual(await store.probe(), ['hideable']);
  assert.deepEqual(await store.probe(), ['hideable']);
});

test('s3 objects: a bucket that keeps what came first is taken, with a warning of what these credentials may do (AUD-18, AUD-20)', async () => {
  await using store = await open('plain/probed');
  assert.deepEqual(await store.probe(), ['overwritable', 'deletable']);
});

test('s3 objects: another replica that removes the probe between two requests does not make a store unsafe (AUD-18)', async () => {
  const address = parseStoreAddress(`s3://plain/together?endpoint=${s3.endpoint}`) as S3Address;
  const requests = s3Requests(address, { clock: systemClock, env: keysOf(s3) });
  for (const spoiled of [2, 5]) {
    let asked = 0;
    const ask: S3Requests['ask'] = async (asking, work, expected) => {
      asked += 1;
      if (asked === spoiled) await s3.send({ method: 'DELETE', path: '/plain/together/probe/created-once' });
      return requests.ask(asking, work, expected);
    };
    const found = await probeS3({ bucket: 'plain', prefix: 'together/', requests: { ...requests, ask }, lock: {} });
    assert.deepEqual(found, ['overwritable', 'deletable']);
  }
  requests.client.destroy();
});

test('s3 objects: a store that replaces objects is unsafe, on a put or at the end of a multipart upload (AUD-18)', async () => {
  for (const heedsPut of [false, true]) {
    await using server = await startCarelessS3({ heedsPut });
    await using store = await careless(server);
    await assert.rejects(store.probe(), fault('unsafe'));
    assert.equal(
      server.requests.some((line) => line.startsWith('POST')),
      heedsPut,
    );
  }
});

test('s3 objects: a store that keeps other bytes than it is given is unsafe', async () => {
  await using server = await startCarelessS3({ garbles: true });
  await using store = await careless(server);
  await assert.rejects(store.create(object('1.seg', 'bytes')), fault('unsafe'));
});

test('s3 objects: a redirect is refused and not followed', async () => {
  await using elsewhere = await startCarelessS3({});
  await using server = await startCarelessS3({ redirect: `${elsewhere.endpoint}/bucket/p/1.seg` });
  await using store = await careless(server);
  await assert.rejects(store.create(object('1.seg', 'bytes')), fault('refused'));
  await assert.rejects(store.read('1.seg', 10), fault('refused'));
  assert.deepEqual(elsewhere.requests, []);
});

test('s3 objects: an answer without an end is cut off', async () => {
  await using server = await startCarelessS3({ endless: true });
  await using store = await careless(server);
  await assert.rejects(store.read('1.seg', 100_000), fault('too-large'));
  await assert.rejects(async () => {
    for await (const _ of store.list('')) assert.fail('nothing was listed');
  }, fault('refused'));
});

test('s3 objects: whoever holds a permit puts exactly these bytes under exactly this name, once', async () => {
  await using store = await open('locked/permit?retention=GOVERNANCE:1');
  assert.ok(store.presign !== undefined);
  const { name, sha256 } = object('7.seg', 'hello');
  const permit = await store.presign({ name, sha256, bytes: 5 }, 60_000);
  assert.ok(permit.expiresMs > Date.now() && permit.expiresMs <= Date.now() + 60_000);
  const { 'content-length': length, ...headers } = permit.headers;
  assert.equal(length, '5');
  assert.deepEqual(Object.keys(headers).sort(), [
    'if-none-match',
    'x-amz-checksum-sha256',
    'x-amz-object-lock-mode',
    'x-amz-object-lock-retain-until-date',
  ]);
  const put = async (body: string, sent: Record<string, string> = headers, url = permit.url) => {
    const answer = await request(url, { method: 'PUT', headers: sent, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  for (const left of Object.keys(headers))
    assert.equal(await put('hello', Object.fromEntries(Object.entries(headers).filter(([header]) => header !== left))), 403, left);
  assert.equal(await put('hello!'), 403);
  assert.equal(await put('hellO'), 400);
  assert.equal(await put('hello', headers, permit.url.replace('7.seg', '8.seg')), 403);
  assert.equal(await put('hello'), 200);
  assert.equal(await put('hello'), 412);
  assert.equal(await store.create(object('7.seg', 'hello')), 'present');
});

test('s3 objects: credentials come from the environment or one named file that may change, and from nowhere else', async () => {
  await assert.rejects(open('plain/x', {}), fault('refused'));
  await assert.rejects(openStore(parseStoreAddress('s3://plain/x'), { clock: systemClock, env: keysOf(s3) }), fault('refused'));
  const folder = mkdtempSync(join(tmpdir(), 'postern-s3-'));
  try {
    const path = join(folder, 'credentials');
    const env = { AWS_SHARED_CREDENTIALS_FILE: path, AWS_PROFILE: 'audit' };
    const { accessKeyId, secretAccessKey } = s3;
    await using store = await open('plain/file', env);
    await assert.rejects(store.read('x', 1), fault('unavailable'));
    writeFileSync(
      path,
      `[default]\naws_access_key_id = x\n[audit]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key=${secretAccessKey}\n`,
    );
    assert.equal(await store.create(object('1', 'one')), 'created');
    await using stranger = await open('plain/file', { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: 'wrong' });
    await assert.rejects(
      stranger.create(object('2', 'two')),
      (error: unknown) => fault('refused')(error) && !String(error).includes('wrong'),
    );
    await using nowhere = await open('no-such-bucket/file');
    await assert.rejects(nowhere.read('2', 10), fault('refused'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
