/** A thousand connected sidecars: from a change in the API server to the bundle there, from `spec.revoked` to the sidecar told. */
import { fork } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinServerName } from '#core/resource/names.ts';
import { pinOf } from '#operator/certificate/pin.ts';
import { type BenchCluster, inParallel, pause } from './cluster.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { StreamNews, StreamOrders } from './streams-process.ts';

export interface StreamPlan {
  readonly streams: number;
  readonly accounts: number;
  /** Changes of a contract one account uses, of one all use, and revocations. */
  readonly changes: number;
  readonly sharedChanges: number;
  readonly revocations: number;
}

export interface StreamFigures {
  readonly enforced: Figures;
  readonly enforcedAtAll: Figures;
  readonly revoked: Figures;
}

const TEAM = 'agents';
const POSTERN = `/apis/postern.dev/v1alpha1/namespaces/${TEAM}`;
const WAIT_MS = 120_000;

export async function measureStreams(cluster: BenchCluster, plan: StreamPlan, scratch: string): Promise<StreamFigures> {
  const { call } = cluster;
  await call('POST', '/api/v1/namespaces', { metadata: { name: TEAM, labels: { 'postern.dev/enforce': '' } } });
  const accounts = Array.from({ length: plan.accounts }, (_, index) => `agent-${index}`);
  for (const name of accounts) await call('POST', `/api/v1/namespaces/${TEAM}/serviceaccounts`, { metadata: { name } });
  const names = [...accounts.map((account) => `own-${account}`), 'shared'];
  await call('POST', `${POSTERN}/credentialbindings`, binding(names));
  for (const account of accounts) await call('POST', `${POSTERN}/actioncontracts`, contract(`own-${account}`, [account]));
  await call('POST', `${POSTERN}/actioncontracts`, contract('shared', accounts));
  await accepted(cluster, names);
  const agents = await makeAgents(cluster, plan.streams, accounts);
  const news = await Streams.open(cluster, agents, scratch);
  try {
    const enforced = await changes(cluster, news, plan, accounts);
    const all = await sharedChanges(cluster, news, plan);
    const revoked = await revocations(cluster, news, plan, agents);
    return { enforced: figuresOf(enforced), enforcedAtAll: figuresOf(all), revoked: figuresOf(revoked) };
  } finally {
    news.close();
  }
}

async function changes(cluster: BenchCluster, news: Streams, { changes: count, streams }: StreamPlan, accounts: readonly string[]) {
  const samples: number[] = [];
  for (let change = 0; change < count; change += 1) {
    const at = change % accounts.length;
    const touched = indexes(streams).filter((index) => index % accounts.length === at);
    samples.push(...(await changed(cluster, news, `own-${accounts[at]}`, change, touched)));
  }
  return samples;
}

async function sharedChanges(cluster: BenchCluster, news: Streams, { sharedChanges: count, streams }: StreamPlan) {
  const samples: number[] = [];
  for (let change = 0; change < count; change += 1) samples.push(...(await changed(cluster, news, 'shared', change, indexes(streams))));
  return samples;
}

/** Milliseconds from sending the change to each sidecar's having it. */
async function changed({ call }: BenchCluster, news: Streams, name: string, change: number, touched: readonly number[]): Promise<number[]> {
  const startedMs = now();
  const arrived = news.next('bundle', touched);
  await call('PATCH', `${POSTERN}/actioncontracts/${name}`, { spec: { summary: `List issues, edition ${change}` } });
  return (await arrived).map((atMs) => atMs - startedMs);
}

async function revocations({ call }: BenchCluster, news: Streams, { revocations: count }: StreamPlan, agents: readonly Agent[]) {
  const samples: number[] = [];
  for (const agent of agents.slice(0, count)) {
    const startedMs = now();
    const told = news.next('revoked', [agent.index]);
    await call('PATCH', `${POSTERN}/agentsessions/${agent.session}`, { spec: { revoked: true } });
    for (const atMs of await told) samples.push(atMs - startedMs);
  }
  return samples;
}

interface Agent {
  readonly index: number;
  readonly session: string;
  readonly token: string;
}

