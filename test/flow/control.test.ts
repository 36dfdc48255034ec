/**
 * Goal: what an agent gets from a sidecar whose contracts come from an operator, and what the operator hears. Method: the whole sidecar
 * but its process, a scripted operator that speaks the real protocol over TLS, an upstream that is a real HTTP server.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import { State } from '#proto/postern/control/v1/control_pb.ts';
import { bundleOf } from '#test/fakes/operator.ts';
import { type ControlledRig, controlledRig, ONE } from './controlled-rig.ts';
import { eventually } from './controlled-stage.ts';

let rig: ControlledRig;
before(async () => {
  rig = await controlledRig();
});
after(() => rig[Symbol.asyncDispose]());

test('control: before its first bundle a sidecar takes calls and answers CONTRACT_NOT_READY, for the list too', async () => {
  await using master = await rig.operator({ greeting: () => [] });
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  assert.equal(stream.authorization, 'Bearer header.token.signature');
  assert.match(stream.hello.instance, /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual([stream.hello.bundleRevision, stream.hello.protocols], ['', [1, 2, 3]]);
  assert.equal(await sidecar.code('get_item', ONE), 'CONTRACT_NOT_READY');
  await assert.rejects(sidecar.client.listActions({}), { reason: 'CONTRACT_NOT_READY', retryable: true });
  assert.equal(await sidecar.probe('/startupz'), 'bundle\n');
  assert.equal(await sidecar.probe('/readyz'), 'bundle\n');
});

test('control: a bundle is compiled, acknowledged with the revision of each contract, and served', async () => {
  await using master = await rig.operator();
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  const ack = await stream.heard('ack');
  assert.equal(ack.bundleRevision, rig.bundle.value.revision);
  const { actions } = await sidecar.client.listActions({});
  assert.deepEqual(
    ack.contracts.map(({ contract, revision, refused }) => [contract, revision, refused]),
    actions.map(({ action, revision }) => [action.replaceAll('_', '-'), revision, '']),
  );
  assert.deepEqual((await sidecar.call('get_item', ONE)).data, { item: { id: 'one' } });
  assert.equal(await sidecar.probe('/startupz'), 'ok\n');
  assert.equal(await sidecar.metric('postern_control_connected_state'), 1);
  assert.equal(await sidecar.metric('postern_session_state{state="Active"}'), 1);
  assert.ok(Number(await sidecar.metric('postern_control_lease_seconds')) > 3_000);
});

test('control: each state of the session has its code, and Active gives the calls back', async () => {
  await using master = await rig.operator();
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  await stream.heard('ack');
  const codes = [
    [State.PENDING, 'CONTRACT_NOT_READY'],
    [State.SUSPENDED, 'SESSION_SUSPENDED'],
    [State.REVOKED, 'SESSION_REVOKED'],
    [State.ENDED, 'SESSION_EXPIRED'],
    [99 as State, 'SESSION_SUSPENDED'],
  ] as const;
  for (const [state, code] of codes) {
    await stream.send({ case: 'session', value: { state, because: 'the on-call person \u202e said so' } });
    await sidecar.until('get_item', code, ONE);
    const refusal = await sidecar.refused('get_item', ONE);
    assert.equal(refusal.details.because, 'the on-call person <U+202E> said so');
    const { actions } = await sidecar.client.listActions({});
    assert.ok(actions.every(({ ready, notReady }) => !ready && notReady !== ''));
    await stream.send({ case: 'session', value: { state: State.ACTIVE } });
    await sidecar.until('get_item', 'OK', ONE);
  }
});

for (const [state, code] of [
  [State.REVOKED, 'SESSION_REVOKED'],
  [State.SUSPENDED, 'SESSION_SUSPENDED'],
] as const) {
  test(`control: ${code} in mid-walk ends the call between two pages, without rows and without another request`, async () => {
    await using master = await rig.operator();
    await using sidecar = await rig.sidecarOf(master);
    const stream = await master.stream(0);
    await stream.heard('ack');
    const waiting = rig.hold();
    const before = rig.asked('/rows');
    const call = sidecar.refused('list_rows');
    await eventually(async () => waiting() === 1, 'the second page to be asked');
    await stream.send({ case: 'session', value: { state } });
    const error = await call;
    assert.equal(error.reason, code);
    assert.equal(error.completeness, undefined);
    rig.release();
    await sidecar.until('get_item', code, ONE);
    assert.equal(rig.asked('/rows') - before, 2);
  });
}

test('control: a cursor that was handed out before a revocation is refused after it', async () => {
  await using master = await rig.operator();
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  await stream.heard('ack');
  const first = await sidecar.call('list_rows', {}, { onePage: true });
  const way = first.completeness.continuation;
  assert.equal(way.kind, 'next_cursor');
  const cursor = way.kind === 'next_cursor' ? way.cursor : '';
  await stream.send({ case: 'session', value: { state: State.REVOKED } });
  await sidecar.until('get_item', 'SESSION_REVOKED', ONE);
  const before = rig.asked('/rows');
  assert.equal((await sidecar.refused('list_rows', {}, { cursor })).reason, 'SESSION_REVOKED');
  assert.equal(rig.asked('/rows'), before);
});

test('control: a suspended contract and a suspended binding both answer SESSION_SUSPENDED, also to a call that runs', async () => {
  await using master = await rig.operator();
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  await stream.heard('ack');
  const suspendedBinding = bundleOf(
    rig.contracts((yaml) => yaml.replace('  owner: flow\n  secret:', '  owner: flow\n  suspended: {because: leaked}\n  secret:')),
  );
  const suspendedContract = bundleOf(
    rig.contracts((yaml) => yaml.replace('  action: list_rows\n', '  action: list_rows\n  suspended: {because: wrong rows}\n')),
  );
  for (const suspended of [suspendedBinding, suspendedContract]) {
    const waiting = rig.hold();
    const call = sidecar.refused('list_rows');
    await eventually(async () => waiting() === 1, 'the second page to be asked');
    await stream.send(suspended);
    assert.equal((await call).reason, 'SESSION_SUSPENDED');
    rig.release();
    assert.equal(await sidecar.code('list_rows'), 'SESSION_SUSPENDED');
    assert.equal(await sidecar.code('get_item', ONE), suspended === suspendedBinding ? 'SESSION_SUSPENDED' : 'OK');
    await stream.send(rig.bundle);
    await sidecar.until('list_rows', 'OK');
  }
});

test('control: a call keeps its contract when the bundle loses or changes it in mid-walk; the next call does not', async () => {
  await using master = await rig.operator();
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  await stream.heard('ack');
  const waiting = rig.hold();
  const call = sidecar.call('list_rows');
  await eventually(async () => waiting() === 1, 'the second page to be asked');
  const without = bundleOf(rig.contracts((yaml) => yaml.slice(0, yaml.lastIndexOf('\n---\n'))));
  await stream.send(without);
  await sidecar.until('list_rows', 'ACTION_UNKNOWN');
  rig.release();
  const answer = await call;
  assert.equal(answer.completeness.complete, true);
  assert.equal((answer.data.rows as unknown[]).length, 6);
});

test('control: past its lease every call with a binding is CONTROL_STALE, a call that waits too, and a renewal gives it back (OPR-24)', async () => {
  await using master = await rig.operator({ greeting: () => [bundleOf(rig.contracts(), { leaseMs: 2_000 })], heartbeatMs: 18_000 });
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  await stream.heard('ack');
  assert.equal(await sidecar.code('get_item', ONE), 'OK');
  const waiting = rig.hold();
  const stale = sidecar.refused('list_rows');
  await eventually(async () => waiting() === 1, 'the second page to be asked');
  assert.equal((await stale).reason, 'CONTROL_STALE');
  rig.release();
  assert.equal(await sidecar.code('get_item', ONE), 'CONTROL_STALE');
  assert.equal(await sidecar.probe('/readyz'), 'lease\n');
  assert.equal(await sidecar.metric('postern_control_lease_seconds'), 0);
  await stream.send({ case: 'renewal', value: { leaseMs: 60_000n } });
  await sidecar.until('get_item', 'OK', ONE);
});

test('control: a bundle that cannot be served ends what was served with its lease, whatever is renewed, until one can (OPR-24)', async (t) => {
  await using master = await rig.operator({ greeting: () => [bundleOf(rig.contracts(), { leaseMs: 3_000 })], heartbeatMs: 1_000 });
  await using sidecar = await rig.sidecarOf(master);
  const stream = await master.stream(0);
  await stream.heard('ack');
  const { mock } = t.mock.method(SidecarMetrics.prototype, 'serve', () => {
    throw new TypeError('a fault of this release');
  });
  await stream.send(bundleOf(rig.contracts(), { revision: 'sha256:newer' }));
  await sidecar.logged('a bundle cannot be served; the one before it is, while its lease lasts');
  // The operator renews an hour with each heartbeat.
  await sidecar.until('get_item', 'CONTROL_STALE', ONE);
  mock.restore();
  await stream.send(bundleOf(rig.contracts(), { revision: 'sha256:newest' }));
  await sidecar.until('get_item', 'OK', ONE);
});

test('control: a bundle with a contract, a binding and a kind of a newer release serves the rest and names the refused (INJ-23)', async () => {
  const newer = bundleOf(
    rig.contracts((yaml) => yaml.replace('[get-item, list-rows]', '[get-item, list-rows, new-field, new-preset, no-json]')),
  );
  const add = (kind: string, name: string, spec: unknown) =>
    newer.value.objects?.push({ kind, name, uid: name, specJson: new TextEncoder().encode(JSON.stringify(spec)) } as never);
  const good = JSON.parse(
    Buffer.from(
      (newer.value.objects as { name: string; specJson: Uint8Array }[]).find(({ name }) => name === 'get-item')!.specJson,
    ).toString(),
  );
  const binding = JSON.parse(
    Buffer.from(
      (newer.value.objects as { name: string; specJson: Uint8Array }[]).find(({ name }) => name === 'reader')!.specJson,
    ).toString(),
  );
  add('ActionContract', 'new-field', { ...good, action: 'new_field', quantum: true });
  add('ActionContract', 'new-preset', { ...good, action: 'new_preset', presets: ['from-the-future-1'] });
  add('ActionContract', 'new-binding', {
    ...good,
    action: 'new_binding',
    credentials: ['later'],
    http: { ...good.http, credential: 'later' },
  });
  add('ActionContract', 'no-json', []);
  add('CredentialBinding', 'later', { ...binding, contracts: ['new-binding'], use: { telepathy: { key: 'token' } } });
  add('ContractPolicy', 'unheard-of', {});
  await using master = await rig.operator({ greeting: () => [newer] });
  await using sidecar = await rig.sidecarOf(master);
  const ack = await (await master.stream(0)).heard('ack');
  const refused = new Map(ack.contracts.map(({ contract, refused: code }) => [contract, code]));
  assert.deepEqual(
    [...refused].filter(([, code]) => code === '').map(([name]) => name),
    ['get-item', 'list-rows'],
  );
  for (const name of ['new-field', 'new-preset', 'new-binding', 'no-json']) assert.match(refused.get(name) ?? '', /^[a-z-]{3,}$/, name);
  assert.match(refused.get('new-field') ?? '', /unknown/);
  assert.equal(await sidecar.code('get_item', ONE), 'OK');
  assert.equal(await sidecar.code('new_field', ONE), 'ACTION_UNKNOWN');
  assert.equal(await sidecar.metric('postern_refused_contracts'), 4);
});
