import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary } from '@bufbuild/protobuf';
import { limits } from '#core/bounds/limits.ts';
import { CONTROL_BOUNDS } from '#core/runtime/grpc-bounds.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { accountsOfBinding, bundleMessage, bundleOf } from '#operator/control/bundle.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import type { BindingRecord, ContractRecord } from '#operator/kube/records.ts';
import { ConnectResponseSchema, ControlService, SessionStateSchema, State } from '#proto/postern/control/v1/control_pb.ts';

const ACCEPTED = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', lastTransitionTime: '' } as const;

function contract(name: string, change: Partial<ContractRecord> = {}): ContractRecord {
  const callers = change.callers ?? ['bot'];
  const status = { observedGeneration: 1, callers: callers.map((serviceAccount) => ({ serviceAccount })), conditions: [ACCEPTED] };
  const identity = { namespace: 'triage', name, uid: `uid-${name}`, resourceVersion: '1', generation: 1 };
  return { ...identity, specJson: `{"of":"${name}"}`, callers, credentials: [], status, ...change };
}

function binding(name: string): BindingRecord {
  const identity = { namespace: 'triage', name, uid: `uid-${name}`, resourceVersion: '1', generation: 1, status: undefined };
  return {
    ...identity,
    specJson: '{}',
    secret: `postern-${name}`,
    secretRevision: undefined,
    secretVersion: undefined,
    rotateRequested: undefined,
    contracts: [],
    keys: [],
  };
}

function clusterOf(contracts: readonly ContractRecord[], bindings: readonly BindingRecord[] = []) {
  const cluster = emptyCluster();
  for (const each of contracts) cluster.contracts.put(each);
  for (const each of bindings) cluster.bindings.put(each);
  return cluster;
}

/** Kinds and names, as a sidecar reads them off the wire. */
function objects(cluster: ReturnType<typeof clusterOf>, account = 'bot'): readonly string[] {
  const state = create(SessionStateSchema, { state: State.ACTIVE, because: '' });
  const { message } = fromBinary(ConnectResponseSchema, bundleMessage(bundleOf(cluster, 'triage', account), state, 60_000));
  if (message.case !== 'bundle') throw new TypeError('a bundle was expected');
  assert.equal(message.value.session?.state, State.ACTIVE);
  assert.equal(message.value.leaseMs, 60_000n);
  return message.value.objects.map(({ kind, name }) => `${kind} ${name}`);
}

test('bundle: the contracts of the account and the bindings they list, and nothing else', () => {
  const cluster = clusterOf(
    [
      contract('b', { credentials: ['github', 'missing'] }),
      contract('a', { credentials: ['github'] }),
      contract('other', { callers: ['other'] }),
    ],
    [binding('github'), binding('unused')],
  );
  assert.deepEqual(objects(cluster), ['ActionContract a', 'ActionContract b', 'CredentialBinding github']);
  assert.deepEqual(objects(cluster, 'nobody'), []);
});

const LEFT: Readonly<Record<string, Partial<ContractRecord>>> = {
  'not judged yet': { status: undefined },
  'judged before its last change': { generation: 2 },
  'not accepted': {
    status: { observedGeneration: 1, callers: [{ serviceAccount: 'bot' }], conditions: [{ ...ACCEPTED, status: 'False' }] },
  },
  'of a caller that is refused': {
    status: { observedGeneration: 1, callers: [{ serviceAccount: 'bot', refused: 'it may create pods' }], conditions: [ACCEPTED] },
  },
  'of a caller nobody looked at': { status: { observedGeneration: 1, callers: [{ serviceAccount: 'other' }], conditions: [ACCEPTED] } },
};
for (const [what, change] of Object.entries(LEFT)) {
  test(`bundle: a contract ${what} is not in it (LEAK-24)`, () => {
    assert.deepEqual(objects(clusterOf([contract('a', change), contract('b')])), ['ActionContract b']);
  });
}

test('bundle: the revision is of the content alone, whatever order and status things have', () => {
  const one = clusterOf([contract('a', { credentials: ['x'] }), contract('b')], [binding('x')]);
  const other = clusterOf([contract('b', { resourceVersion: '9' }), contract('a', { credentials: ['x'] })], [binding('x')]);
  const { revision } = bundleOf(one, 'triage', 'bot');
  assert.equal(bundleOf(other, 'triage', 'bot').revision, revision);
  const again = clusterOf([contract('a', { credentials: ['x'], uid: 'made anew' }), contract('b')], [binding('x')]);
  assert.notEqual(bundleOf(again, 'triage', 'bot').revision, revision);
});

test('bundle: a changed binding finds the accounts whose contracts list it, and no others', () => {
  const cluster = clusterOf(
    [contract('a', { credentials: ['github'], callers: ['bot', 'late'] }), contract('b', { callers: ['other'] })],
    [binding('github')],
  );
  assert.deepEqual(accountsOfBinding(cluster, binding('github')), ['triage/bot', 'triage/late']);
});

test('bundle: the largest there can be crosses the wire, framing and the longest reason of a person included', async () => {
  // Many names beside one text that fills the rest to the byte: what stands around an object counts as well.
  const names = Array.from({ length: limits.controlBundleContractsMax - 1 }, (_, index) => `c${String(index).padStart(60, '0')}`);
  const many = names.map((name) => contract(name));
  const around = (name: string) => name.length + `uid-${name}`.length + 64;
  const bytes = many.reduce((sum, { name, specJson }) => sum + specJson.length + around(name), 0);
  const filling = (more: number) => 'x'.repeat(limits.controlBundleBytesMax - bytes - around('z') + more);
  assert.deepEqual(bundleOf(clusterOf([...many, contract('z', { specJson: filling(1) })]), 'triage', 'bot').leftOut, ['z']);
  const content = bundleOf(clusterOf([...many, contract('z', { specJson: filling(0) })]), 'triage', 'bot');
  assert.deepEqual(content.leftOut, []);
  const state = create(SessionStateSchema, { state: State.SUSPENDED, because: '\u{1F512}'.repeat(500) });
  const message = bundleMessage(content, state, Number.MAX_SAFE_INTEGER);
  assert.ok(message.length > limits.controlBundleBytesMax * 0.98, `${message.length} bytes are not the limit`);
  assert.ok(message.length <= CONTROL_BOUNDS.responseBytesMax);

  const server = new GrpcServer({ bounds: CONTROL_BOUNDS });
  server.add(ControlService, { connect: async (_, send) => send(message) });
  const connection = connect(`127.0.0.1:${await server.listen('127.0.0.1', 0)}`, {
    receiveBytesMax: limits.controlBundleBytesMax + limits.controlBundleFrameBytesMax,
  });
  try {
    const stream = connection.client(ControlService).connect();
    stream.send({ message: { case: 'hello', value: { version: '1' } } });
    let got = 0;
    for await (const { message: received } of stream) got += received.case === 'bundle' ? received.value.objects.length : 0;
    assert.equal(got, limits.controlBundleContractsMax);
  } finally {
    connection.close();
    await server.close(0);
  }
});
