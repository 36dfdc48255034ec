/**
 * Effects that a person agrees to, on a real node: the agent asks from its container, people decide with kubectl as themselves, the remote
 * counts. Whatever dies in between, each call takes effect once or not at all, or is a question to a person (P2, P3).
 */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Ran, run } from '#test/cli/run-postern.ts';
import { type Node, nodeUnavailable } from '#test/servers/node.ts';
import { writeKubeconfig } from '#test/servers/node-files.ts';
import { type Pod, podReady, until } from '#test/servers/pods.ts';
import { account, binding, contract, namespace, pod, secret, serviceAccount, triage } from './objects.ts';
import { type Answer, conditionIs, install, type Stage, startStage, system } from './stage.ts';

const skip = await nodeUnavailable();
const root = `/apis/postern.dev/v1alpha1/namespaces/${triage}`;

/** The parts of an answer that speak of an operation. */
type Told = Answer & {
  readonly error?: {
    readonly operation_id?: string;
    readonly approval?: string;
    readonly card_digest?: string;
    readonly details?: Record<string, string>;
  };
};

test('approvals on a node: an effect from the question to the remote', { skip }, async (t) => {
  await using stage = await startStage();
  const { node, tracker } = stage;
  await install(stage);
  await applyEffects(stage);
  const person = await approver(node, 'ada');
  const close = (number: number, from = 'bot') => stage.call(from, 'close_issue', { project: 'storefront', number }) as Promise<Told>;
  const effectsOf = (number: number) => tracker.effects.filter((path) => path.endsWith(`/${number}/close`)).length;
  const asked = async (number: number, from = 'bot'): Promise<string> => {
    const { error } = await close(number, from);
    assert.equal(error?.code, 'APPROVAL_REQUIRED', JSON.stringify(error));
    return error?.approval ?? '';
  };
  const approve = async (name: string) => {
    const digest = (await approvalOf(node, name)).spec.cardDigest;
    const decided = await person('approve', '-n', triage, name, '--card-digest', digest);
    assert.equal(decided.code, 0, `${decided.out}${decided.err}`);
  };
  const done = (number: number, from = 'bot') =>
    until(`issue ${number} to be closed`, async () => ((await close(number, from)).status === 'ok' ? true : undefined));

  let first = '';
  await t.test('approvals on a node: a call waits for a person, and kubectl shows its card to one who may decide', async () => {
    first = await asked(1);
    assert.equal((await close(1)).error?.approval, first, 'the same call is the same question');
    const listed = await person('approvals', '-n', triage);
    assert.match(listed.out, new RegExp(`${first}.*may it run\\?.*close_issue.*${account}.*Close issue 1 of storefront`), listed.err);
    const card = await person('approvals', '-n', triage, first);
    assert.match(card.out, /pod\s+bot\b|bot/, card.err);
    assert.equal(effectsOf(1), 0);
  });

  await t.test(
    'approvals on a node: the agent can neither approve its own call nor make or edit an approval (APR-04, APR-05)',
    async () => {
      const { spec } = await approvalOf(node, first);
      const decision = { approver: `system:serviceaccount:${triage}:${account}`, verdict: 'Approved', cardDigest: spec.cardDigest };
      const attempts: readonly [string, string, unknown][] = [
        ['PATCH', `${root}/actionapprovals/${first}/status`, { status: { decision } }],
        ['PATCH', `${root}/actionapprovals/${first}`, { spec: { ...spec, serviceAccount: 'another' } }],
        [
          'POST',
          `${root}/actionapprovals`,
          { apiVersion: 'postern.dev/v1alpha1', kind: 'ActionApproval', metadata: { name: 'own' }, spec },
        ],
        ['DELETE', `${root}/actionapprovals/${first}`, {}],
      ];
      for (const [method, path, body] of attempts) {
        // Once from the container the call comes from, once from another pod of the account.
        for (const from of ['bot', 'twin'])
          assert.equal(await statusOf(stage, from, method, path, body), 403, `${method} ${path} by ${from}`);
      }
      assert.equal((await close(1)).error?.code, 'APPROVAL_REQUIRED');
      assert.equal(effectsOf(1), 0);
    },
  );

  await t.test('approvals on a node: what was approved runs once, and its approval is used (APR-03)', async () => {
    await approve(first);
    await done(1);
    assert.equal(effectsOf(1), 1);
    assert.equal((await approvalOf(node, first)).status?.state, 'Used');
    const holds = (await approvals(node)).filter(({ spec }) => spec.purpose === 'Resolve');
    assert.deepEqual(holds, [], 'a known end leaves no hold');
  });

  await t.test('approvals on a node: an equal call asks anew, and a no ends it', async () => {
    const second = await asked(1);
    assert.notEqual(second, first);
    const denied = await person('deny', '-n', triage, second, '--reason', 'once is enough');
    assert.equal(denied.code, 0, denied.err);
    await until('APPROVAL_DENIED', async () => ((await close(1)).error?.code === 'APPROVAL_DENIED' ? true : undefined));
    assert.equal(effectsOf(1), 1);
  });

  await t.test('approvals on a node: a pod made anew under its name inherits no yes (APR-13)', async () => {
    const before = await asked(2);
    await approve(before);
    await node.kubectl(['delete', 'pod', '-n', triage, 'bot', '--wait=true']);
    await stage.apply(pod(node.images, 'bot'));
    await podReady(node, triage, 'bot');
    const after = await until('the new pod to be served', async () => {
      const { error } = await close(2);
      return error?.code === 'APPROVAL_REQUIRED' ? error.approval : undefined;
    });
    assert.notEqual(after, before);
    assert.equal(effectsOf(2), 0);
  });

  await t.test(
    'approvals on a node: a sidecar killed after the send leaves a question, for every pod of the account (SSH-09)',
    async () => {
      tracker.silent = true;
      await approve(await asked(3));
      const lost = close(3).catch(() => undefined);
      await until('the effect', async () => (effectsOf(3) === 1 ? true : undefined));
      await node.killContainer(await podReady(node, triage, 'bot'), 'postern');
      await lost;
      tracker.silent = false;
      const held = await until('the question', async () => {
        const { out } = await person('approvals', '-n', triage);
        return out.split('\n').find((line) => line.includes('was it done?'));
      });
      assert.match(held, /close_issue.*Waiting.*Close issue 3 of storefront/);
      for (const from of ['bot', 'twin'])
        await until(`OUTCOME_UNKNOWN in ${from}`, async () =>
          (await close(3, from)).error?.code === 'OUTCOME_UNKNOWN' ? true : undefined,
        );
      assert.equal(effectsOf(3), 1, 'nothing was sent again');
      const [hold] = (await approvals(node)).filter(({ spec }) => spec.purpose === 'Resolve');
      const resolved = await person('resolve', '-n', triage, hold?.spec.operationId ?? '', '--not-done', '--reason', 'the issue is open');
      assert.equal(resolved.code, 0, resolved.err);
      const again = await until('a new question', async () => {
        const { error } = await close(3, 'twin');
        return error?.code === 'APPROVAL_REQUIRED' ? error.approval : undefined;
      });
      await approve(again ?? '');
      await done(3, 'twin');
      assert.equal(effectsOf(3), 2, 'once more, after a person said that it had not happened');
    },
  );

  await t.test(
    'approvals on a node: with the operator down a person decides, nothing is sent, and it runs once when it is back',
    async () => {
      const [waiting, agreed] = [await asked(4), await asked(5)];
      await approve(agreed);
      await until('the yes to be told', async () => {
        const { stdout } = await stage.shell('bot', 'node /postern/postern.cjs operations');
        return stdout.includes('approved') ? true : undefined;
      });
      await scale(node, 0);
      await approve(waiting);
      assert.equal((await close(4)).error?.code, 'APPROVAL_REQUIRED', 'nobody tells it of the yes');
      assert.equal((await close(5)).error?.code, 'CONTROL_STALE', 'nobody admits what was agreed to');
      assert.deepEqual([4, 5].map(effectsOf), [0, 0]);
      await scale(node, 2);
      await done(4);
      await done(5);
      assert.deepEqual([4, 5].map(effectsOf), [1, 1]);
    },
  );

  assert.deepEqual([1, 2, 3, 4, 5].map(effectsOf), [1, 0, 2, 1, 1]);
});

