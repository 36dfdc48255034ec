/**
 * Goal: a bucket of a real S3 server, listed with signed requests and XML. Method: 2,500 keys put there; what comes back is
 * compared with what was put.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stage, startStage } from '#test/flow/stage.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { startTlsFront, type TlsFront } from '#test/servers/tls-front.ts';
import { rowsOf, walkAll } from './walk-all.ts';

const COUNT = 2500;
const skip = await unavailable('weed');

const keys = Array.from({ length: COUNT }, (_, index) => `many/log-${String(index).padStart(4, '0')}`);
/** Prefixes whose every letter has a meaning somewhere between us and the server. */
const ODD = ['a b', 'a+b', 'a%20b', 'grün/straße', 'a&b=c', "it's (one)*!", '日本 語', 'tilde~', 'q?x#y'];

let s3: Seaweedfs;
let front: TlsFront;
let stage: Stage;

before(async () => {
  if (skip !== false) return;
  s3 = await startSeaweedfs();
  front = await startTlsFront({ target: s3.endpoint });
  await s3.createBucket('archive');
  await putInParallel([...keys, ...ODD.flatMap((prefix) => [`${prefix}/1`, `${prefix}/2`])]);
  stage = await startStage({
    contracts: [
      binding('archive', 'postern-archive', 'list-keys, list-in-parts, list-absent, list-trees'),
      binding('plain', 'postern-archive', 'list-plainly', s3.endpoint),
      binding('wrong', 'postern-wrong', 'list-wrongly'),
      listKeys('list-keys', 'archive', { limits: '{pages: 10, items: 5000, time: 30s, pageSize: 1000}' }),
      listKeys('list-in-parts', 'archive', { limits: '{pages: 4, items: 777, time: 30s, pageSize: 200}' }),
      listKeys('list-absent', 'archive', { bucket: 'not-there' }),
      listKeys('list-trees', 'archive', { bucket: 'trees', limits: '{pages: 10, items: 5000, time: 30s, pageSize: 2}' }),
      listKeys('list-plainly', 'plain', { origin: s3.endpoint }),
      listKeys('list-wrongly', 'wrong', {}),
    ].join('\n---\n'),
    upstreamPort: 0,
    credentials: {
      'postern-archive/id': s3.accessKeyId,
      'postern-archive/key': s3.secretAccessKey,
      'postern-archive/ca.crt': front.caPem,
      'postern-wrong/id': s3.accessKeyId,
      'postern-wrong/key': 'f'.repeat(s3.secretAccessKey.length),
      'postern-wrong/ca.crt': front.caPem,
    },
  });
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await front?.[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
});

async function putInParallel(all: readonly string[]): Promise<void> {
  const left = all.values();
  const worker = async () => {
    for (const key of left) await s3.putObject('archive', key, '.');
  };
  await Promise.all(Array.from({ length: 24 }, worker));
}

function binding(name: string, secret: string, granted: string, plain?: string): string {
  const place = plain === undefined ? `origin: "${front.url}", ca: {key: ca.crt}` : `origin: "${plain}", transport: Plaintext`;
  return `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: ${name}, namespace: real}
spec:
  owner: storage-platform
  secret: {name: ${secret}}
  contracts: [${granted}]
  destinations: [{${place}, methods: [GET], addresses: [127.0.0.1/32], signing: {service: s3, region: us-east-1}}]
  use: {awsSigV4: {accessKeyIdKey: id, secretAccessKeyKey: key}}`;
}

interface Parts {
  readonly origin?: string;
  readonly bucket?: string;
  readonly limits?: string;
}

function listKeys(name: string, credential: string, parts: Parts): string {
  const { origin = front.url, bucket = 'archive', limits = '{pages: 10, items: 5000, time: 30s, pageSize: 1000}' } = parts;
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: real}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: List archived files
  owner: sre
  effect: Read
  callers: [{serviceAccount: sre-bot}]
  credentials: [${credential}]
  arguments: {type: object, additionalProperties: false, properties: {prefix: {type: string, minLength: 1, maxLength: 60}}}
  http: {credential: ${credential}, method: GET, url: "${origin}/${bucket}", query: {prefix: "$(args.prefix)"}}
  result: {as: objects, fields: [{name: key, path: /Key}, {name: size, path: /Size}]}
  completeness:
    preset: s3-v1
    limits: ${limits}
    scope: {resource: archived files, visibility: one bucket, absence: Provable}
  warnings: [{name: rolled-up, code: DEFAULT_SCOPE_APPLIED, owner: storage-platform, expires: "2027-06-30", message: Grouped keys}]`;
}

function keysIn(rows: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  return rows.map(({ key }) => key);
}

test('s3: 2,500 keys in pages are complete, in order, checked', { skip }, async () => {
  const answer = await stage.call('list_keys', { prefix: 'many/' });
  assert.deepEqual(keysIn(rowsOf(answer)), keys);
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.completeness.scope.consistency, 'checked');
  assert.equal(answer.completeness.page.walk.pages, 3);
});

test('s3: the same over plain HTTP to a literal address', { skip }, async () => {
  const answer = await stage.call('list_plainly', { prefix: 'many/' });
  assert.deepEqual(keysIn(rowsOf(answer)), keys);
});

test('s3: the walk in several calls, cut by items and pages, is the same', { skip }, async () => {
  const { rows, answers, last } = await walkAll(stage, 'list_in_parts', { prefix: 'many/' });
  assert.deepEqual(keysIn(rows), keys);
  assert(answers.length > 3);
  assert.equal(last.completeness.complete, true);
});

test('s3: the whole bucket holds the odd keys too', { skip }, async () => {
  const { rows, last } = await walkAll(stage, 'list_in_parts');
  const all = [...keys, ...ODD.flatMap((prefix) => [`${prefix}/1`, `${prefix}/2`])];
  assert.deepEqual(
    keysIn(rows),
    all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  assert.equal(last.completeness.complete, true);
});

test('s3: a page that ends between a folder and a longer name goes on in the order of keys', { skip }, async () => {
  await s3.createBucket('trees');
  await Promise.all(['tree/1', 'tree-top', 'tree/2'].map((key) => s3.putObject('trees', key, '.')));
  const answer = await stage.call('list_trees');
  assert.deepEqual(keysIn(rowsOf(answer)), ['tree-top', 'tree/1', 'tree/2']);
  assert.equal(answer.completeness.page.walk.pages, 2);
  assert.equal(answer.completeness.complete, true);
});

for (const prefix of ODD) {
  test(`s3: the prefix ${JSON.stringify(prefix)} finds exactly its keys, signed as it was sent`, { skip }, async () => {
    const answer = await stage.call('list_keys', { prefix });
    assert.deepEqual(keysIn(rowsOf(answer)), [`${prefix}/1`, `${prefix}/2`]);
    assert.equal(answer.completeness.complete, true);
  });
}

test('s3: a prefix of nothing is complete and empty', { skip }, async () => {
  const answer = await stage.call('list_keys', { prefix: 'nobody/was/here' });
  assert.deepEqual(answer.data, { objects: [] });
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.completeness.scope.absence, 'provable');
});

test('s3: a wrong secret key is denied, and a bucket that is not there is named so', { skip }, async () => {
  assert.equal((await stage.refused('list_wrongly', { prefix: 'many/' })).reason, 'REMOTE_DENIED');
  assert.equal((await stage.refused('list_absent')).reason, 'REMOTE_NOT_FOUND');
});
