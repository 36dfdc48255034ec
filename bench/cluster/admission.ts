/**
 * What the webhook adds to making a pod: the same pod, dry-run, in a namespace with the webhook and in one without, in turn, so that
 * whatever else the machine does meets both.
 */
import type { BenchCluster } from './cluster.ts';
import { type Figures, figuresOf } from './figures.ts';
import { binding, contract } from './streams.ts';

export interface AdmissionFigures {
  readonly without: Figures;
  /** Asked the webhook, whose answer changes nothing: its account is no caller. */
  readonly asked: Figures;
  readonly injected: Figures;
}

/** Guards judge both: they are no part of the difference. */
export async function measureAdmission({ call, api }: BenchCluster, rounds: number): Promise<AdmissionFigures> {
  const team = 'admission';
  const bare = 'admission-bare';
  for (const [name, labels] of [
    [team, { 'postern.dev/enforce': '' }],
    [bare, { 'postern.dev/enforce': '', 'bench/no-webhook': '' }],
  ] as const) {
    await call('POST', '/api/v1/namespaces', { metadata: { name, labels } });
    for (const account of ['bot', 'nobody'])
      await call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: account } });
  }
  const postern = `/apis/postern.dev/v1alpha1/namespaces/${team}`;
  await call('POST', `${postern}/credentialbindings`, binding(['list']));
  await call('POST', `${postern}/actioncontracts`, contract('list', ['bot']));
  await injects(api, team);
  const cases = [
    { namespace: bare, account: 'bot', times: [] as number[] },
    { namespace: team, account: 'nobody', times: [] as number[] },
    { namespace: team, account: 'bot', times: [] as number[] },
  ] as const;
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const { namespace, account, times } of cases) {
      const startedMs = performance.now();
      await call('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod(account));
      if (round >= 0) times.push(performance.now() - startedMs);
    }
  }
  const [without, asked, injected] = cases;
  return { without: figuresOf(without.times), asked: figuresOf(asked.times), injected: figuresOf(injected.times) };
}

const WARM_UP = 50;

function pod(account = 'bot'): object {
  const containers = Array.from({ length: 3 }, (_, index) => ({ name: `app-${index}`, image: 'app:1' }));
  return { metadata: { generateName: 'bot-' }, spec: { serviceAccountName: account, automountServiceAccountToken: false, containers } };
}

/** Until pods are injected: else the webhook would be timed at doing nothing. */
async function injects(api: BenchCluster['api'], team: string): Promise<void> {
  for (;;) {
    const { status, body } = await api.request<{ spec?: { initContainers?: unknown[] } }>(
      'POST',
      `/api/v1/namespaces/${team}/pods?dryRun=All`,
      pod(),
    );
    if (status === 201 && body.spec?.initContainers?.length === 1) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