interface Approval {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly purpose: string; readonly cardDigest: string; readonly operationId?: string };
  readonly status?: { readonly state?: string };
}

async function approvals(node: Node): Promise<readonly Approval[]> {
  return (await node.request<{ items: readonly Approval[] }>('GET', `${root}/actionapprovals`)).body.items;
}

async function approvalOf(node: Node, name: string): Promise<Approval> {
  const { status, body } = await node.request<Approval>('GET', `${root}/actionapprovals/${name}`);
  assert.equal(status, 200, `the approval ${name}`);
  return body;
}

/** A contract that closes issues once a person agrees, and two pods of its caller. */
async function applyEffects(stage: Stage): Promise<void> {
  const { node, tracker } = stage;
  const { origin } = tracker;
  await stage.apply(namespace(triage), serviceAccount(account));
  await stage.apply(
    secret({ token: tracker.token, 'ca.crt': tracker.caPem }),
    binding({
      origin,
      contracts: ['close-issue'],
      spec: {
        destinations: [{ origin, methods: ['POST'], pathPrefixes: ['/v1/'], ca: { key: 'ca.crt' }, addresses: ['172.30.0.1/32'] }],
      },
    }),
    contract({ name: 'close-issue', origin, spec: closeIssue(origin) }),
  );
  await conditionIs(node, 'actioncontracts', 'close-issue', 'Ready', 'True');
  await stage.apply(pod(node.images, 'bot'), pod(node.images, 'twin'));
  for (const name of ['bot', 'twin']) {
    await podReady(node, triage, name);
    await until(`the sidecar of ${name}`, async () => {
      const { code, stdout } = await stage.shell(name, 'node /postern/postern.cjs actions');
      return code === 0 && stdout.includes('close_issue') ? true : undefined;
    });
  }
}

