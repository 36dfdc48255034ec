/** The life of injected pods on a real kubelet: before the app, after it, and under the rules of stricter platforms. */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeUnavailable } from '#test/servers/node.ts';
import { podReady, podUntil, until } from '#test/servers/pods.ts';
import { sidecarOf, sidecarStatus } from './injected.ts';
import { agentPod, namespace, pod, triage } from './objects.ts';
import { startSecondInjector } from './second-injector.ts';
import { applyTriage, install, startStage } from './stage.ts';

const skip = await nodeUnavailable();
const call = `node /postern/postern.cjs call list_issues '{"project":"storefront"}' -o json`;
const restricted = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const injected = { 'postern.dev/inject': 'true' };

test('pod life: injected pods on a real node', { skip }, async (t) => {
  await using stage = await startStage();
  const { node, tracker } = stage;
  await install(stage);
  const agent = await applyTriage(stage);

  await t.test('pod life: the sidecar is the first init container, runs as nobody in particular, and holds no API token', () => {
    const [first] = agent.spec.initContainers as { name: string }[];
    assert.equal(first?.name, 'postern');
    assert.equal(sidecarStatus(agent).ready, true);
    const { runAsUser } = sidecarOf(agent).securityContext as { runAsUser?: number };
    assert.equal(runAsUser, undefined);
  });

  await t.test('pod life: a Job whose agent ends is complete (INJ-07)', async () => {
    const { metadata, spec } = agentPod(node.images, { container: { command: ['sh', '-c', call] }, spec: { restartPolicy: 'Never' } });
    const template = { metadata, spec };
    await stage.apply({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'once', namespace: triage },
      spec: { backoffLimit: 0, template },
    });
    const waited = await node.kubectl(['wait', '-n', triage, 'job/once', '--for=condition=complete', '--timeout=60s']);
    const logs = await node.kubectl(['logs', '-n', triage, 'job/once', '-c', 'agent']);
    assert.equal(waited.code, 0, `${waited.stderr}${logs.stdout}`);
    assert.match(logs.stdout, /"status": "ok"/);
  });

  await t.test('pod life: an init container calls an action before the app starts (INJ-10)', async () => {
    const image = { image: node.images.agent.reference, imagePullPolicy: 'Never' };
    const initContainers = [{ name: 'prepare', ...image, command: ['sh', '-c', `${call} > /dev/termination-log`] }];
    await stage.apply(pod(node.images, 'prepared', { spec: { initContainers } }));
    const { status } = await podReady(node, triage, 'prepared');
    const prepared = status?.initContainerStatuses?.find(({ name }) => name === 'prepare');
    assert.match(String(prepared?.state.terminated?.message), /"status": "ok"/);
  });

  await t.test('pod life: an agent that is told to end can still call, because its sidecar ends after it (INJ-08)', async () => {
    const script = `trap '${call.replaceAll("'", "'\\''")} > /dev/termination-log; exit 0' TERM; while :; do sleep 0.1; done`;
    const container = { command: ['sh', '-c', script] };
    await stage.apply(pod(node.images, 'ending', { container, spec: { terminationGracePeriodSeconds: 30 } }));
    await podReady(node, triage, 'ending');
    const asked = tracker.asked.length;
    const deleted = await node.kubectl(['delete', 'pod', '-n', triage, 'ending', '--timeout=60s']);
    assert.equal(deleted.code, 0, deleted.stderr);
    assert.equal(tracker.asked.length, asked + 1);
  });

  await t.test('pod life: PodSecurity restricted admits the pod, with whatever user the platform assigns (INJ-11)', async () => {
    const strict = namespace('strict', {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/enforce-version': 'latest',
    });
    await stage.apply(strict);
    const container = { securityContext: restricted };
    const common = { serviceAccountName: 'default' };
    const assigned = { ...common, securityContext: { runAsUser: 1_000_660_000, fsGroup: 1_000_660_000 } };
    const options = { inNamespace: 'strict', labels: injected, container };
    await stage.apply(pod(node.images, 'of-the-image', { ...options, spec: common }));
    await stage.apply(pod(node.images, 'assigned', { ...options, spec: assigned }));
    for (const name of ['of-the-image', 'assigned']) assert.ok(sidecarStatus(await podReady(node, 'strict', name)).ready);
  });

  await t.test(
    'pod life: a second injector that preloads code into every container is stopped by the literal spec (INJ-21, LEAK-11)',
    async () => {
      await using injector = await startSecondInjector({ name: 'NODE_OPTIONS', value: '--require=/tmp/steal.js' });
      await stage.apply(namespace('meshed', { 'second-injector': 'true' }), injector.configuration);
      const options = { inNamespace: 'meshed', labels: injected, spec: { serviceAccountName: 'default' } };
      const refused = await until('the guard to answer', async () => {
        const { stderr } = await node.kubectl(['create', '-f', '-'], JSON.stringify(pod(node.images, 'preloaded', options)));
        return stderr.includes('serviceaccount "default" not found') ? undefined : stderr;
      });
      // Our webhook is asked again after the other one; without the operator the policy says it (operator-down.test.ts).
      assert.match(refused, /pods\.postern\.dev" denied the request: spec\.initContainers\[0\]\.env:/);
      await node.kubectl(['delete', 'mutatingwebhookconfiguration', 'zz-second-injector']);
    },
  );

  await t.test('pod life: the image has no shell to run (LEAK-16)', async () => {
    const container = { image: node.images.postern.reference, command: ['sh', '-c', 'id'] };
    await stage.apply(pod(node.images, 'shell', { inNamespace: 'default', container, spec: { serviceAccountName: 'default' } }));
    const { status } = await podUntil(node, 'default', 'shell', ({ status }) => {
      const state = status?.containerStatuses?.[0]?.state;
      return state?.terminated !== undefined || /Error|BackOff/.test(String(state?.waiting?.reason));
    });
    assert.match(JSON.stringify(status?.containerStatuses), /executable file not found/);
  });
});
