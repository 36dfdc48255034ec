/**
 * The audit of a controlled sidecar from its terms to what is in the bucket: the whole sidecar, a real control stream, the operator's real
 * exchange, a real S3 server. What counts is what a stranger finds in the store afterwards.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chainFolder } from '#core/audit/object-name.ts';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { type ChainVerdict, ChainVerifier } from '#core/audit/verify.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { type OpenStore, openStore } from '#core/runtime/open-store.ts';
import { knownHead } from '#operator/control/audit-status.ts';
import { StoreWatch, type WitnessStore } from '#operator/witness/store-watch.ts';
import { bundleOf, pinOfPem, replicaCertificate } from '#test/fakes/operator.ts';
import { unavailable } from '#test/servers/build.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { makeIdentity } from '#test/sidecar/audit/chain-stage.ts';
import { FREE, READ_NOTE } from '#test/sidecar/call/effect-rig.ts';
import { type AuditedOperator, CLUSTER, POD_UID, startAuditedOperator } from './audited-operator.ts';
import { contractFile } from './contract-file.ts';
import { type ControlledStage, eventually, startControlledStage } from './controlled-stage.ts';
import { sendJson, startUpstream, type Upstream } from './stage.ts';

const skip = await unavailable('weed');
const CANARY = 'canary of the audit flow';
const TOKEN = 'flow-token-of-the-audit-0123';
const NOTE = { id: 'one', text: CANARY };

let s3: Seaweedfs;
before(async () => {
  if (skip !== false) return;
  s3 = await startSeaweedfs();
  // One for all: the server makes room for a few buckets.
  await s3.createBucket('flow');
});
after(async () => {
  if (skip === false) await s3[Symbol.asyncDispose]();
});

interface Scene extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly store: OpenStore;
  readonly watch: StoreWatch;
  readonly directory: string;
  operator(more?: Partial<Parameters<typeof startAuditedOperator>[0]>): Promise<AuditedOperator>;
  sidecar(port: number): Promise<ControlledStage>;
  effects(): number;
}

let scenes = 0;

async function makeScene(): Promise<Scene> {
  scenes += 1;
  const store = await openStore(parseStoreAddress(`s3://flow/scene-${scenes}?endpoint=${s3.endpoint}`), {
    clock: systemClock,
    env: { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey },
  });
  const watch = new StoreWatch({ store: store as WitnessStore, clock: systemClock });
  await watch.probe();
  assert.equal(watch.state, 'safe');
  const authority = await createAuthority();
  const certificate = await replicaCertificate(authority);
  const upstream = await startUpstream((_, response) => sendJson(response, 200, { id: 'one', state: 'open' }));
  const yaml = contractFile({ 'put-note': FREE, 'read-note': READ_NOTE }).replaceAll(/\bUPSTREAM\b/g, `http://127.0.0.1:${upstream.port}`);
  const directory = mkdtempSync(join(tmpdir(), 'postern-audit-flow-'));
  const recipients = [makeIdentity().recipient];
  return {
    upstream,
    store,
    watch,
    directory,
    operator: (more = {}) => startAuditedOperator({ certificate, bundle: bundleOf(yaml), recipients, watch, ...more }),
    sidecar: async (port) => {
      const stage = await startControlledStage({
        port,
        pin: pinOfPem(authority.caPem),
        credentials: { 'postern-flow/token': TOKEN },
        directory,
      });
      await stage.until('read_note', 'OK', { id: 'one' });
      return stage;
    },
    effects: () => upstream.requests.filter(({ method }) => method === 'POST').length,
    [Symbol.asyncDispose]: async () => {
      await upstream[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface InStore {
  readonly names: readonly string[];
  readonly verdict: ChainVerdict;
  /** Kinds of all records, in order. */
  readonly kinds: readonly string[];
  readonly bytes: Buffer;
}

async function inStore({ store }: Scene, { key, session, status }: AuditedOperator): Promise<InStore> {
  const folder = chainFolder({ cluster: CLUSTER, namespace: 'flow', session: POD_UID, beganMs: session.createdMs });
  const names: string[] = [];
  for await (const { name } of store.list('')) names.push(name);
  const known = knownHead(status);
  const origin = status.audit?.origin ?? '';
  const kinds: string[] = [];
  const verifier = new ChainVerifier({
    keys: [key],
    heads: known === undefined ? [] : [{ many: false, heads: [{ origin, ...known }] }],
    onFrame: ({ heads }) => kinds.push(...heads.map(({ kind }) => kind)),
  });
  const all: Buffer[] = [];
  for (const name of names.sort()) {
    const bytes = (await store.read(name, limits.auditSegmentFileBytesMax)) ?? Buffer.alloc(0);
    all.push(bytes);
    if (!name.startsWith(folder) || !name.endsWith('.seg')) continue;
    verifier.begin(bytes.length);
    verifier.push(bytes);
    verifier.end();
  }
  const inFolder = names.filter((name) => name.startsWith(folder)).map((name) => name.slice(folder.length));
  return { names: inFolder, verdict: verifier.verdict(), kinds, bytes: Buffer.concat(all) };
}

