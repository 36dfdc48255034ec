/**
 * Goal: what a person gets from `kubectl postern`. Method: the program as a process under its plugin name, a real kube-apiserver with
 * the CRDs, a kubeconfig as people have it; once through the real kubectl.
 */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { programPath, unavailable } from '#test/servers/build.ts';
import {
  condition,
  github,
  kubeconfigs,
  listIssues,
  PLUGIN,
  POSTERN,
  plugin,
  put,
  running,
  startRig,
  stopRig,
  UID,
  writeKubeconfig,
} from './cluster-rig.ts';
import { run } from './run-postern.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'kubectl');

before(() => (skip === false ? startRig() : undefined), { timeout: 120_000 });
after(stopRig);

test('kubectl postern actions: shows the state and why an action does not work, without acting on control characters', {
  skip,
}, async () => {
  const { code, out } = await plugin(['actions']);
  assert.equal(code, 0);
  assert.match(out, /^ACTION +EFFECT +READY/);
  assert.match(out, /list_issues +Read +False +Complete +bot +2 +1 +triage-team +Said: The binding github is not there <U\+001B>\[31m yet/);
});

test('kubectl postern actions: -A -o json prints the objects', { skip }, async () => {
  const { out } = await plugin(['actions', '-A', '-o', 'json']);
  assert.deepEqual(
    (JSON.parse(out) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    ['list-issues'],
  );
});

test('kubectl postern actions: a contract that is ready while its binding is not says why it does not work', { skip }, async () => {
  const namespace = { metadata: { name: 'keyless' } };
  assert.equal((await running().request('POST', '/api/v1/namespaces', namespace)).status, 201);
  const root = '/apis/postern.dev/v1alpha1/namespaces/keyless';
  const keysUnusable = { ...condition('Ready', 'False', 'No sidecar can use it: token is not in the Secret.'), reason: 'KeysUnusable' };
  const ready = { conditions: [condition('Accepted', 'True', ''), condition('Ready', 'True', '')] };
  const spec = (action: string, credential: string) => {
    return { ...listIssues, action, credentials: [credential], http: { ...listIssues.http, credential } };
  };
  await put('credentialbindings', 'github', github, { conditions: [condition('Accepted', 'True', ''), keysUnusable] }, root);
  await put('credentialbindings', 'fine', github, ready, root);
  await put('actioncontracts', 'list-issues', spec('list_issues', 'github'), ready, root);
  await put('actioncontracts', 'other-issues', spec('other_issues', 'fine'), ready, root);
  const why = /list_issues +Read +True .*binding github: KeysUnusable: No sidecar can use it: token is not in the Secret\.$/m;
  const { out, err } = await plugin(['actions', '-n', 'keyless']);
  assert.match(out, why);
  assert.equal(out.match(/binding github/g)?.length, 1, 'the other contract uses another binding');
  assert.equal(err, '');
  assert.match((await plugin(['actions', '-A'])).out, /^keyless .*binding github: KeysUnusable/m);

  // As postern-approver: contracts, and no bindings.
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/keyless';
  const rules = [{ apiGroups: ['postern.dev'], resources: ['actioncontracts'], verbs: ['get', 'list'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
  const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace: 'keyless' }];
  await running().request('POST', `${rbac}/roles`, { metadata: { name: 'reader' }, rules });
  await running().request('POST', `${rbac}/rolebindings`, { metadata: { name: 'reader' }, roleRef, subjects });
  writeKubeconfig('reader', await running().createServiceAccountToken('keyless', 'reader'));
  const allowed = async () => (await plugin(['actions', '-n', 'keyless'], 'reader')).code === 0;
  while (!(await allowed())) await new Promise((resolve) => setTimeout(resolve, 50));
  const without = await plugin(['actions', '-n', 'keyless'], 'reader');
  assert.match(without.out, /list_issues +Read +True/);
  assert.match(without.err, /You may not list credentialbindings/);
});

test('kubectl postern sessions: filters by state and says why', { skip }, async () => {
  const { out } = await plugin(['sessions', '--state', 'Suspended']);
  assert.equal(out.trimEnd().split('\n').length, 2);
  assert.match(out, /other-01234567 +other +Suspended .*a second sidecar/);
});

test('kubectl postern sessions: an empty list leaves standard output empty', { skip }, async () => {
  const { code, out, err } = await plugin(['sessions', '-n', 'default']);
  assert.deepEqual([code, out], [0, '']);
  assert.match(err, /No session is here/);
});

test('kubectl postern warnings: the expired one comes first, with its owner', { skip }, async () => {
  const { out } = await plugin(['warnings']);
  const lines = out.trimEnd().split('\n');
  assert.match(lines[1] ?? '', /^expired +STALE_INDEX +search-team +list-issues +2 .*2020-01-01 \(\d+d ago\)/);
  assert.match(lines[2] ?? '', /^declared +DEFAULT_SCOPE_APPLIED +triage-team .*2999-01-01 \(in \d+d\)/);
});

test('kubectl postern revoke: a name that is not there revokes nothing', { skip }, async () => {
  const { code, err } = await plugin(['revoke', 'bot-a-01234567', 'typo']);
  assert.equal(code, 2);
  assert.match(err, /there is no session typo/);
  assert.equal((await session('bot-a-01234567')).spec.revoked, undefined);
});

test('kubectl postern revoke: without a name it refuses instead of choosing all', { skip }, async () => {
  assert.equal((await plugin(['revoke'])).code, 2);
});

test('kubectl postern revoke: takes a pod, an account, and says what was done before', { skip }, async () => {
  assert.match((await plugin(['revoke', 'pod/bot-a'])).out, /bot-a-01234567 revoked \(pod bot-a, account bot\)/);
  const { out } = await plugin(['revoke', '--account', 'bot']);
  assert.match(out, /bot-a-01234567 was revoked before/);
  assert.match(out, /bot-b-01234567 revoked/);
  assert.equal((await session('bot-b-01234567')).spec.revoked, true);
  assert.equal((await session('other-01234567')).spec.revoked, undefined);
});

test('kubectl postern revoke: a session that cannot be written keeps no other its right to call, and the failure is told', {
  skip,
}, async () => {
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const rules = [{ apiGroups: ['postern.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['agentsessions'] }];
  const validations = [{ expression: "object.metadata.name != 'crowd-a'", message: 'frozen' }];
  const policy = { metadata: { name: 'frozen' }, spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: rules }, validations } };
  await running().request('POST', `${admission}/validatingadmissionpolicies`, policy);
  const binding = { metadata: { name: 'frozen' }, spec: { policyName: 'frozen', validationActions: ['Deny'] } };
  await running().request('POST', `${admission}/validatingadmissionpolicybindings`, binding);
  for (const name of ['crowd-a', 'crowd-b']) {
    const spec = { pod: { name, uid: UID }, serviceAccount: 'crowd', node: 'n1', image: 'agent:1' };
    await put('agentsessions', name, spec, { state: 'Active' });
  }
  const probe = { metadata: { annotations: { probe: 'x' } } };
  while ((await running().request('PATCH', `${POSTERN}/agentsessions/crowd-a`, probe)).status === 200)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const { code, out, err } = await plugin(['revoke', '--account', 'crowd']);
  assert.equal(code, 1);
  assert.match(out, /crowd-a NOT revoked/);
  assert.match(err, /frozen/);
  assert.equal((await session('crowd-b')).spec.revoked, true);
});

test('kubectl postern admit: sets admitted', { skip }, async () => {
  assert.equal((await plugin(['admit', 'other-01234567'])).code, 0);
  assert.equal((await session('other-01234567')).spec.admitted, true);
});

test('kubectl postern rotate: waits for the operator, and says so when it does not come', { skip }, async () => {
  const { code, out } = await plugin(['rotate', 'github', '--wait', '1s']);
  assert.equal(code, 3);
  assert.match(out, /the operator has not told the pods yet/);
});

test('kubectl postern rotate: is done when every sidecar uses another value than before', { skip }, async () => {
  const announced = plugin(['rotate', 'github', '--wait', '60s']);
  const requested = () =>
    running().request<{ metadata: { annotations: Record<string, string> } }>('GET', `${POSTERN}/credentialbindings/github`);
  const before = (await requested()).body.metadata.annotations['postern.dev/rotate-requested'];
  while ((await requested()).body.metadata.annotations['postern.dev/rotate-requested'] === before)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const values = (digest: string) => ({
    announcedRevision: 'new',
    keys: [{ key: 'token', present: 2, values: [{ digest, sidecars: 2 }] }],
  });
  await running().request('PATCH', `${POSTERN}/credentialbindings/github/status`, { status: values('22222222') });
  const { code, out } = await announced;
  assert.match(out, /2 sidecars use the new value/);
  assert.equal(code, 0);
});

test('kubectl postern: the real kubectl finds the plugin by its name', { skip }, async () => {
  const bin = join(kubeconfigs(), 'bin');
  mkdirSync(bin);
  symlinkSync(PLUGIN, join(bin, 'kubectl-postern'));
  const path = [bin, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const { code, out } = await run(await programPath('kubectl'), ['postern', 'actions'], {
    PATH: path,
    KUBECONFIG: join(kubeconfigs(), 'admin'),
  });
  assert.equal(code, 0);
  assert.match(out, /list_issues/);
});

async function session(name: string): Promise<{ spec: { revoked?: boolean; admitted?: boolean } }> {
  return (await running().request<{ spec: { revoked?: boolean; admitted?: boolean } }>('GET', `${POSTERN}/agentsessions/${name}`)).body;
}
