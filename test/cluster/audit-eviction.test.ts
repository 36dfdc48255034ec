/**
 * The audit of agents whose pods go, on a real node with a real store: whatever ends a pod, what took effect outlives it sealed, and a
 * stranger is told exactly what is missing (P7, AUD-02, AUD-12).
 */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeFrame } from '#core/audit/frame.ts';
import { type Ran, run } from '#test/cli/run-postern.ts';
import { nodeUnavailable } from '#test/servers/node.ts';
import { type Pod, podReady, podUntil, until } from '#test/servers/pods.ts';
import { makeIdentity } from '#test/sidecar/audit/chain-stage.ts';
import { type AuditBucket, startAuditBucket } from './audit-bucket.ts';
import { sidecarStatus } from './injected.ts';
import { type AgentOptions, account, binding, contract, namespace, pod, secret, serviceAccount, triage } from './objects.ts';
import { conditionIs, firstToken, install, type Stage, startStage, system, systemLogs } from './stage.ts';

const skip = await nodeUnavailable('weed');
const CANARY = 'canary-of-the-evicted-agent';
const identity = makeIdentity();
const root = join(import.meta.dirname, '..', '..');

/** Ends when it is told to, and leaves its sidecar the time that Kubernetes gives by default. */
const ORDERLY: AgentOptions = {
  container: { command: ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 0.1; done"] },
  spec: { terminationGracePeriodSeconds: 30 },
};

interface Session {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly pod: { readonly name: string; readonly uid: string } };
  readonly status?: {
    readonly head?: { readonly sequence: number };
    readonly audit?: {
      readonly mode: string;
      readonly effects?: string;
      readonly origin?: string;
      readonly epoch?: number;
      readonly key?: string;
    };
  };
}

/** As a process that is killed would leave them: no grace, or none that is left. */
const KILLED: readonly [string, (stage: Stage, name: string) => Promise<unknown>][] = [
  ['deleted without grace', ({ node }, name) => node.kubectl(['delete', 'pod', '-n', triage, name, '--grace-period=0', '--force'])],
  ['evicted without grace', (stage, name) => evict(stage, name, 0)],
];

test('audit on a node: agents whose pods go', { skip }, async (t) => {
  await using stage = await startStage();
  // Behind it: the address belongs to the node.
  await using bucket = await startAuditBucket();
  const { node, tracker } = stage;
  await installAudited(stage, bucket);
  await applyClosing(stage);
  let issue = 0;
  const close = async (name: string) => {
    issue += 1;
    const args = { project: 'storefront', number: issue, why: CANARY };
    const answer = await stage.call(name, 'close_issue', args);
    assert.equal(answer.status, 'ok', JSON.stringify(answer));
  };

  // First, because a minute passes until the heads of all sessions are in the store.
  const orderly = await start(stage, 'in-order', ORDERLY);
  const restarted = await start(stage, 'restarted', ORDERLY);

  for (const [what, kill] of KILLED)
    await t.test(`audit on a node: of an agent ${what} right after an effect, the sealed intent is in the store (AUD-12)`, async () => {
      const name = what.replaceAll(' ', '-');
      const agent = await start(stage, name);
      const session = await witnessed(stage, agent);
      assert.deepEqual([session.status?.audit?.mode, session.status?.audit?.effects], ['Shipped', 'Acknowledged']);
      const effects = tracker.effects.length;
      await close(name);
      const onDisk = volumeBytes(agent);
      const killed = await kill(stage, name);
      await gone(stage, agent);
      assert.equal(tracker.effects.length, effects + 1, JSON.stringify(killed));

      const names = await objectsOf(bucket, agent);
      const [kept, ...others] = names.filter((object) => object.includes('/intents/'));
      assert.deepEqual(others, []);
      const frame = decodeFrame(await bucket.object(kept ?? ''), 0);
      assert.ok('heads' in frame, kept);
      assert.ok(frame.heads.some(({ kind, operationId }) => kind === 'intent' && operationId !== undefined));
      assert.ok(kept?.endsWith(`/${String(frame.sequence).padStart(16, '0')}.frame`), kept);
      await unreadable(bucket, agent, onDisk);

      const { out, err } = await verify(bucket, agent, session);
      assert.match(out, /chain: there is none\n/, err);
      assert.match(out, new RegExp(`1 intents were kept beyond the end, to sequence ${frame.sequence}: the tail of this chain is missing`));
    });

  await t.test('audit on a node: a session whose segments are not in the store is told as missing while it is there (AUD-02)', async () => {
    const session = await witnessed(stage, orderly);
    const { code, out, err } = await verifySessions(stage, bucket);
    assert.equal(code, 1, `${out}${err}`);
    assert.match(blockOf(out, session), /tail: MISSING: head witnessed \d+, found no chain\. To sequence 0 it was stored\.\n/);
  });

  await t.test('audit on a node: of an agent that is deleted in order nothing is missing, to its last record', async () => {
    await close('in-order');
    const session = await witnessed(stage, orderly);
    await inHeads(bucket, session);
    const deleted = await node.kubectl(['delete', 'pod', '-n', triage, 'in-order', '--timeout=90s']);
    assert.equal(deleted.code, 0, deleted.stderr);
    const names = await objectsOf(bucket, orderly);
    assert.ok(
      names.some((name) => name.includes('/manifest-')),
      `${names.join('\n')}\n${await systemLogs(node)}`,
    );
    const { code, out, err } = await verify(bucket, orderly, session);
    assert.equal(code, 0, `${out}${err}`);
    assert.match(out, /chain: valid\n/);
    assert.match(out, /signature: valid to sequence \d+, signed by postern\.dev\/authority\/tests\n/);
    assert.match(out, /tail: nothing is missing up to sequence \d+\n/);
    await unreadable(bucket, orderly, Buffer.alloc(0));
  });

  await t.test('audit on a node: a sidecar whose container is killed goes on with its chain, in another epoch (AUD-03)', async () => {
    await close('restarted');
    const session = await witnessed(stage, restarted);
    await inHeads(bucket, session);
    await node.killContainer(restarted, 'postern');
    const { restartCount } = sidecarStatus(restarted);
    await podUntil(node, triage, 'restarted', (now) => sidecarStatus(now).restartCount > restartCount && sidecarStatus(now).ready);
    await until('an effect after the restart', () => close('restarted').then(() => true));
    await until('the second epoch', async () => ((await sessionOf(stage, restarted)).status?.audit?.epoch === 2 ? true : undefined));
    const deleted = await node.kubectl(['delete', 'pod', '-n', triage, 'restarted', '--timeout=90s']);
    assert.equal(deleted.code, 0, deleted.stderr);
    const { code, out, err } = await verify(bucket, restarted, session);
    assert.equal(code, 0, `${out}${err}`);
    assert.match(out, /chain: valid\n/);
    assert.match(out, /tail: nothing is missing up to sequence \d+\n/);
    assert.match(out, /1 epochs without an end, cut off by a crash or by somebody: 1\n/);
  });
});