function closeIssue(origin: string): Record<string, unknown> {
  return {
    summary: 'Close issue $(args.number) of $(args.project)',
    effect: 'Write',
    arguments: {
      type: 'object',
      additionalProperties: false,
      required: ['project', 'number'],
      properties: {
        project: { type: 'string', enum: ['storefront', 'billing'], description: 'Whose issue' },
        number: { type: 'integer', minimum: 1, maximum: 99_999, description: 'Which issue' },
      },
    },
    http: { credential: 'issues', method: 'POST', url: `${origin}/v1/$(args.project)/issues/$(args.number)/close` },
    result: { object: '/', as: 'issue', fields: [{ name: 'number' }, { name: 'state' }] },
    completeness: undefined,
    warnings: undefined,
    idempotency: { mode: 'None' },
    approval: { mode: 'EachCall', expiresAfter: '15m' },
  };
}

/** `kubectl postern ...` as somebody who holds the chart's role of approvers in the namespace, and nothing else. */
async function approver(node: Node, name: string): Promise<(...args: readonly string[]) => Promise<Ran>> {
  await node.kubectl(['create', 'namespace', 'people']);
  const token = await node.createServiceAccountToken('people', name);
  const role = ['--clusterrole=postern-approver', `--serviceaccount=people:${name}`];
  const bound = await node.kubectl(['create', 'rolebinding', `approver-${name}`, '-n', triage, ...role]);
  assert.equal(bound.code, 0, bound.stderr);
  const kubeconfig = await writeKubeconfig(tmpdir(), name, { ...node, token });
  const env = { KUBECONFIG: kubeconfig, HOME: tmpdir() };
  const program = join(import.meta.dirname, '..', '..', 'cli', 'kubectl-postern.mjs');
  return (...args) => run(process.execPath, [program, ...args], env);
}

const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
const SCRIPT = `
const [method, path, body] = process.argv.slice(1);
const token = require('node:fs').readFileSync('${ACCOUNT_FOLDER}/token', 'utf8');
const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
fetch('https://kubernetes.default.svc' + path, { method, headers: { authorization: 'Bearer ' + token, 'content-type': type }, body })
  .then((answer) => console.log(answer.status));
`;

/** Of a request with the ServiceAccount's own token, from its container. */
async function statusOf(stage: Stage, from: string, method: string, path: string, body: unknown): Promise<number> {
  const quoted = [method, path, JSON.stringify(body)].map((text) => `'${text}'`).join(' ');
  const trust = `NODE_EXTRA_CA_CERTS=${ACCOUNT_FOLDER}/ca.crt`;
  const { stdout, stderr } = await stage.shell(from, `${trust} node -e '${SCRIPT.replaceAll("'", "'\\''")}' ${quoted}`);
  assert.match(stdout, /^\d{3}\n$/, stderr);
  return Number(stdout);
}

async function scale(node: Node, replicas: number): Promise<void> {
  await node.kubectl(['scale', '-n', system, 'deployment/postern-operator', `--replicas=${replicas}`]);
  const path = `/api/v1/namespaces/${system}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Doperator`;
  await until(`${replicas} replicas`, async () => {
    const { body } = await node.request<{ items: readonly Pod[] }>('GET', path);
    const ready = body.items.filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'));
    return body.items.length === replicas && ready.length === replicas ? true : undefined;
  });
}
