import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentPod } from '#operator/pod/agent-pod.ts';
import { injectPod } from '#operator/pod/inject.ts';
import { podVerdict } from '#operator/pod/verdict.ts';
import { factsOf, readGolden } from './pods.ts';

const agent: AgentPod = { metadata: {}, spec: { serviceAccountName: 'triage-bot', containers: [{ name: 'agent' }] } };

function injected(facts = factsOf()): AgentPod {
  const outcome = injectPod(agent, facts);
  assert.ok(outcome.kind === 'inject');
  return outcome.pod;
}

test('verdict: an injected pod is explained with its Secrets and nothing to do', () => {
  const secrets = [{ secret: 'postern-github-triage-app', keys: ['private-key'] }];
  assert.deepEqual(podVerdict(injected(), factsOf()), {
    injected: true,
    because: 'ServiceAccount triage-bot is a caller of list-open-issues.',
    mounted: secrets,
    missing: [],
    unused: [],
    cures: [],
  });
});

test('verdict: a pod from before a contract says what it lacks and how to get it (INJ-22)', () => {
  const verdict = podVerdict(agent, factsOf());
  assert.equal(verdict.injected, false);
  assert.deepEqual(
    verdict.missing.map(({ secret }) => secret),
    ['postern-github-triage-app'],
  );
  assert.match(verdict.cures.join(), /kubectl rollout restart/);
});

test('verdict: a pod from before a new binding names the keys it lacks and those it no longer needs', () => {
  const verdict = podVerdict(injected(), factsOf({ secrets: { 'postern-jira': ['token'] } }));
  assert.deepEqual(verdict.missing, [{ secret: 'postern-jira', keys: ['token'] }]);
  assert.deepEqual(verdict.unused, [{ secret: 'postern-github-triage-app', keys: ['private-key'] }]);
  assert.match(verdict.cures.join(), /what a running pod mounts cannot change/);
});

for (const [name, because, cure] of [
  ['not-enforced', /no label postern\.dev\/enforce/, /kubectl label namespace triage postern\.dev\/enforce=/],
  ['not-a-caller', /is no caller of an accepted contract/, /spec\.callers/],
  ['refused-caller', /it may create pods/, /kubectl describe actioncontract/],
  ['unsafe-caller', /spec\.shareProcessNamespace/, /Change these fields/],
  ['mirror', /mirror of a file on the node/, /ordinary pod/],
] as const) {
  test(`verdict: ${name} is explained with a cure`, () => {
    const { pod, facts } = readGolden(name);
    const verdict = podVerdict(pod, facts);
    assert.equal(verdict.injected, false);
    assert.match(verdict.because, because);
    assert.match(verdict.cures.join(' '), cure);
  });
}

test('verdict: an annotation that says injected does not make it so (INJ-16)', () => {
  const { pod, facts } = readGolden('annotation-preset');
  assert.equal(podVerdict(pod, facts).injected, false);
});
