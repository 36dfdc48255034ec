/** Warnings about workload templates, on a real API server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TEMPLATES } from '#operator/guard/template-policy.ts';
import { unavailable } from '#test/servers/build.ts';
import { DRY, expectAllowed, type GuardedCluster, type Pod, plainPod, startGuardedCluster } from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
before(async () => {
  if (!skip) cluster = await startGuardedCluster();
});
after(async () => cluster?.[Symbol.asyncDispose]());

const selector = { matchLabels: { app: 'x' } };

/** Path and object of each workload with this pod as its template. */
function workloads(pod: Pod): Readonly<Record<string, readonly [string, object]>> {
  const template = { metadata: { labels: { app: 'x', ...pod.metadata.labels } }, spec: pod.spec };
  const never = { ...template, spec: { ...pod.spec, restartPolicy: 'Never' } };
  return {
    deployments: ['/apis/apps/v1', { spec: { selector, template } }],
    replicasets: ['/apis/apps/v1', { spec: { selector, template } }],
    statefulsets: ['/apis/apps/v1', { spec: { selector, serviceName: 'x', template } }],
    daemonsets: ['/apis/apps/v1', { spec: { selector, template } }],
    jobs: ['/apis/batch/v1', { spec: { template: never } }],
    cronjobs: ['/apis/batch/v1', { spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: never } } } }],
    replicationcontrollers: ['/api/v1', { spec: { selector: { app: 'x' }, template } }],
    podtemplates: ['/api/v1', { template }],
  };
}

async function warningsOf(pod: Pod, namespace = 'agents'): Promise<Readonly<Record<string, string>>> {
  const warnings: Record<string, string> = {};
  for (const [plural, [root, object]] of Object.entries(workloads(pod))) {
    const answer = await cluster.call('POST', `${root}/namespaces/${namespace}/${plural}${DRY}`, { metadata: { name: 'x' }, ...object });
    expectAllowed(answer);
    warnings[plural] = answer.warnings;
  }
  return warnings;
}

test('template policy: covers every kind of workload template of the API', { skip }, async () => {
  const covered = TEMPLATES.flatMap(({ resources }) => resources);
  assert.deepEqual([...covered].sort(), Object.keys(workloads(plainPod())).sort());
});

test('template policy: warns of a reserved Secret in each of them, and lets it be written (INJ-31)', { skip }, async () => {
  const pod = plainPod();
  pod.spec.containers[0].env = [{ name: 'T', valueFrom: { secretKeyRef: { name: 'postern-github', key: 'token' } } }];
  for (const [plural, warnings] of Object.entries(await warningsOf(pod, 'plain'))) {
    assert.match(warnings, /pods of this template will be refused: only the sidecar mounts Secrets/, plural);
  }
  for (const [plural, warnings] of Object.entries(await warningsOf(plainPod()))) assert.doesNotMatch(warnings, /refused/, plural);
});

test('template policy: warns of what no pod with the sidecar may have, where the template asks for it', { skip }, async () => {
  const pod = plainPod();
  pod.spec.hostPID = true;
  pod.spec.containers[0].securityContext = { capabilities: { add: ['SYS_PTRACE'] } };
  for (const warnings of Object.values(await warningsOf(pod))) assert.doesNotMatch(warnings, /refused/);
  pod.metadata.labels = { 'postern.dev/inject': 'true' };
  for (const [plural, warnings] of Object.entries(await warningsOf(pod))) {
    assert.match(warnings, /shares no namespace/, plural);
    assert.match(warnings, /leave it out of capabilities/, plural);
  }
  for (const warnings of Object.values(await warningsOf(pod, 'plain'))) assert.doesNotMatch(warnings, /refused/);
});

test('template policy: warns of a sidecar that somebody writes himself', { skip }, async () => {
  const pod = plainPod();
  pod.spec.initContainers = [{ name: 'postern', image: 'i' }];
  for (const [plural, warnings] of Object.entries(await warningsOf(pod)))
    assert.match(warnings, /puts the init container postern in by itself/, plural);
});