async function installAudited(stage: Stage, bucket: AuditBucket): Promise<void> {
  await stage.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: system } });
  await stage.apply(secret({ credentials: bucket.credentials, 'ca.crt': bucket.caPem }, { name: 'audit-store', inNamespace: system }));
  const values = {
    'audit.recipients[0]': identity.recipient,
    'audit.cluster': 'tests',
    'audit.store.url': bucket.url.replaceAll(',', '\\,'),
    'audit.store.secret': 'audit-store',
    'audit.store.rootsKey': 'ca.crt',
  };
  await install(stage, ...Object.entries(values).flatMap(([name, value]) => ['--set-string', `${name}=${value}`]));
}

/** A contract whose effect waits for nobody, so that a test can cause one when it likes. */
async function applyClosing(stage: Stage): Promise<void> {
  const { node, tracker } = stage;
  const { origin } = tracker;
  const destinations = [{ origin, methods: ['POST'], pathPrefixes: ['/v1/'], ca: { key: 'ca.crt' }, addresses: ['172.30.0.1/32'] }];
  await stage.apply(namespace(triage), serviceAccount(account));
  await stage.apply(
    secret({ token: tracker.token, 'ca.crt': tracker.caPem }),
    binding({ origin, contracts: ['close-issue'], spec: { destinations } }),
    contract({ name: 'close-issue', origin, spec: closeIssue(origin) }),
  );
  await conditionIs(node, 'actioncontracts', 'close-issue', 'Ready', 'True');
}

function closeIssue(origin: string): Record<string, unknown> {
  const properties = {
    project: { type: 'string', enum: ['storefront'], description: 'Whose issue' },
    number: { type: 'integer', minimum: 1, maximum: 99_999, description: 'Which issue' },
    why: { type: 'string', maxLength: 100, description: 'What is written below it' },
  };
  return {
    summary: 'Close issue $(args.number) of $(args.project)',
    effect: 'Write',
    arguments: { type: 'object', additionalProperties: false, required: ['project', 'number', 'why'], properties },
    http: {
      credential: 'issues',
      method: 'POST',
      url: `${origin}/v1/$(args.project)/issues/$(args.number)/close`,
      query: { why: '$(args.why)' },
    },
    result: { object: '/', as: 'issue', fields: [{ name: 'number' }, { name: 'state' }] },
    completeness: undefined,
    warnings: undefined,
    idempotency: { mode: 'None' },
    approval: { mode: 'None', because: 'closing an issue twice leaves it closed' },
  };
}

