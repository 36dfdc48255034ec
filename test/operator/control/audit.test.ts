/** The operator's end of the audit: a real API server for sessions, a real S3 server for segments and intents. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { encodeFrame, originHash } from '#core/audit/frame.ts';
import { StoreFault } from '#core/audit/object-store.ts';
import { cosignedAt, isSignedBy, makeSigningKey, parseNote, type SigningKey, verifierText } from '#core/audit/signed-note.ts';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { createS3Objects } from '#core/runtime/s3-objects.ts';
import type { AuditObserver, AuditOptions } from '#operator/control/audit-means.ts';
import { StoreWatch, type WitnessStore } from '#operator/witness/store-watch.ts';
import { AuditObject } from '#proto/postern/control/v1/control_pb.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { Chain, digest, intentFrame, put } from './audit-chain.ts';
import { type Agent, ControlRig, type Replica } from './control-rig.ts';
import { until } from './test-sidecar.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'weed');
const authority = makeSigningKey('postern.dev/authority/cluster');
const recipient = `age1${'q'.repeat(58)}`;
const told: string[] = [];
let rig: ControlRig;
let s3: Seaweedfs;
let watch: StoreWatch;
let one: Replica;
let two: Replica;

before(
  async () => {
    if (skip !== false) return;
    [rig, s3] = await Promise.all([ControlRig.start(), startSeaweedfs()]);
    await s3.createBucket('audit');
    watch = new StoreWatch({ store: storeAt('audit'), clock: systemClock });
    await watch.probe();
    [one, two] = [await rig.replica({ audit: options() }), await rig.replica({ audit: options() })];
    await rig.namespace('agents');
    await rig.account('agents', 'bot');
  },
  { timeout: 180_000 },
);
after(async () => {
  await watch?.store[Symbol.asyncDispose]();
  await rig?.[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
});

const observer: AuditObserver = {
  conflict: (_, kind, known, shown) => told.push(`${kind}: ${known} ${shown}`),
  refused: (what, because) => told.push(`${what} ${because}`),
};

function storeAt(bucket: string): WitnessStore {
  const address = parseStoreAddress(`s3://${bucket}/postern?region=${s3.region}&endpoint=${encodeURIComponent(s3.endpoint)}`);
  assert.ok(address.kind === 's3');
  const env = { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey };
  return createS3Objects(address, { clock: systemClock, env });
}

function options(change: Partial<AuditOptions> = {}): AuditOptions {
  const terms = { recipients: [recipient], effects: 'Acknowledged' } as const;
  return { clock: systemClock, cluster: 'cluster', terms, watch, authority: () => authority, observer, ...change };
}

const statusOf = async (agent: Agent) => (await rig.session(agent)).status;
const chainOf = (agent: Agent, replica: Replica, key?: SigningKey) => new Chain(rig, agent, replica, key);

test('audit: the terms come before the first bundle, and the session says how it is recorded', { skip }, async () => {
  const agent = await rig.pod('agents', 'terms', 'bot');
  const { sidecar, origin } = chainOf(agent, one);
  await until(() => sidecar.bundles > 0);
  const kinds = sidecar.messages.map(({ case: kind }) => kind);
  assert.ok(kinds.indexOf('auditSettings') > -1 && kinds.indexOf('auditSettings') < kinds.indexOf('bundle'), kinds.join());
  assert.ok(kinds.indexOf('auditSettings') < kinds.indexOf('requester'), kinds.join());
  const settings = sidecar.messages.find((message) => message.case === 'auditSettings')?.value;
  assert.deepEqual(settings?.recipients, [recipient]);
  assert.equal(settings?.origin, origin);
  assert.ok(settings?.shipped && settings.keepsIntents);
  await until(async () => (await statusOf(agent))?.audit?.mode === 'Shipped');
  const { audit, conditions = [] } = (await statusOf(agent)) ?? {};
  assert.equal(audit?.origin, origin);
  assert.equal(audit?.effects, 'Acknowledged');
  assert.equal(audit?.key, verifierText(authority));
  assert.deepEqual(audit?.recipients, [`sha256:${hash('sha256', recipient)}`]);
  assert.equal(conditions.find(({ type }) => type === 'Audited')?.reason, 'Shipped');
});

test('audit: a sidecar of protocol 2 gets no audit, which its session says; its audit messages end the stream', { skip }, async () => {
  const agent = await rig.pod('agents', 'older', 'bot');
  const sidecar = rig.sidecar(one, agent, { protocols: [1, 2] });
  await until(() => sidecar.bundles > 0);
  assert.ok(!sidecar.messages.some(({ case: kind }) => kind === 'auditSettings'));
  await until(async () => (await statusOf(agent))?.conditions?.find(({ type }) => type === 'Audited')?.reason === 'SidecarTooOld');
  assert.equal((await statusOf(agent))?.audit?.mode, 'Off');
  sidecar.send({ case: 'auditHead', value: { checkpoint: '' } });
  assert.equal(await sidecar.ended, 'PROTOCOL_BROKEN');
});

test('audit: without recipients nothing is recorded, and terms and session say so', { skip }, async () => {
  const replica = await rig.replica({ audit: options({ terms: { recipients: [], effects: 'Acknowledged' }, watch: undefined }) });
  const agent = await rig.pod('agents', 'off', 'bot');
  const { sidecar } = chainOf(agent, replica);
  await until(() => sidecar.messages.some((message) => message.case === 'auditSettings' && message.value.recipients.length === 0));
  await until(async () => (await statusOf(agent))?.conditions?.find(({ type }) => type === 'Audited')?.reason === 'NoRecipients');
});

test('audit: a certified key stands in the session before its sidecar is told, so another replica refuses a second one (AUD-04)', {
  skip,
}, async () => {
  const agent = await rig.pod('agents', 'epochs', 'bot');
  const chain = chainOf(agent, one);
  const { note } = await chain.certify();
  const parsed = parseNote(note);
  assert.ok(parsed && isSignedBy(parsed, authority));
  const { epoch, epochKey } = (await statusOf(agent))?.audit ?? {};
  assert.deepEqual({ epoch, epochKey }, { epoch: 1, epochKey: verifierText(chain.key) });
  assert.equal((await chain.certify()).note, note);
  await until(() => two.cluster.sessions.by('pod', agent.uid)[0]?.status?.audit?.epoch === 1);
  const taken = chainOf(agent, two);
  assert.match((await taken.certify()).refused ?? '', /is certified with another key/);
  assert.equal((await taken.certify(1, chain.key)).note, note);
});

test('audit: a head is witnessed, and the next replica goes on from it: a shorter chain there is a rollback (AUD-03, AUD-24)', {
  skip,
}, async () => {
  const agent = await rig.pod('agents', 'heads', 'bot');
  const mine = await rig.replica({ audit: options() });
  const chain = chainOf(agent, mine);
  await chain.certify();
  const parsed = parseNote((await chain.show(7, 'seven')).note);
  assert.ok(parsed && cosignedAt(parsed, authority) !== undefined);
  // The replica stops: its last head is written although its turn had not come.
  await mine.stop();
  assert.deepEqual((await statusOf(agent))?.head, { sequence: 7, hash: `sha256:${digest('seven').toString('hex')}` });
  await until(() => two.cluster.sessions.by('pod', agent.uid)[0]?.status?.head?.sequence === 7);
  const over = chainOf(agent, two, chain.key);
  assert.notEqual((await over.show(7, 'seven')).note, '', 'the same head again is no conflict');
  const answer = await over.show(6, 'six');
  assert.equal(answer.note, '');
  assert.equal(answer.known, `7 sha256:${digest('seven').toString('hex')}`);
  await until(
    async () => (await statusOf(agent))?.conditions?.some(({ type, reason }) => type === 'AuditBroken' && reason === 'Rollback') === true,
  );
  const conflict = (await statusOf(agent))?.audit?.conflict;
  assert.equal(conflict?.known, answer.known);
  assert.equal(conflict?.shown, `6 sha256:${digest('six').toString('hex')}`);
  assert.ok(conflict?.note && isSignedBy(parseNote(conflict.note) ?? assert.fail(), chain.key));
  assert.equal((await over.show(8, 'eight')).note, '', 'nothing of a broken chain is witnessed any more');
  assert.deepEqual(
    told.filter((line) => line.startsWith('rollback')),
    [`rollback: ${conflict.known} ${conflict.shown}`],
  );
});

test('audit: two hashes of one size are a fork, told with both, and the session goes on (AUD-24)', { skip }, async () => {
  const agent = await rig.pod('agents', 'fork', 'bot');
  const chain = chainOf(agent, one);
  await chain.certify();
  await chain.show(5, 'five');
  assert.match((await chain.show(5, 'other')).known, /^5 sha256:/);
  await until(async () => (await statusOf(agent))?.audit?.conflict?.kind === 'Fork');
  assert.ok(told.includes(`fork: 5 sha256:${digest('five').toString('hex')} 5 sha256:${digest('other').toString('hex')}`));
  assert.ok(!chain.sidecar.over);
  const leader = rig.lead(one);
  await until(() => leader.told.some((event) => event.startsWith('AuditBroken fork-')), 'an Event');
  await leader.stop();
  assert.notEqual((await statusOf(agent))?.state, 'Suspended');
});

test('audit: an intent is in the store before it is acknowledged, once for each sequence', { skip }, async () => {
  const agent = await rig.pod('agents', 'intents', 'bot');
  const chain = chainOf(agent, one);
  const frame = intentFrame(chain, 4);
  assert.equal(await chain.keep(4, frame), undefined);
  const folder = await folderOf(agent);
  assert.deepEqual(await watch.store.read(`${folder}intents/0000000000000004.frame`, 100_000), Buffer.from(frame));
  assert.equal(await chain.keep(4, frame), undefined, 'said again, such as after a lost answer');
  const other = Buffer.from(intentFrame(chainOf(await rig.pod('agents', 'intents-2', 'bot'), one), 4));
  assert.match((await chain.keep(4, other)) ?? '', /did not take the intent/);
  assert.deepEqual(await watch.store.read(`${folder}intents/0000000000000004.frame`, 100_000), Buffer.from(frame));
});

test('audit: what is no sealed intent is not kept', { skip }, async () => {
  const chain = chainOf(await rig.pod('agents', 'no-intents', 'bot'), one);
  const frame = Buffer.from(intentFrame(chain, 4));
  const flipped = Buffer.from(frame);
  flipped[100] = (flipped[100] ?? 0) ^ 1;
  const start = { sequence: 4, epoch: 1, timeMs: 0, previous: originHash(chain.origin) };
  const outcome = encodeFrame(start, { form: 'sealed', heads: [{ kind: 'outcome' }], body: Buffer.from('x') }).bytes;
  for (const [sequence, bytes, because] of [
    [5, frame, /another sequence/],
    [4, flipped, /no frame/],
    [4, Buffer.concat([frame, frame]), /behind the frame/],
    [4, frame.subarray(0, 40), /no frame/],
    [4, outcome, /no sealed intent/],
  ] as const)
    assert.match((await chain.keep(sequence, bytes)) ?? '', because);
  assert.ok(!chain.sidecar.over);
});

test('audit: segments go up one by one by permits, and count once the store has them (AUD-19)', { skip }, async () => {
  const agent = await rig.pod('agents', 'segments', 'bot');
  const chain = chainOf(agent, one);
  const permit = await chain.upload(1, 'first', [1, 3]);
  assert.match((await chain.upload(1, 'first', [1, 3], true)).refused?.message ?? '', /does not have this object/);
  assert.notEqual(await put(permit, 'FIRST'), 200, 'other bytes than those that were permitted');
  assert.equal(await put(permit, 'first'), 200);
  assert.equal(await put(permit, 'first'), 412, 'a permit works once');
  const answer = await chain.upload(1, 'first', [1, 3], true);
  assert.ok(answer.present);
  assert.equal(answer.next, 2n);
  await until(async () => (await statusOf(agent))?.audit?.shippedSequence === 3);
  assert.equal((await statusOf(agent))?.audit?.shippedSegments, 1);
  assert.equal((await chain.upload(1, 'other', [1, 3])).refused?.code, 'IDEMPOTENCY_CONFLICT');
  assert.ok((await chain.upload(1, 'first', [1, 3])).present, 'its word was lost');
  assert.match((await chain.upload(2, 'second', [9, 9])).refused?.message ?? '', /begins with sequence 4/);
  assert.match((await chain.upload(0, 'manifest', [1, 99])).refused?.message ?? '', /ends with sequence 3/);
  const manifest = await chain.upload(0, 'manifest', [1, 3]);
  assert.equal(await put(manifest, 'manifest'), 200);
  assert.ok((await chain.upload(0, 'manifest', [1, 3], true)).present);
});

test('audit: a replica that does not know what the one before it stored finds it in the store', { skip }, async () => {
  const agent = await rig.pod('agents', 'behind', 'bot');
  const chain = chainOf(agent, one);
  const permit = await chain.upload(1, 'first', [1, 3]);
  assert.equal(await put(permit, 'first'), 200);
  // Nobody was told: the replica is gone.
  const over = chainOf(agent, two, chain.key);
  const next = await over.upload(2, 'second', [4, 6]);
  assert.equal(await put(next, 'second'), 200);
  assert.ok((await over.upload(2, 'second', [4, 6], true)).present);
  await until(async () => (await statusOf(agent))?.audit?.shippedSegments === 2);
});

test('audit: a segment that its sidecar has lost keeps none of the later ones from the store, and its session says where the gap is', {
  skip,
}, async () => {
  const agent = await rig.pod('agents', 'gap', 'bot');
  const chain = chainOf(agent, one);
  for (const [number, range] of [
    [1, [1, 3]],
    [3, [7, 9]],
  ] as const) {
    assert.equal(await put(await chain.upload(number, `${number}`, range), `${number}`), 200);
    assert.ok((await chain.upload(number, `${number}`, range, true)).present);
  }
  await until(async () => (await statusOf(agent))?.audit?.shippedSequence === 3);
  assert.equal((await statusOf(agent))?.audit?.shippedSegments, 1);
  // It has mended, and another replica is asked.
  const over = chainOf(agent, two, chain.key);
  await until(() => two.cluster.sessions.by('pod', agent.uid)[0]?.status?.audit?.shippedSegments === 1);
  assert.ok((await over.upload(3, '3', [7, 9])).present);
  assert.equal(await put(await over.upload(2, '2', [4, 6]), '2'), 200);
  assert.equal((await over.upload(2, '2', [4, 6], true)).next, 4n);
  await until(async () => (await statusOf(agent))?.audit?.shippedSequence === 9);
  assert.equal((await statusOf(agent))?.audit?.shippedSegments, 3);
});

test('audit: a sidecar that was taken over fills no bucket', { skip }, async () => {
  const chain = chainOf(await rig.pod('agents', 'greedy', 'bot'), one);
  const segment = { object: AuditObject.SEGMENT, number: 1n, firstSequence: 1n, lastSequence: 2n, stored: false };
  const answers = () => chain.sidecar.messages.filter((message) => message.case === 'auditPermit');
  const most = limits.auditSegmentFileBytesMax;
  for (let index = 0; index < 7; index += 1) {
    chain.sidecar.send({ case: 'auditUpload', value: { ...segment, bytes: BigInt(most), sha256: digest(`${index}`) } });
    await until(() => answers().length > index);
  }
  const permitted = answers().filter((message) => message.case === 'auditPermit' && message.value.url !== '').length;
  assert.equal(permitted, Math.floor(limits.auditStoredBytesBurst / most));
  for (const value of [
    { ...segment, bytes: BigInt(most + 1), sha256: digest('x') },
    { ...segment, bytes: 2n ** 63n, sha256: digest('x') },
    { ...segment, bytes: 1n, sha256: Buffer.from('short') },
    { ...segment, bytes: 1n, sha256: digest('x'), number: 2n ** 60n },
    { ...segment, bytes: 1n, sha256: digest('x'), object: AuditObject.UNSPECIFIED },
  ]) {
    const count = answers().length;
    chain.sidecar.send({ case: 'auditUpload', value });
    await until(() => answers().length > count);
    const last = answers().at(-1);
    assert.equal(last?.case === 'auditPermit' ? last.value.refused?.code : '', 'INVALID_ARGUMENT');
  }
});

test('audit: a flood of messages ends its stream, and no other', { skip }, async () => {
  const bystander = chainOf(await rig.pod('agents', 'quiet', 'bot'), one);
  await bystander.certify();
  const { sidecar } = chainOf(await rig.pod('agents', 'flood', 'bot'), one);
  await until(() => sidecar.bundles > 0);
  for (let index = 0; index < limits.auditMessagesBurst * 2; index += 1) sidecar.send({ case: 'auditHead', value: { checkpoint: 'x' } });
  assert.equal(await sidecar.ended, 'TOO_MANY');
  assert.notEqual((await bystander.show(1, 'one')).note, '');
});

test('audit: a store that does not keep what was created first gets nothing, and its sessions say why (AUD-18)', { skip }, async () => {
  const real = storeAt('audit');
  const unsafe = { ...real, probe: () => Promise.reject(new StoreFault('unsafe', 'The store took a second object under one name.')) };
  const states: string[] = [];
  const unsafeWatch = new StoreWatch({ store: unsafe, clock: systemClock, onState: (state) => states.push(state) });
  const replica = await rig.replica({ audit: options({ watch: unsafeWatch }) });
  const agent = await rig.pod('agents', 'unsafe', 'bot');
  const chain = chainOf(agent, replica);
  assert.match((await chain.keep(4, intentFrame(chain, 4))) ?? '', /has not tried the audit store yet/);
  await unsafeWatch.probe();
  assert.deepEqual(states, ['unsafe']);
  assert.match((await chain.keep(4, intentFrame(chain, 4))) ?? '', /does not keep what was created first/);
  assert.match((await chain.upload(1, 'first', [1, 3])).refused?.message ?? '', /does not keep what was created first/);
  await until(async () => (await statusOf(agent))?.conditions?.find(({ type }) => type === 'Audited')?.reason === 'StoreUnsafe');
});

test('audit: who may delete in the store is a warning (AUD-20)', { skip }, () => {
  // The key of this server may do everything.
  assert.equal(watch.state, 'safe');
  assert.ok(watch.warnings.includes('deletable') || watch.warnings.includes('hideable'), watch.warnings.join());
});

async function folderOf({ uid }: Agent): Promise<string> {
  for await (const { name } of watch.store.list('cluster/agents/'))
    if (name.includes(`/${uid}/`)) return name.slice(0, name.indexOf(uid) + uid.length + 1);
  return assert.fail('nothing of it is in the store');
}
