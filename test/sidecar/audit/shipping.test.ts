/** Shipping to a real S3 server (SeaweedFS), over lines and through deaths as they come. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { type OpenStore, openStore } from '#core/runtime/open-store.ts';
import { createOwnSink } from '#sidecar/audit/own-sink.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper } from '#sidecar/audit/shipper.ts';
import { startBadLine } from '#test/fakes/bad-line.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { MemorySegments } from './memory-segments.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-shipping-'));
const BEGAN_MS = Date.UTC(2026, 10, 30, 12);
let s3: Seaweedfs;
before(async () => {
  s3 = await startSeaweedfs();
  // Versions show whether anything was written twice.
  const locked = { method: 'PUT', path: '/audit', headers: { 'x-amz-bucket-object-lock-enabled': 'true' } };
  assert.equal((await s3.send(locked)).status, 200);
});
after(async () => {
  await s3[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const originOf = (session: string) => `postern.dev/audit/standalone/local/${session}`;
const folderOf = (session: string) => `standalone/local/2026-11-30/${session}/`;
const envOf = () => ({ AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey });
const addressAt = (endpoint: string) => `s3://audit/?endpoint=${endpoint}`;
const storeAt = (endpoint: string) => openStore(parseStoreAddress(addressAt(endpoint)), { clock: systemClock, env: envOf() });

async function shipperOf(session: string, store: OpenStore) {
  const segments = new MemorySegments();
  const poison: string[] = [];
  const list = await openShippedList(join(home, `${session}.jsonl`), originOf(session));
  const shipper = new Shipper({
    segments,
    sink: createOwnSink(store, originOf(session)),
    list,
    origin: originOf(session),
    clock: systemClock,
    onPoison: ({ number }, kind) => poison.push(`${kind} ${number}`),
  });
  return { segments, shipper, poison };
}

async function until(done: () => boolean): Promise<void> {
  for (let tries = 0; !done(); tries += 1) {
    assert.ok(tries < 6_000, 'it happened');
    await sleep(20);
  }
}

/** Every version of every object of a session, as `name`. */
async function versions(session: string): Promise<string[]> {
  const { body } = await s3.send({ method: 'GET', path: '/audit', query: { versions: '', prefix: folderOf(session) } });
  return [...body.matchAll(/<Version>.*?<Key>(.*?)<\/Key>/gs)].map(([, key = '']) => key.slice(folderOf(session).length)).sort();
}

const textOf = async (store: OpenStore, session: string, name: string) =>
  (await store.read(`${folderOf(session)}${name}`, 20_000_000))?.toString();

test('shipping: a store that is stopped and started again gets everything that was closed meanwhile', async () => {
  await using store = await storeAt(s3.endpoint);
  const { segments, shipper, poison } = await shipperOf('outage', store);
  shipper.start();
  segments.close('one', BEGAN_MS);
  await until(() => segments.givenBack.length === 1);
  await s3.stop();
  segments.close('two', BEGAN_MS);
  segments.close('three', BEGAN_MS);
  await until(() => shipper.facts.fault === 'unavailable');
  assert.deepEqual(segments.givenBack, [1]);
  await s3.start();
  await until(() => segments.givenBack.length === 3);
  assert.deepEqual(await shipper.end(30_000), { shipped: true, manifest: true });
  assert.deepEqual(await versions('outage'), ['0000000001.seg', '0000000002.seg', '0000000003.seg', 'manifest-0000000000000030.json']);
  assert.equal(await textOf(store, 'outage', '0000000002.seg'), 'two');
  assert.deepEqual(poison, []);
});

test('shipping: over a slow line a segment of full size gets there', async () => {
  await using line = await startBadLine(s3.endpoint);
  line.chunkBytes = 4_096;
  await using store = await storeAt(line.endpoint);
  const { segments, shipper } = await shipperOf('slow', store);
  const text = 'x'.repeat(4 * 1024 * 1024);
  segments.close(text, BEGAN_MS);
  shipper.start();
  await until(() => segments.givenBack.length === 1);
  await shipper.stop();
  assert.equal(await textOf(store, 'slow', '0000000001.seg'), text);
});

