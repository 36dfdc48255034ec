/** The walk-through of the documentation, on a real node: from an empty cluster to an agent's call, and back to an empty cluster. */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeUnavailable } from '#test/servers/node.ts';
import { type Pod, podReady, until } from '#test/servers/pods.ts';
import { alerts, watch } from './monitor.ts';
import { contract, pod, secret, triage } from './objects.ts';
import { applyTriage, firstToken, install, type Stage, startStage, system } from './stage.ts';

const skip = await nodeUnavailable();
const secondToken = 'the-second-value-of-the-token';

test('walk-through: from helm install to helm uninstall', { skip }, async (t) => {
  await using stage = await startStage();
  const { node, tracker } = stage;

  await t.test('walk-through: helm installs Postern, and helm test finds it whole', async () => {
    await install(stage);
    const checked = await stage.helm('test', 'postern', '--namespace', system, '--logs', '--timeout', '2m');
    assert.equal(checked.code, 0, `${checked.out}${checked.err}`);
  });

  let agent = {} as Pod;
  await t.test('walk-through: an agent calls an action on localhost and gets a complete answer', async () => {
    agent = await applyTriage(stage);
    const answer = await stage.call(agent.metadata.name, 'list_issues');
    assert.equal(answer.status, 'ok');
    assert.deepEqual(answer.data?.issues, [
      { number: 11, title: 'Issue 1.1' },
      { number: 12, title: 'Issue 1.2' },
    ]);
    assert.equal(tracker.asked.at(-1)?.authorization, `Bearer ${firstToken}`);
  });

  await t.test('walk-through: kubectl shows the contract ready and the session active', async () => {
    const sessions = await stage.postern('sessions', '-n', triage);
    assert.match(sessions.out, new RegExp(`${agent.metadata.name}.*Active`), sessions.err);
    const actions = await stage.postern('actions', '-n', triage);
    assert.match(actions.out, /list_issues/, actions.err);
    const explained = await stage.postern('explain-pod', '-n', triage, agent.metadata.name);
    assert.match(explained.out, /has the sidecar[\s\S]*guards: all \d+ hold/, explained.err);
  });

  await t.test('walk-through: a stale warning reaches Prometheus, and the alerts for its source and its day fire', async () => {
    tracker.indexAge = 3 * 3600;
    const stale = await stage.call(agent.metadata.name, 'list_issues');
    assert.deepEqual(
      stale.warnings?.map(({ code, owner }) => ({ code, owner })),
      [{ code: 'STALE_INDEX', owner: 'search-team' }],
    );
    await using prometheus = await watch({ sidecar: [agent.status?.podIP ?? ''], operator: await operatorAddresses(stage) });
    for (const name of ['PosternStaleIndexActive', 'PosternWarningExpiring']) {
      const fired = await until(`the alert ${name}`, async () =>
        (await alerts(prometheus)).find(({ labels, state }) => labels.alertname === name && state === 'firing'),
      );
      assert.equal(fired.labels.owner, 'search-team');
    }
    tracker.indexAge = 0;
  });

  await t.test('walk-through: a rotated Secret is used once its rotation is announced (LEAK-15)', async (t) => {
    tracker.token = secondToken;
    await stage.apply(secret({ token: secondToken, 'ca.crt': tracker.caPem }));
    const announced = performance.now();
    const rotated = await stage.postern('rotate', 'issues', '-n', triage);
    assert.equal(rotated.code, 0, `${rotated.out}${rotated.err}`);
    const answer = await until('an answer with the new value', async () => {
      const { status } = await stage.call(agent.metadata.name, 'list_issues');
      return status === 'ok' ? status : undefined;
    });
    t.diagnostic(
      `kubectl postern rotate started to new value used, with both programs' start: ${Math.round(performance.now() - announced)} ms`,
    );
    assert.equal(answer, 'ok');
    assert.equal(tracker.asked.at(-1)?.authorization, `Bearer ${secondToken}`);
  });

  await t.test('walk-through: a suspended contract is refused, and served again afterwards', async () => {
    const origin = tracker.origin;
    await stage.apply(contract({ origin, spec: { suspended: { because: 'the tracker is being moved' } } }));
    await until('SESSION_SUSPENDED', () => answersWith(stage, agent, 'SESSION_SUSPENDED'));
    await stage.apply(contract({ origin }));
    await until('an answer again', async () => ((await stage.call(agent.metadata.name, 'list_issues')).status === 'ok' ? true : undefined));
  });

  await t.test(
    'walk-through: a revoked session stops in the middle of a walk, and the next pod of the agent starts suspended',
    async (t) => {
      tracker.slowPages = 500;
      const walking = stage.call(agent.metadata.name, 'list_issues');
      const before = tracker.asked.length;
      await until('the third page', async () => (tracker.asked.length > before + 2 ? true : undefined));
      const revokedAt = Date.now();
      const revoked = await stage.postern('revoke', '-n', triage, `pod/${agent.metadata.name}`);
      assert.equal(revoked.code, 0, `${revoked.out}${revoked.err}`);
      const answer = await walking;
      assert.notEqual(answer.status, 'ok');
      t.diagnostic(
        `kubectl postern revoke started to last page asked, with the program's start: ${(tracker.asked.at(-1)?.at ?? 0) - revokedAt} ms`,
      );
      assert.ok(tracker.asked.length - before < 45, 'the walk went on');
      tracker.slowPages = 0;
      assert.equal(await answersWith(stage, agent, 'SESSION_REVOKED'), 'SESSION_REVOKED');

      await node.kubectl(['delete', 'pod', '-n', triage, agent.metadata.name]);
      agent = await stage.agent();
      await until('SESSION_SUSPENDED', () => answersWith(stage, agent, 'SESSION_SUSPENDED'));
      const admitted = await stage.postern('admit', '-n', triage, `pod/${agent.metadata.name}`);
      assert.equal(admitted.code, 0, `${admitted.out}${admitted.err}`);
      await until('an answer', async () => ((await stage.call(agent.metadata.name, 'list_issues')).status === 'ok' ? true : undefined));
    },
  );

  await t.test('walk-through: after helm uninstall pods start, namespaces go, and nothing of Postern judges', async () => {
    const gone = await stage.helm('uninstall', 'postern', '--namespace', system, '--wait', '--timeout', '2m');
    assert.equal(gone.code, 0, `${gone.out}${gone.err}`);
    const kinds = [
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
    ];
    const left = await until('all admission of ours to go', async () => {
      const { stdout } = await node.kubectl(['get', kinds.join(','), '-o', 'name']);
      return stdout.split('\n').some((name) => name.includes('postern')) ? undefined : stdout;
    });
    assert.doesNotMatch(left, /postern/);
    // The API server forgets a policy within a second or so of its removal.
    await until('a pod to be admitted', async () => {
      await stage.apply(pod(node.images, 'ordinary', { labels: { 'postern.dev/inject': 'true' } }));
      return true;
    });
    await podReady(node, triage, 'ordinary');
    const removed = await node.kubectl(['delete', 'namespace', triage, '--timeout=60s']);
    assert.equal(removed.code, 0, removed.stderr);
  });
});

async function answersWith(stage: Stage, agent: Pod, code: string): Promise<string | undefined> {
  const { error } = await stage.call(agent.metadata.name, 'list_issues');
  return error?.code === code ? code : undefined;
}

async function operatorAddresses({ node }: Stage): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${system}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Doperator`;
  const { body } = await node.request<{ items: readonly Pod[] }>('GET', path);
  return body.items.map(({ status }) => status?.podIP ?? '');
}
