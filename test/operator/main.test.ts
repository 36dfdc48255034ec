/**
 * Goal: the operator, started whole against a real API server, makes of contracts and bindings what the design promises, whatever the
 * order they come in. Method: objects are applied as people apply them; nothing but the API server is looked at.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { RunningOperator } from '#operator/main.ts';
import { unavailable } from '#test/servers/build.ts';
import { bindingObject, contractObject, exampleObjects } from './contract/records.ts';
import { OperatorRig } from './operator-rig.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let rig: OperatorRig;
let first: RunningOperator;

before(async () => {
  if (skip) return;
  rig = await OperatorRig.start();
  first = await rig.replica();
  await until(() => first.isLeading);
});

after(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const GOOD = { Accepted: 'True', Ready: 'True' };

test('operator: a contract before its binding waits, and is ready once it comes', { skip }, async () => {
  await rig.namespace('before');
  await rig.create(contractObject(), 'before');
  const waiting = await rig.settled('actioncontracts', 'before', 'list-stock', { Accepted: 'True', Ready: 'False' });
  assert.match(JSON.stringify(waiting.status.conditions), /The binding stock is not there/);
  await rig.create(bindingObject(), 'before');
  const ready = await rig.settled('actioncontracts', 'before', 'list-stock', GOOD);
  assert.match(ready.status.revision, /^sha256:[0-9a-f]{64}$/);
  assert.equal(ready.status.best, 'Complete');
  assert.equal(ready.status.defaults['result.decoder'], 'JSON');
});

test('operator: a binding before its contract ends the same way', { skip }, async () => {
  await rig.namespace('after');
  await rig.create(bindingObject(), 'after');
  await rig.settled('credentialbindings', 'after', 'stock', GOOD);
  await rig.create(contractObject(), 'after');
  await rig.settled('actioncontracts', 'after', 'list-stock', GOOD);
  await until(async () => (await rig.get('credentialbindings', 'after', 'stock')).status.usedBy.includes('list-stock'));
});

test('operator: nothing but status is ever written into what people apply (GitOps)', { skip }, async () => {
  for (const [plural, name] of [
    ['actioncontracts', 'list-stock'],
    ['credentialbindings', 'stock'],
  ] as const) {
    const { metadata } = await rig.get(plural, 'after', name);
    const ours = metadata.managedFields.filter(({ manager }) => manager.startsWith('postern'));
    assert.ok(ours.length > 0);
    for (const { subresource, fieldsV1 } of ours) {
      assert.equal(subresource, 'status');
      assert.deepEqual(Object.keys(fieldsV1), ['f:status']);
    }
    assert.equal(metadata.generation, 1);
  }
});

const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces';

test('operator: a caller that may create pods is refused while it may, and no longer (LEAK-24)', { skip }, async () => {
  await rig.namespace('rights');
  await rig.create(bindingObject(), 'rights');
  await rig.create(contractObject(), 'rights');
  await rig.settled('actioncontracts', 'rights', 'list-stock', GOOD);
  await rig.call('POST', `${RBAC}/rights/roles`, {
    metadata: { name: 'maker' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }],
  });
  await rig.call('POST', `${RBAC}/rights/rolebindings`, {
    metadata: { name: 'maker' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'maker' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'rights', name: 'bot' }],
  });
  const refused = await rig.settled('actioncontracts', 'rights', 'list-stock', { Ready: 'False', CallersRefused: 'True' });
  assert.equal(refused.status.callers[0].refused, 'it may create pods');
  await rig.settled('credentialbindings', 'rights', 'stock', { CallersRefused: 'True' });
  await rig.call('DELETE', `${RBAC}/rights/rolebindings/maker`);
  const lifted = await rig.settled('actioncontracts', 'rights', 'list-stock', { ...GOOD, CallersRefused: 'absent' });
  assert.equal(lifted.status.callers[0].refused, undefined);
  await rig.settled('credentialbindings', 'rights', 'stock', { ...GOOD, CallersRefused: 'absent' });
});

test('operator: a cloud identity refuses the caller until the credential’s owner allows it', { skip }, async () => {
  await rig.namespace('cloud');
  await rig.call('POST', '/api/v1/namespaces/cloud/serviceaccounts', {
    metadata: { name: 'bot', annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/x' } },
  });
  await rig.create(bindingObject(), 'cloud');
  await rig.create(contractObject(), 'cloud');
  const refused = await rig.settled('actioncontracts', 'cloud', 'list-stock', { CallersRefused: 'True' });
  assert.match(refused.status.callers[0].refused, /identity in AWS, and the binding stock does not allow/);
  await rig.call('PATCH', '/apis/postern.dev/v1alpha1/namespaces/cloud/credentialbindings/stock', {
    spec: { allowCloudIdentity: { because: 'one bucket' } },
  });
  await rig.settled('actioncontracts', 'cloud', 'list-stock', { ...GOOD, CallersRefused: 'absent' });
});

test('operator: a suspended contract or binding is not ready, says why, and comes back', { skip }, async () => {
  const path = '/apis/postern.dev/v1alpha1/namespaces/after';
  const suspended = { spec: { suspended: { because: 'under review' } } };
  await rig.call('PATCH', `${path}/actioncontracts/list-stock`, suspended);
  const contract = await rig.settled('actioncontracts', 'after', 'list-stock', { Accepted: 'True', Ready: 'False', Suspended: 'True' });
  assert.match(JSON.stringify(contract.status.conditions), /under review/);
  await rig.call('PATCH', `${path}/actioncontracts/list-stock`, { spec: { suspended: null } });
  await rig.settled('actioncontracts', 'after', 'list-stock', { ...GOOD, Suspended: 'absent' });
  await rig.call('PATCH', `${path}/credentialbindings/stock`, suspended);
  await rig.settled('credentialbindings', 'after', 'stock', { Ready: 'False', Suspended: 'True' });
  await rig.settled('actioncontracts', 'after', 'list-stock', { Accepted: 'True', Ready: 'False', Suspended: 'True' });
  await rig.call('PATCH', `${path}/credentialbindings/stock`, { spec: { suspended: null } });
  await rig.settled('actioncontracts', 'after', 'list-stock', { ...GOOD, Suspended: 'absent' });
});

test('operator: contracts that went past the webhook with problems are told apart from the others, which are ready (OPR-11)', {
  skip,
}, async () => {
  await rig.namespace('mixed');
  await rig.create(bindingObject({ contracts: ['good-one', 'good-two', 'bad-one', 'other'] }), 'mixed');
  const named = (name: string, change: object = {}) => contractObject({ action: name.replaceAll('-', '_'), ...change }, name);
  await rig.create(named('bad-one', { http: { credential: 'stock', method: 'GET', url: 'https://elsewhere.example.com/items' } }), 'mixed');
  await rig.create(named('worse-one', { summary: '$(args.nothing)' }), 'mixed');
  await rig.create(named('good-one'), 'mixed');
  await rig.create(named('good-two'), 'mixed');
  for (const name of ['good-one', 'good-two']) await rig.settled('actioncontracts', 'mixed', name, GOOD);
  const misfit = await rig.settled('actioncontracts', 'mixed', 'bad-one', { Accepted: 'False', Ready: 'False' });
  assert.match(JSON.stringify(misfit.status.conditions), /elsewhere\.example\.com is no destination of stock.*DoesNotFit/);
  const worse = await rig.settled('actioncontracts', 'mixed', 'worse-one', { Accepted: 'False' });
  assert.match(JSON.stringify(worse.status.conditions), /HasProblems/);
  assert.equal(worse.status.revision, undefined);
  await until(async () => (await rig.get('credentialbindings', 'mixed', 'stock')).status.usedBy.length === 3);
});

test('operator: a namespace below PodSecurity baseline marks its bindings, and raising it clears them', { skip }, async () => {
  await rig.settled('credentialbindings', 'mixed', 'stock', { NamespaceUnsafe: 'True' });
  await rig.call('PATCH', '/api/v1/namespaces/mixed', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } });
  await rig.settled('credentialbindings', 'mixed', 'stock', { NamespaceUnsafe: 'absent' });
});

test('operator: a contract that leans on another waits for it, and on nothing once it is there', { skip }, async () => {
  await rig.namespace('evidence');
  const objects = exampleObjects('examples/contracts/stripe-refund.yaml');
  const contracts = objects.filter(({ kind }) => kind === 'ActionContract');
  for (const object of [...contracts, ...objects.filter(({ kind }) => kind !== 'ActionContract')]) await rig.create(object, 'evidence');
  for (const { metadata } of contracts) await rig.settled('actioncontracts', 'evidence', metadata.name, { Accepted: 'True' });
});

test('operator: all examples are accepted, whatever order they are applied in', { skip }, async () => {
  await rig.namespace('examples');
  const objects = readdirSync('examples/contracts').flatMap((file) => exampleObjects(`examples/contracts/${file}`));
  const contracts = objects.filter(({ kind }) => kind === 'ActionContract');
  assert.equal(contracts.length, 20);
  for (const object of objects.toReversed()) await rig.create(object, 'examples');
  for (const { metadata } of contracts) await rig.settled('actioncontracts', 'examples', metadata.name, { Accepted: 'True' });
  for (const { kind, metadata } of objects)
    if (kind === 'CredentialBinding') await rig.settled('credentialbindings', 'examples', metadata.name, GOOD);
});

test('operator: sessions are counted by what they run, and many words of sidecars are few writes', { skip }, async () => {
  const { status, metadata } = await rig.get('actioncontracts', 'after', 'list-stock');
  const path = '/apis/postern.dev/v1alpha1/namespaces/after/agentsessions';
  const names = Array.from({ length: 20 }, (_, index) => `bot-${index}`);
  for (const [index, name] of names.entries()) {
    const pod = { name, uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` };
    const spec = { pod, serviceAccount: 'bot', node: 'node-1', image: 'bot:1' };
    await rig.call('POST', path, {
      apiVersion: 'postern.dev/v1alpha1',
      kind: 'AgentSession',
      metadata: { name, namespace: 'after' },
      spec,
    });
  }
  let writes = 0;
  let version = metadata.resourceVersion;
  const count = async () => {
    const now = await rig.get('actioncontracts', 'after', 'list-stock');
    if (now.metadata.resourceVersion !== version) writes += 1;
    version = now.metadata.resourceVersion;
    return now.status.sessions;
  };
  for (const [index, name] of names.entries()) {
    const contracts = [{ name: 'list-stock', revision: index < 15 ? status.revision : 'sha256:old' }];
    const credentials = [{ binding: 'stock', key: 'token', state: 'Present', digest: index < 18 ? 'aaaaaaaa' : 'bbbbbbbb' }];
    await rig.call('PATCH', `${path}/${name}/status`, { status: { contracts, credentials } });
    await count();
  }
  // The leader ends sessions of pods that are not there, so the numbers pass and may be gone again.
  await until(async () => {
    const { current, behind } = await count();
    return current + behind < 20 || (current === 15 && behind === 5);
  });
  assert.ok(writes < 20, `${writes} writes for 20 acknowledgements`);
});

test('operator: a caller’s pod without the sidecar is told of on its namespace and its fellow sessions (INJ-22)', { skip }, async () => {
  await rig.namespace('exposed');
  await rig.create(bindingObject(), 'exposed');
  await rig.create(contractObject(), 'exposed');
  await rig.settled('actioncontracts', 'exposed', 'list-stock', GOOD);
  await rig.api.createServiceAccountToken('exposed', 'bot');
  const pod = { metadata: { name: 'older' }, spec: { serviceAccountName: 'bot', containers: [{ name: 'agent', image: 'agent:1' }] } };
  const made = await rig.call('POST', '/api/v1/namespaces/exposed/pods', pod);
  const spec = { pod: { name: 'older', uid: made.metadata.uid }, serviceAccount: 'bot', node: 'node-1', image: 'agent:1' };
  const session = { apiVersion: 'postern.dev/v1alpha1', kind: 'AgentSession', metadata: { name: 'fellow', namespace: 'exposed' }, spec };
  await rig.call('POST', '/apis/postern.dev/v1alpha1/namespaces/exposed/agentsessions', session);
  await rig.settled('agentsessions', 'exposed', 'fellow', { Exposed: 'True' });
  await until(async () => {
    const { items } = await rig.call<{ items: readonly { regarding: { kind: string; name: string }; reason: string; note: string }[] }>(
      'GET',
      '/apis/events.k8s.io/v1/namespaces/default/events',
    );
    return items.some(
      ({ regarding, reason, note }) => reason === 'PodsUnguarded' && regarding.name === 'exposed' && note.includes('(older)'),
    );
  });
  const page = await (await fetch(`http://127.0.0.1:${first.adminPort}/metrics`)).text();
  assert.match(page, /^postern_operator_pods_unguarded\{reason="caller_without_sidecar"\} [1-9]/m);
  await rig.settled('credentialbindings', 'exposed', 'stock', { RollNeeded: 'True' });
});

test('operator: only the leader writes, and another replica takes over when it stops', { skip }, async () => {
  const second = await rig.replica();
  await until(() => second.notReady().length === 0);
  assert.equal(second.isLeading, false);
  await rig.namespace('second');
  await rig.create(bindingObject(), 'second');
  await rig.create(contractObject(), 'second');
  await rig.settled('actioncontracts', 'second', 'list-stock', GOOD);
  assert.equal(second.isLeading, false);
  const before = await rig.get('actioncontracts', 'second', 'list-stock');
  await first.stop();
  await until(() => second.isLeading);
  await rig.namespace('third');
  await rig.create(contractObject(), 'third');
  await rig.create(bindingObject(), 'third');
  await rig.settled('actioncontracts', 'third', 'list-stock', GOOD);
  const after = await rig.get('actioncontracts', 'second', 'list-stock');
  assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion, 'a new leader rewrites nothing that stands');
});

test('operator: its probes and metrics say what it does', { skip }, async () => {
  const second = await rig.replica();
  await until(() => second.notReady().length === 0);
  const page = await (await fetch(`http://127.0.0.1:${second.adminPort}/metrics`)).text();
  assert.match(page, /^postern_operator_leader_state [01]$/m);
  assert.match(page, /^postern_operator_informer_synced_state\{kind="pods"\} 1$/m);
  assert.match(page, /^postern_operator_certificate_expiry_seconds\{certificate="leaf"\} \d+/m);
  assert.equal((await fetch(`http://127.0.0.1:${second.adminPort}/readyz`)).status, 200);
});