/** Everything below a folder, as one. */
function onDisk(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

const segmentsOf = (names: readonly string[]) => names.filter((name) => name.endsWith('.seg'));

test('audit in a cluster: a session is recorded, witnessed, shipped, and verified by a stranger after it has ended', { skip }, async () => {
  await using scene = await makeScene();
  await using operator = await scene.operator();
  await using stage = await scene.sidecar(operator.fake.port);
  assert.equal(await stage.code('put_note', NOTE), 'OK');
  const kept = await inStore(scene, operator);
  assert.equal(kept.names.filter((name) => name.startsWith('intents/')).length, 1);
  assert.equal(scene.effects(), 1);
  await eventually(async () => knownHead(operator.status) !== undefined, 'a head to be witnessed');
  const { audit } = operator.status;
  assert.deepEqual([audit?.mode, audit?.effects, audit?.epoch], ['Shipped', 'Acknowledged', 1]);
  assert.equal(onDisk(join(scene.directory, 'state', 'audit')).includes(CANARY), false);
  await stage.stop();

  const { names, verdict, kinds, bytes } = await inStore(scene, operator);
  assert.ok(verdict.good, JSON.stringify(verdict));
  assert.equal(verdict.tail.is, 'complete');
  assert.ok(verdict.ended);
  for (const kind of ['session', 'intent', 'outcome', 'certificate', 'checkpoint', 'receipt', 'end']) assert.ok(kinds.includes(kind), kind);
  assert.equal(names.filter((name) => name.startsWith('manifest-')).length, 1);
  assert.equal(operator.status.audit?.shippedSequence, verdict.lastSequence);
  // Nothing that was said, and no credential, can be read without the identity.
  for (const secret of [CANARY, TOKEN]) assert.equal(bytes.includes(secret), false);
});

test('audit in a cluster: other recipients begin a segment, and the one before is shipped at once (AUD-21)', { skip }, async () => {
  await using scene = await makeScene();
  const first = await scene.operator();
  await using stage = await scene.sidecar(first.fake.port);
  const { port } = first.fake;
  await first[Symbol.asyncDispose]();
  await using operator = await scene.operator({ port, before: first, recipients: [makeIdentity().recipient, makeIdentity().recipient] });
  await operator.fake.stream(0);
  await eventually(async () => (operator.status.audit?.shippedSegments ?? 0) >= 1, 'the first segment to be shipped');
  await stage.until('read_note', 'OK', { id: 'one' });
  await stage.stop();
  const { verdict, names } = await inStore(scene, operator);
  assert.ok(verdict.good, JSON.stringify(verdict));
  assert.equal(verdict.recipientChanges.count, 1);
  assert.ok(segmentsOf(names).length >= 2);
});

test('audit in a cluster: while the operator is away reads are recorded, effects are not sent, and a restart goes on', {
  skip,
}, async () => {
  await using scene = await makeScene();
  const first = await scene.operator();
  const { port } = first.fake;
  await using one = await scene.sidecar(port);
  await first[Symbol.asyncDispose]();
  await one.logged('control stream ended');
  assert.equal(await one.code('read_note', { id: 'one' }), 'OK');
  assert.notEqual(await one.code('put_note', NOTE), 'OK');
  assert.equal(scene.effects(), 0);
  await one.stop();
  assert.equal(segmentsOf((await inStore(scene, first)).names).length, 0);

  await using two = await scene.sidecar(port);
  assert.equal(await two.code('read_note', { id: 'one' }), 'OK');
  const unshipped = (await two.metric('postern_audit_unshipped_bytes')) ?? 0;
  assert.ok(unshipped > 0);
  await using operator = await scene.operator({ port, before: first });
  await operator.fake.stream(0);
  await eventually(async () => (operator.status.audit?.shippedSegments ?? 0) >= 1, 'what was written meanwhile to be shipped');
  await two.until('put_note', 'OK', NOTE);
  await two.stop();
  const { verdict, kinds } = await inStore(scene, operator);
  assert.ok(verdict.good, JSON.stringify(verdict));
  assert.equal(verdict.tail.is, 'complete');
  // Of the reads that were answered: by both processes, with and without an operator.
  assert.ok(kinds.filter((kind) => kind === 'intent').length >= 5);
});

test('audit in a cluster: an intent that nobody keeps is AUDIT_UNAVAILABLE, and nothing is sent', { skip }, async () => {
  await using scene = await makeScene();
  const unprobed = new StoreWatch({ store: scene.store as WitnessStore, clock: systemClock });
  await using operator = await scene.operator({ watch: unprobed });
  await using stage = await scene.sidecar(operator.fake.port);
  const error = await stage.refused('put_note', NOTE);
  assert.equal(error.reason, 'AUDIT_UNAVAILABLE');
  assert.equal(scene.effects(), 0);
  assert.equal(await stage.code('read_note', { id: 'one' }), 'OK');
  await unprobed.probe();
  await stage.until('put_note', 'OK', NOTE);
  assert.equal(scene.effects(), 1);
});