/** Resolves once the agent of the pod may call. */
async function start(stage: Stage, name: string, options: AgentOptions = {}): Promise<Pod> {
  await stage.apply(pod(stage.node.images, name, options));
  const agent = await podReady(stage.node, triage, name);
  await until(`the sidecar of ${name}`, async () => {
    const { code, stdout } = await stage.shell(name, 'node /postern/postern.cjs actions');
    return code === 0 && stdout.includes('close_issue') ? true : undefined;
  });
  return agent;
}

async function sessionOf({ node }: Stage, { metadata }: Pod): Promise<Session> {
  const { body } = await node.request<{ items: readonly Session[] }>(
    'GET',
    `/apis/postern.dev/v1alpha1/namespaces/${triage}/agentsessions`,
  );
  const found = body.items.find(({ spec }) => spec.pod.uid === metadata.uid);
  if (found === undefined) throw new Error(`no session of the pod ${metadata.name}`);
  return found;
}

/** Once its head stands in the API server, where the node cannot reach it. */
function witnessed(stage: Stage, agent: Pod): Promise<Session> {
  return until('a witnessed head', async () => {
    const session = await sessionOf(stage, agent);
    return (session.status?.head?.sequence ?? 0) > 0 ? session : undefined;
  });
}

async function evict({ node }: Stage, name: string, gracePeriodSeconds: number): Promise<unknown> {
  const { status, body } = await node.request('POST', `/api/v1/namespaces/${triage}/pods/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: triage },
    deleteOptions: { gracePeriodSeconds },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function gone({ node }: Stage, { metadata }: Pod): Promise<void> {
  await until(`the pod ${metadata.name} to go`, async () => {
    const { status } = await node.request('GET', `/api/v1/namespaces/${triage}/pods/${metadata.name}`);
    return status === 404 ? true : undefined;
  });
}

async function objectsOf(bucket: AuditBucket, { metadata }: Pod): Promise<readonly string[]> {
  return (await bucket.names()).filter((name) => name.includes(`/${metadata.uid}/`));
}

/** Once an object of heads speaks of its chain: sessions go with their pods, and what was witnessed of them is there then. */
async function inHeads(bucket: AuditBucket, { status }: Session): Promise<void> {
  await until('its head in the store', async () =>
    (await headNotes(bucket)).some((note) => note.includes(status?.audit?.origin ?? 'none')) ? true : undefined,
  );
}

async function headNotes(bucket: AuditBucket): Promise<readonly string[]> {
  const names = (await bucket.names()).filter((name) => name.startsWith('heads/'));
  return Promise.all(names.map(async (name) => (await bucket.object(name)).toString('utf8')));
}

/** As a stranger does it: from the bucket, with the key of the operator and the heads it signed. */
async function verify(bucket: AuditBucket, agent: Pod, { status }: Session): Promise<Ran> {
  const [found = ''] = await objectsOf(bucket, agent);
  const url = bucket.url.replace('?', `/${found.slice(0, found.indexOf(agent.metadata.uid) + agent.metadata.uid.length)}?`);
  const heads = (await headNotes(bucket)).flatMap((note, index) => {
    const file = join(tmpdir(), `heads-${index}.note`);
    writeFileSync(file, note);
    return ['--head', file];
  });
  const args = ['audit', 'verify', '--key', status?.audit?.key ?? '', ...heads, url];
  return run(process.execPath, [join(root, 'cli', 'postern.mjs'), ...args], { HOME: tmpdir(), ...bucket.env });
}

function verifySessions(stage: Stage, bucket: AuditBucket): Promise<Ran> {
  const args = ['audit', 'verify', '-n', triage, bucket.url];
  const env = { KUBECONFIG: stage.node.kubeconfig, HOME: tmpdir(), ...bucket.env };
  return run(process.execPath, [join(root, 'cli', 'kubectl-postern.mjs'), ...args], env);
}

/** What is said of one session. */
function blockOf(out: string, { metadata }: Session): string {
  const found = out.split('\n\n').find((block) => block.startsWith(`session: ${triage}/${metadata.name}\n`));
  assert.ok(found !== undefined, `nothing of ${metadata.name}: ${out}`);
  return `${found}\n`;
}

/** What the node's disk has of the audit of a pod. */
function volumeBytes({ metadata }: Pod): Buffer {
  const folder = `/var/lib/kubelet/pods/${metadata.uid}/volumes/kubernetes.io~empty-dir/postern-audit`;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > 0, 'nothing of the audit is on the disk');
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

/** Neither arguments nor credentials, whoever holds bucket and disk. */
async function unreadable(bucket: AuditBucket, agent: Pod, disk: Buffer): Promise<void> {
  const objects = await Promise.all((await objectsOf(bucket, agent)).map((name) => bucket.object(name)));
  const all = Buffer.concat([disk, ...objects]);
  assert.ok(all.length > 0);
  for (const text of [CANARY, firstToken, bucket.env.AWS_SECRET_ACCESS_KEY ?? '']) assert.equal(all.includes(text), false, 'readable');
}
