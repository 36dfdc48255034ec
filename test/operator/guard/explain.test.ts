/** What a person is told about a pod when the policy that lists the releases cannot be read, is not there, or lists none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELEASES_ANNOTATION, releasesText } from '#operator/guard/allowed-releases.ts';
import { explainPod, findGuards, type GuardsFound } from '#operator/guard/explain.ts';
import { judgePod } from '#operator/guard/judge.ts';
import { SIDECAR_POLICY } from '#operator/guard/sidecar-policy.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { KINDS, type ResourceKind } from '#operator/kube/resource-kind.ts';
import { injectedPod, type Pod, plainPod, releases, settings } from './guarded-cluster.ts';

type Annotations = Readonly<Record<string, string>>;

/** Nothing is there but the operator's policy, with these annotations; a number is what the API server answers instead. */
function found(policy: Annotations | number | null): Promise<GuardsFound> {
  const get = async <T>(kind: ResourceKind, { name }: { readonly name: string }) => {
    if (kind !== KINDS.policies || name !== SIDECAR_POLICY || policy === null) return null;
    if (typeof policy === 'number') throw new KubeError('no', { status: policy, reason: 'Forbidden' });
    return { metadata: { name, annotations: policy }, spec: {} } as T;
  };
  return findGuards({ get }, settings);
}

const known = () => found({ [RELEASES_ANNOTATION]: releasesText(releases.map((release) => ({ release, seenMs: 0 }))) });
const stateIn = ({ reports }: GuardsFound) => reports.find(({ name }) => name === SIDECAR_POLICY)?.state;
const rules = (findings: readonly { readonly rule: string }[]) => findings.map(({ rule }) => rule);

/** Everything the releases say is wrong, and two things they have no say in. */
function wrongPod(): Pod {
  const pod = injectedPod();
  pod.spec.initContainers[0].image = 'registry.example.com/other';
  for (const volume of pod.spec.volumes) {
    if (volume.name === 'postern-credentials') volume.projected.defaultMode = 0o777;
    else volume.emptyDir = { sizeLimit: '9Gi' };
  }
  pod.metadata.annotations = { 'postern.dev/sidecar-size': 'huge' };
  pod.spec.hostPID = true;
  return pod;
}

for (const { policy, state } of [
  { policy: 403, state: 'Unknown' },
  { policy: null, state: 'Missing' },
  { policy: {}, state: 'Altered' },
] as const) {
  test(`explain: without releases, the policy ${state}, no sidecar is called a stranger, and that it was not compared is said`, async () => {
    const guards = await found(policy);
    assert.equal(stateIn(guards), state);
    const fine = explainPod(injectedPod(), true, guards);
    assert.deepEqual(fine.findings, []);
    assert.match(fine.notCompared ?? '', /not compared with the releases .* policy postern-sidecar/);
    const wrong = explainPod(wrongPod(), true, guards);
    assert.deepEqual(rules(wrong.findings).sort(), ['shared-namespaces', 'sidecar-volume']);
    assert.equal(explainPod(plainPod(), true, guards).notCompared, undefined, 'there is nothing to compare');
  });
}

test('explain: with releases every finding of the judge is told, and nothing was left out', async () => {
  const guards = await known();
  assert.deepEqual(guards.releases, releases);
  for (const pod of [injectedPod(), plainPod(), wrongPod()]) {
    const { findings, notCompared } = explainPod(pod, true, guards);
    assert.deepEqual(findings, judgePod(pod, releases));
    assert.equal(notCompared, undefined);
  }
  const of = rules(explainPod(wrongPod(), true, guards).findings);
  for (const rule of ['sidecar-spec', 'sidecar-volume', 'sidecar-size', 'shared-namespaces']) assert.ok(of.includes(rule), rule);
});
