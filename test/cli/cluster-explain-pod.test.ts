/** What `kubectl postern explain-pod` says of a pod without a sidecar, and what a person without a role reads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unavailable } from '#test/servers/build.ts';
import { condition, POSTERN, plugin, running, startRig, stopRig, writeKubeconfig } from './cluster-rig.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'kubectl');

before(() => (skip === false ? startRig() : undefined), { timeout: 120_000 });
after(stopRig);

test('kubectl postern explain-pod: says why a pod has no sidecar, which guards are missing, and what to do', { skip }, async () => {
  const pod = await makePod('bot-c');
  const first = await plugin(['explain-pod', pod]);
  assert.equal(first.code, 0);
  assert.match(first.out, /^pod bot-c \(account bot\): has no sidecar\n {2}why: Namespace triage is not enforced/);
  assert.match(first.out, /guards: 0 of \d+ hold\n {4}postern-\S+ Missing: no ValidatingAdmissionPolicy/);
  assert.match(first.out, /do: Run: kubectl label namespace triage postern\.dev\/enforce=/);
  await running().request('PATCH', '/api/v1/namespaces/triage', { metadata: { labels: { 'postern.dev/enforce': '' } } });
  const accepted = { observedGeneration: 1, conditions: [condition('Accepted', 'True', 'ok')], callers: [{ serviceAccount: 'bot' }] };
  await running().request('PATCH', `${POSTERN}/actioncontracts/list-issues/status`, { status: accepted });
  const { out } = await plugin(['explain-pod', pod]);
  assert.match(out, /granted, and not mounted: postern-github \(token\)/);
  assert.match(out, /do: Make the pod anew/);
});

test('kubectl postern explain-pod: -o json has the same, and a pod that is not there is a usage error', { skip }, async () => {
  const { out } = await plugin(['explain-pod', 'bot-c', '-o', 'json']);
  const { verdict, guards } = JSON.parse(out) as { verdict: { injected: boolean }; guards: unknown[] };
  assert.deepEqual([verdict.injected, guards.length > 5], [false, true]);
  assert.equal((await plugin(['explain-pod', 'typo'])).code, 2);
});

async function makePod(name: string): Promise<string> {
  await running().createServiceAccountToken('triage', 'bot');
  const made = await running().request<{ message?: string }>('POST', '/api/v1/namespaces/triage/pods', {
    metadata: { name },
    spec: { serviceAccountName: 'bot', containers: [{ name: 'agent', image: 'agent:1' }] },
  });
  assert.equal(made.status, 201, made.body.message);
  return name;
}

test('kubectl postern: a refusal of the API server is one sentence and a cure, not a stack', { skip }, async () => {
  writeKubeconfig('nobody', await running().createServiceAccountToken('triage', 'nobody'));
  const { code, err } = await plugin(['sessions'], 'nobody');
  assert.equal(code, 1);
  assert.match(err, /403.*agentsessions.*forbidden/s);
  assert.match(err, /Ask for the role/);
  const pod = await plugin(['explain-pod', 'bot-c'], 'nobody');
  assert.match(pod.err, /403.*pods.*forbidden.*ask for view in the namespace/s);
  assert.doesNotMatch(err, /at .*\.ts:/);
});
