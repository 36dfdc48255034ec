/** The operator with a large cluster in its caches: what it holds in memory, what it does when nothing changes. */
import { readFileSync } from 'node:fs';
import { type BenchCluster, inParallel, pause } from './cluster.ts';
import { binding, contract } from './streams.ts';

export interface ScalePlan {
  readonly contracts: number;
  readonly bindings: number;
  readonly pods: number;
  readonly restMs: number;
}

export interface ScaleFigures {
  readonly rssMiB: number;
  /** Share of one core while nothing changes. */
  readonly restCpu: number;
  /** From the last object created to every contract decided. */
  readonly settledMs: number;
}

const PER_NAMESPACE = 10;

export async function measureScale({ api, call, operator }: BenchCluster, plan: ScalePlan): Promise<ScaleFigures> {
  const namespaces = Array.from({ length: plan.bindings / PER_NAMESPACE }, (_, index) => `team-${index}`);
  const share = { contracts: plan.contracts / namespaces.length, pods: plan.pods / namespaces.length };
  await inParallel(namespaces, 8, async (namespace) => {
    await call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'bot' } });
    const postern = `/apis/postern.dev/v1alpha1/namespaces/${namespace}`;
    const names = Array.from({ length: share.contracts }, (_, index) => `list-${index}`);
    for (let index = 0; index < PER_NAMESPACE; index += 1) {
      const bound = {
        ...(binding(names.slice(0, 100)) as { metadata: object }),
        metadata: { name: index === 0 ? 'tracker' : `tracker-${index}` },
      };
      await call('POST', `${postern}/credentialbindings`, bound);
    }
    for (const name of names) await call('POST', `${postern}/actioncontracts`, contract(name, ['bot']));
    for (let index = 0; index < share.pods; index += 1) {
      const pod = {
        metadata: { name: `pod-${index}`, labels: { app: 'web', tier: 'front' } },
        spec: { serviceAccountName: 'bot', nodeName: 'node', containers: [{ name: 'app', image: 'app:1' }] },
      };
      await call('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
    }
  });
  const createdMs = performance.now();
  for (const namespace of namespaces) await decided(api, namespace);
  const settledMs = performance.now() - createdMs;
  await pause(plan.restMs);
  const before = cpuSeconds(operator.pid);
  await pause(plan.restMs);
  return { rssMiB: rssMiB(operator.pid), restCpu: (cpuSeconds(operator.pid) - before) / (plan.restMs / 1000), settledMs };
}

async function decided(api: BenchCluster['api'], namespace: string): Promise<void> {
  for (;;) {
    const { body } = await api.request<{ items: { status?: { conditions?: { type: string }[] } }[] }>(
      'GET',
      `/apis/postern.dev/v1alpha1/namespaces/${namespace}/actioncontracts`,
    );
    if (body.items.every(({ status }) => status?.conditions?.some(({ type }) => type === 'Accepted'))) return;
    await pause(500);
  }
}

export function rssMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** User and system time, in seconds; the kernel counts hundredths. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
