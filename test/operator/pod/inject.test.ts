/** Pods in, patches out: `golden/*.yaml` holds facts and a pod, `*.patch.json` the answer. UPDATE_VECTORS=1 rewrites the answers. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AgentPod } from '#operator/pod/agent-pod.ts';
import { type InjectionFacts, injectPod } from '#operator/pod/inject.ts';
import { podPatch } from '#operator/pod/pod-patch.ts';
import { sidecarContainer } from '#operator/pod/sidecar-container.ts';
import { applyPatch, factsOf, GOLDEN, RELEASE, readGolden, SIZES } from './pods.ts';

const names = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => basename(file, '.yaml'));

function answerTo(pod: AgentPod, facts: InjectionFacts): unknown {
  const outcome = injectPod(pod, facts);
  return outcome.kind === 'inject' ? { kind: 'inject', because: outcome.because, patch: podPatch(pod, outcome.pod) } : outcome;
}

for (const name of names) {
  const { pod, facts } = readGolden(name);
  const path = join(GOLDEN, `${name}.patch.json`);

  test(`injection: golden pod ${name}`, () => {
    const answer = answerTo(pod, facts);
    if (process.env.UPDATE_VECTORS === '1') writeFileSync(path, `${JSON.stringify(answer, null, 2)}\n`);
    assert.deepEqual(answer, JSON.parse(readFileSync(path, 'utf8')));
  });

  test(`injection: its own output of ${name}, three times over, gets an empty patch (INJ-20)`, () => {
    let current = pod;
    for (let round = 0; round < 3; round += 1) {
      const outcome = injectPod(current, facts);
      if (outcome.kind !== 'inject') return;
      const patch = podPatch(current, outcome.pod);
      if (round > 0) assert.deepEqual(patch, []);
      current = applyPatch(current, patch);
      assert.deepEqual(current, outcome.pod);
    }
  });
}

test('injection: there are at least twenty golden pods, and an answer for each', () => {
  assert.ok(names.length >= 20, `${names.length}`);
  const answers = readdirSync(GOLDEN).filter((file) => file.endsWith('.patch.json'));
  assert.deepEqual(answers.map((file) => basename(file, '.patch.json')).sort(), [...names].sort());
});

const facts = factsOf();

function injected(pod: AgentPod, with_: InjectionFacts = facts): AgentPod {
  const outcome = injectPod(pod, with_);
  assert.equal(outcome.kind, 'inject', JSON.stringify(outcome));
  return (outcome as { pod: AgentPod }).pod;
}

function refused(pod: AgentPod, with_: InjectionFacts = facts): string {
  const outcome = injectPod(pod, with_);
  assert.equal(outcome.kind, 'refuse', JSON.stringify(outcome));
  return (outcome as { message: string }).message;
}

const agent: AgentPod = { metadata: {}, spec: { serviceAccountName: 'triage-bot', containers: [{ name: 'agent' }] } };
const first = (pod: AgentPod) => pod.spec.initContainers?.[0]?.name;

test('injection: a container that another webhook put in front is moved behind the sidecar (INJ-10)', () => {
  const once = injected(agent);
  const moved: AgentPod = { ...once, spec: { ...once.spec, initContainers: [{ name: 'mesh-init' }, ...(once.spec.initContainers ?? [])] } };
  const again = injected(moved);
  assert.deepEqual(
    again.spec.initContainers?.map(({ name }) => name),
    ['postern', 'mesh-init'],
  );
});

test('injection: a webhook that drops restartPolicy from the sidecar is refused with the field (INJ-09)', () => {
  const once = injected(agent);
  const [sidecar, ...others] = once.spec.initContainers ?? [];
  const { restartPolicy: _, ...rest } = sidecar as unknown as Record<string, unknown>;
  const message = refused({ ...once, spec: { ...once.spec, initContainers: [rest as never, ...others] } });
  assert.match(message, /^spec\.initContainers\[0\]\.restartPolicy: /);
});

test('injection: a webhook that adds NODE_OPTIONS to the sidecar is refused with the field (INJ-21)', () => {
  const once = injected(agent);
  const [sidecar, ...others] = once.spec.initContainers ?? [];
  const preloaded = { ...sidecar, env: [{ name: 'NODE_OPTIONS', value: '--require /x.js' }] };
  assert.match(
    refused({ ...once, spec: { ...once.spec, initContainers: [preloaded as never, ...others] } }),
    /^spec\.initContainers\[0\]\.env: /,
  );
});

test('injection: resources that a LimitRange added to the sidecar stay (INJ-12)', () => {
  const once = injected(agent);
  const [sidecar, ...others] = once.spec.initContainers ?? [];
  const { resources } = sidecar as unknown as { resources: { requests: object; limits: object } };
  const ranged = { ...sidecar, resources: { ...resources, limits: { ...resources.limits, 'ephemeral-storage': '1Gi' } } };
  const pod = { ...once, spec: { ...once.spec, initContainers: [ranged as never, ...others] } };
  assert.deepEqual(podPatch(pod, injected(pod)), []);
});

test('injection: a user that the platform assigned to the sidecar stays, root does not pass (INJ-11)', () => {
  const once = injected(agent);
  const [sidecar, ...others] = once.spec.initContainers ?? [];
  const as = (runAsUser: number): AgentPod => {
    const container = { ...sidecar, securityContext: { ...sidecar?.securityContext, runAsUser } } as never;
    return { ...once, spec: { ...once.spec, initContainers: [container, ...others] } };
  };
  assert.deepEqual(podPatch(as(1000680000), injected(as(1000680000))), []);
  assert.match(refused(as(0)), /^spec\.initContainers\[0\]\.securityContext\.runAsUser: /);
});

test('injection: a sidecar of the other CA of a rotation, put in by another replica, stays (INJ-04)', () => {
  const other = { ...RELEASE, pin: `sha256:${'3'.repeat(64)}` };
  const byOther = injected(agent, { ...facts, releases: [other, RELEASE] });
  assert.deepEqual(podPatch(byOther, injected(byOther, { ...facts, releases: [RELEASE, other] })), []);
  assert.match(refused(byOther), /^spec\.initContainers\[0\]\.args\[2\]: /);
});

test('injection: a sidecar that the guard allows, put in by a replica of the other release of an upgrade, stays (INJ-23)', () => {
  const before = { ...RELEASE, image: `registry.example/postern@sha256:${'4'.repeat(64)}` };
  const byOther = injected(agent, { ...facts, releases: [before] });
  const allowed: InjectionFacts['allowed'] = (size) => [{ ...sidecarContainer(before, size) }];
  assert.deepEqual(podPatch(byOther, injected(byOther, { ...facts, allowed })), []);
  assert.match(refused(byOther), /^spec\.initContainers\[0\]\.image: /);
});

test('injection: Secrets that contracts grant meanwhile replace the whole volume', () => {
  const before = injected(agent);
  const after = injected(before, factsOf({ secrets: { 'postern-jira': ['token'] } }));
  const volume = after.spec.volumes?.find(({ name }) => name === 'postern-credentials');
  assert.deepEqual(volume, {
    name: 'postern-credentials',
    projected: {
      sources: [{ secret: { name: 'postern-jira', items: [{ key: 'token', path: 'postern-jira/token' }], optional: true } }],
      defaultMode: 0o444,
    },
  });
  assert.equal(after.spec.volumes?.length, 4);
});

test('injection: a volume that a pod adds beside an exact sidecar is refused', () => {
  const once = injected(agent);
  const pod = { ...once, spec: { ...once.spec, volumes: [...(once.spec.volumes ?? []), { name: 'postern-more' }] } };
  assert.match(refused(pod), /^spec\.volumes\[4\]\.name: /);
});

test('injection: more Secrets than one sidecar may mount are refused, not cut', () => {
  const secrets = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`postern-${index}`, ['token']]));
  assert.match(refused(agent, factsOf({ secrets })), /101 Secrets, more than 100/);
});

test('injection: quantities are written as the API server writes them back, so that the guard can compare', () => {
  const [, large] = SIZES;
  assert.ok(large !== undefined);
  const { resources } = sidecarContainer(RELEASE, large) as unknown as { resources: unknown };
  assert.deepEqual(resources, { requests: { cpu: '100m', memory: '192Mi' }, limits: { cpu: '1', memory: '1Gi' } });
});

test('injection: whatever else a pod holds stays as it was, and the sidecar is first', () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/).filter((text) => text !== 'postern');
  const container = fc.record({ name, image: fc.string(), extra: fc.jsonValue() });
  const spec = fc.record({
    serviceAccountName: fc.constant('triage-bot'),
    containers: fc.array(container, { minLength: 1, maxLength: 4 }),
    initContainers: fc.option(fc.array(container, { maxLength: 4 }), { nil: undefined }),
    volumes: fc.option(fc.array(fc.record({ name, emptyDir: fc.constant({}) }), { maxLength: 4 }), { nil: undefined }),
    future: fc.jsonValue(),
  });
  fc.assert(
    fc.property(spec, fc.dictionary(name, fc.string()), (drawn, annotations) => {
      // As it would come off the wire: plain objects, nothing undefined.
      const pod: AgentPod = JSON.parse(JSON.stringify({ metadata: { annotations }, spec: drawn }));
      const podSpec = pod.spec;
      const after = injected(pod);
      assert.equal(first(after), 'postern');
      assert.deepEqual(after.spec.initContainers?.slice(1), podSpec.initContainers ?? []);
      assert.deepEqual(after.spec.volumes?.slice(0, -4), podSpec.volumes ?? []);
      assert.deepEqual({ ...after.spec, initContainers: 0, volumes: 0 }, { ...podSpec, initContainers: 0, volumes: 0 });
      assert.deepEqual(applyPatch(pod, podPatch(pod, after)), after);
      assert.deepEqual(podPatch(after, injected(after)), []);
    }),
  );
});
