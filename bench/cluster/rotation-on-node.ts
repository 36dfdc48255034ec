/**
 * On a whole node: a Secret gets a new value, somebody announces it, and the sidecar reports that value. The report comes after the
 * sidecar has it, so this is the most it can take until a call uses it. Prints `{"samples": [milliseconds, ...]}`.
 */
import '#test/servers/isolated.ts';
import { applyTriage, install, type Stage, startStage } from '#test/cluster/stage.ts';

const SECRET = '/api/v1/namespaces/triage/secrets/postern-issues';
const BINDING = '/apis/postern.dev/v1alpha1/namespaces/triage/credentialbindings/issues';
const SESSIONS = '/apis/postern.dev/v1alpha1/namespaces/triage/agentsessions';
const POLL_MS = 10;
const LIMIT_MS = 180_000;

interface Session {
  readonly status?: { readonly credentials?: readonly { readonly key: string; readonly digest?: string }[] };
}

const rounds = Number(process.argv[2] ?? 20);
await using stage = await startStage();
await install(stage);
await applyTriage(stage);
await until(async () => ((await digest(stage)) === undefined ? undefined : true));
const samples: number[] = [];
for (let round = 0; round < rounds; round += 1) samples.push(await rotateOnce(stage, round));
process.stdout.write(`${JSON.stringify({ samples })}\n`);

async function rotateOnce({ node, tracker }: Stage, round: number): Promise<number> {
  const before = await digest(stage);
  const token = `value-number-${round}-of-the-token`;
  tracker.token = token;
  await request(node, 'PATCH', SECRET, { stringData: { token } });
  const startedMs = performance.now();
  const annotations = { 'postern.dev/rotate-requested': new Date().toISOString() };
  await request(node, 'PATCH', BINDING, { metadata: { annotations } });
  await until(async () => ((await digest(stage)) === before ? undefined : true));
  return performance.now() - startedMs;
}

async function request(node: Stage['node'], method: string, path: string, body: unknown): Promise<void> {
  const { status } = await node.request(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}`);
}

async function digest({ node }: Stage): Promise<string | undefined> {
  const { body } = await node.request<{ items: Session[] }>('GET', SESSIONS);
  return body.items[0]?.status?.credentials?.find(({ key }) => key === 'token')?.digest;
}

async function until(holds: () => Promise<true | undefined>): Promise<void> {
  const lastMs = performance.now() + LIMIT_MS;
  while ((await holds()) === undefined) {
    if (performance.now() > lastMs) throw new Error('the new value never came');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