test('shipping: a connection that is cut after the store said yes leads to one object and no alarm (AUD-19)', async () => {
  await using line = await startBadLine(s3.endpoint);
  await using store = await storeAt(line.endpoint);
  const { segments, shipper, poison } = await shipperOf('cut', store);
  line.cuts = { answer: 'HTTP/1.1 200', times: 2 };
  segments.close('one', BEGAN_MS);
  segments.close('two', BEGAN_MS);
  shipper.start();
  await until(() => segments.givenBack.length === 2);
  await shipper.stop();
  assert.equal(line.cuts.times, 0);
  assert.deepEqual(poison, []);
  assert.deepEqual(await versions('cut'), ['0000000001.seg', '0000000002.seg']);
});

test('shipping: a name that has other bytes keeps them, the segment stays here, and the next one goes on (AUD-19)', async () => {
  await using store = await storeAt(s3.endpoint);
  await s3.putObject('audit', `${folderOf('occupied')}0000000001.seg`, 'theirs');
  const { segments, shipper, poison } = await shipperOf('occupied', store);
  segments.close('ours!!', BEGAN_MS);
  segments.close('two', BEGAN_MS);
  shipper.start();
  await until(() => segments.givenBack.length === 1);
  assert.deepEqual([segments.givenBack, poison], [[2], ['occupied 1']]);
  assert.deepEqual(
    segments.closed().map(({ number }) => number),
    [1],
  );
  assert.equal(await textOf(store, 'occupied', '0000000001.seg'), 'theirs');
  assert.deepEqual(await shipper.end(30_000), { shipped: true, manifest: true });
});

test('shipping: SIGKILL between upload and bookkeeping, each time, leads to each object once, in one folder, with the bookkeeping lost too', async () => {
  const folder = join(home, 'killed');
  mkdirSync(folder);
  for (let number = 1; number <= 5; number += 1) writeFileSync(join(folder, `${number}.seg`), `segment ${number}`);
  const program = join(import.meta.dirname, 'shipping-process.ts');
  const run = (kill: number) =>
    spawnSync(process.execPath, [program, folder, addressAt(s3.endpoint), originOf('killed'), String(kill)], {
      encoding: 'utf8',
      env: { ...envOf(), AWS_CA_BUNDLE: '' },
    });
  for (const kill of [1, 2, 1, 2]) {
    const { signal, stderr, stdout } = run(kill);
    assert.equal(signal, 'SIGKILL', `${stdout}${stderr}`);
  }
  assert.ok(readFileSync(join(folder, 'shipped.jsonl'), 'utf8').includes('began_ms'));
  rmSync(join(folder, 'shipped.jsonl'));
  const last = run(0);
  assert.equal(last.stdout, '{"shipped":true,"manifest":true}\n', last.stderr);
  assert.deepEqual(readdirSync(folder), ['shipped.jsonl']);
  const segments = Array.from({ length: 5 }, (_, index) => `000000000${index + 1}.seg`);
  assert.deepEqual(await versions('killed'), [...segments, 'manifest-0000000000000050.json']);
  await using store = await storeAt(s3.endpoint);
  for (const [index, name] of segments.entries()) assert.equal(await textOf(store, 'killed', name), `segment ${index + 1}`);
});

test('shipping: in a bucket with a default retention segments are kept, and no version can be deleted', async () => {
  const rule =
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>';
  const made = { method: 'PUT', path: '/retained', headers: { 'x-amz-bucket-object-lock-enabled': 'true' } };
  assert.equal((await s3.send(made)).status, 200);
  const ruled = await s3.send({ method: 'PUT', path: '/retained', query: { 'object-lock': '' }, body: rule });
  assert.equal(ruled.status, 200, ruled.body);
  await using store = await openStore(parseStoreAddress(`s3://retained/p?endpoint=${s3.endpoint}`), { clock: systemClock, env: envOf() });
  const { segments, shipper } = await shipperOf('retained', store);
  segments.close('one', BEGAN_MS);
  shipper.start();
  await until(() => segments.givenBack.length === 1);
  await shipper.stop();
  const path = `/retained/p/${folderOf('retained')}0000000001.seg`;
  const head = await s3.send({ method: 'HEAD', path });
  assert.equal(head.headers['x-amz-object-lock-mode'], 'COMPLIANCE');
  const versionId = String(head.headers['x-amz-version-id']);
  assert.equal((await s3.send({ method: 'DELETE', path, query: { versionId } })).status, 403);
});