/** Pods as an agent's author writes them; the webhook puts the sidecar in. */
async function makeAgents({ call }: BenchCluster, count: number, accounts: readonly string[]): Promise<readonly Agent[]> {
  const agents: Agent[] = [];
  await inParallel(indexes(count), 8, async (index) => {
    const account = accounts[index % accounts.length] ?? '';
    const name = `agent-${index}`;
    const pod = {
      metadata: { name },
      spec: { serviceAccountName: account, nodeName: 'node', containers: [{ name: 'agent', image: 'agent:1' }] },
    };
    const { metadata } = await call<{ metadata: { uid: string } }>('POST', `/api/v1/namespaces/${TEAM}/pods`, pod);
    const request = {
      spec: {
        audiences: ['postern-control'],
        expirationSeconds: 3600,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid: metadata.uid },
      },
    };
    const path = `/api/v1/namespaces/${TEAM}/serviceaccounts/${account}/token`;
    const { status } = await call<{ status: { token: string } }>('POST', path, request);
    agents.push({ index, session: `${name}-${metadata.uid.slice(0, 8)}`, token: status.token });
  });
  return agents.sort((a, b) => a.index - b.index);
}

/** News of the streams, as somebody waits for them. */
class Streams {
  readonly #child: ReturnType<typeof fork>;
  readonly #waits = new Set<(news: StreamNews) => void>();

  private constructor(child: ReturnType<typeof fork>) {
    this.#child = child;
    child.on('message', (news) => {
      for (const wait of this.#waits) wait(news as StreamNews);
    });
  }

  static async open(cluster: BenchCluster, agents: readonly Agent[], scratch: string): Promise<Streams> {
    const orders: StreamOrders = {
      address: `127.0.0.1:${cluster.operator.controlPort}`,
      ca: cluster.caPem,
      serverName: pinServerName(pinOf(new X509Certificate(cluster.caPem))),
      agents,
    };
    const file = join(scratch, 'streams.json');
    writeFileSync(file, JSON.stringify(orders), { mode: 0o600 });
    const child = fork(join(import.meta.dirname, 'streams-process.ts'), [file], { env: {}, execArgv: [] });
    const streams = new Streams(child);
    const ended: string[] = [];
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the streams ended')));
      child.on('message', ({ kind, detail }: { kind: string; detail?: string }) => {
        if (kind === 'ended') ended.push(detail ?? '');
        if (kind === 'opened') resolve();
      });
    });
    if (ended.length > 0) throw new Error(`${ended.length} streams were refused: ${ended[0]}`);
    // The states of a thousand sessions are written meanwhile; they are not what is measured.
    await pause(10_000);
    return streams;
  }

  /** When the next such news came for each of them. */
  next(kind: StreamNews['kind'], indexes: readonly number[]): Promise<readonly number[]> {
    const missing = new Set(indexes);
    const times: number[] = [];
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${missing.size} of ${indexes.length} streams heard nothing`)), WAIT_MS);
      const wait = (news: StreamNews) => {
        if (news.kind === kind && missing.delete(news.index)) times.push(news.atMs);
        if (missing.size > 0) return;
        clearTimeout(timer);
        this.#waits.delete(wait);
        resolve(times);
      };
      this.#waits.add(wait);
    });
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}

async function accepted({ call }: BenchCluster, names: readonly string[]): Promise<void> {
  for (const name of names) {
    for (;;) {
      const { status } = await call<{ status?: { conditions?: { type: string; status: string }[] } }>(
        'GET',
        `${POSTERN}/actioncontracts/${name}`,
      );
      if (status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')) break;
      await pause(50);
    }
  }
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

export function binding(contracts: readonly string[]): object {
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'CredentialBinding',
    metadata: { name: 'tracker' },
    spec: {
      owner: 'platform',
      secret: { name: 'postern-tracker' },
      contracts,
      destinations: [{ origin: 'https://api.example.com' }],
      use: { bearer: { key: 'token' } },
    },
  };
}

export function contract(name: string, callers: readonly string[]): object {
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'ActionContract',
    metadata: { name },
    spec: {
      action: name.replaceAll('-', '_'),
      summary: 'List issues',
      owner: 'triage',
      effect: 'Read',
      callers: callers.map((serviceAccount) => ({ serviceAccount })),
      credentials: ['tracker'],
      arguments: { type: 'object', additionalProperties: false, properties: {} },
      http: { credential: 'tracker', method: 'GET', url: 'https://api.example.com/issues' },
      result: { items: ['/items'], as: 'issues', id: ['/id'], fields: [{ name: 'id' }] },
      completeness: {
        paging: { mode: 'SingleResponse' },
        signals: [{ name: 'cut', when: 'has(body.truncated) && body.truncated', reason: 'SOURCE_UNAVAILABLE' }],
        limits: { items: 1000, time: '10s' },
        scope: { resource: 'issues', visibility: 'all', absence: 'Provable' },
      },
    },
  };
}
