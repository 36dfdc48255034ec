/**
 * `npm run bench:cluster`: what people wait for in a cluster, on a real kube-apiserver and etcd with the guards installed, one operator as
 * a process with the chart's flags, sidecars simulated over the real protocol; rotation on a whole node (root, see README).
 *
 *   node bench/cluster/main.ts [--quick] [--only streams,admission,scale,rotation] [--json FILE]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type AdmissionFigures, measureAdmission } from './admission.ts';
import { startBenchCluster } from './cluster.ts';
import { type Figures, ms } from './figures.ts';
import { measureRotation } from './rotation.ts';
import { measureScale, rssMiB, type ScaleFigures, type ScalePlan } from './scale.ts';
import { measureStreams, type StreamFigures, type StreamPlan } from './streams.ts';

const FULL = {
  streams: { streams: 1000, accounts: 20, changes: 60, sharedChanges: 5, revocations: 100 } satisfies StreamPlan,
  scale: { contracts: 10_000, bindings: 1_000, pods: 5_000, restMs: 30_000 } satisfies ScalePlan,
  admissions: 300,
  rotations: 20,
};
const QUICK = {
  streams: { streams: 100, accounts: 10, changes: 10, sharedChanges: 2, revocations: 10 } satisfies StreamPlan,
  scale: { contracts: 500, bindings: 50, pods: 250, restMs: 5_000 } satisfies ScalePlan,
  admissions: 50,
  rotations: 3,
};

interface Results {
  streams?: StreamFigures & { readonly rssMiB: number };
  admission?: AdmissionFigures;
  scale?: ScaleFigures;
  rotation?: Figures;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } } });
  const plan = values.quick === true ? QUICK : FULL;
  const wanted = (part: string) => values.only === undefined || values.only.split(',').includes(part);
  const scratch = mkdtempSync(join(tmpdir(), 'postern-bench-cluster-'));
  const results: Results = {};
  try {
    if (wanted('streams') || wanted('admission')) {
      await using cluster = await startBenchCluster(scratch);
      if (wanted('admission')) results.admission = await step('admission', () => measureAdmission(cluster, plan.admissions));
      if (wanted('streams')) {
        const figures = await step('streams', () => measureStreams(cluster, plan.streams, scratch));
        results.streams = { ...figures, rssMiB: rssMiB(cluster.operator.pid) };
      }
    }
    if (wanted('scale')) {
      // A cluster of its own: the memory of a thousand streams is another figure.
      await using cluster = await startBenchCluster(scratch);
      results.scale = await step('scale', () => measureScale(cluster, plan.scale));
    }
    if (wanted('rotation')) results.rotation = await step('rotation', () => measureRotation(plan.rotations));
    console.log(
      `\n${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}, Linux, Node ${process.versions.node}; everything on this machine\n`,
    );
    console.log(table(results, plan));
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  console.error(`${name} ...`);
  const result = await work();
  console.error(`${name}: ${Math.round((performance.now() - startedMs) / 1000)} s`);
  return result;
}

function table({ streams, admission, scale, rotation }: Results, plan: typeof FULL): string {
  const rows: string[] = ['| what | p50 ms | p99 ms | max ms | samples | aim |', '|---|---|---|---|---|---|'];
  const add = (what: string, { p50, p99, max, count }: Figures, aim: string) =>
    rows.push(`| ${what} | ${ms(p50)} | ${ms(p99)} | ${ms(max)} | ${count} | ${aim} |`);
  if (streams !== undefined) {
    const each = plan.streams.streams / plan.streams.accounts;
    add(`apply to enforced, ${plan.streams.streams} streams, change for ${each} of them`, streams.enforced, 'p99 under 1 s');
    add(`apply to enforced, change for all ${plan.streams.streams}`, streams.enforcedAtAll, '');
    add(`revoke to refused, ${plan.streams.streams} streams`, streams.revoked, 'p99 under 1 s');
  }
  if (admission !== undefined) {
    add('pod created, no webhook', admission.without, '');
    add('pod created, webhook asked, nothing injected', admission.asked, `${ms(admission.asked.p50 - admission.without.p50)} ms more`);
    add(
      'pod created, sidecar injected',
      admission.injected,
      `p50 within 5 ms: ${ms(admission.injected.p50 - admission.without.p50)} ms more`,
    );
  }
  if (rotation !== undefined) add('rotation announced to the sidecar having it, on a real node', rotation, 'under 2 s');
  const lines = [...rows, ''];
  if (streams !== undefined) lines.push(`Operator with ${plan.streams.streams} streams: ${streams.rssMiB.toFixed(0)} MiB resident.`);
  if (scale !== undefined) {
    const { contracts, bindings, pods } = plan.scale;
    lines.push(
      `Operator with ${contracts} contracts, ${bindings} bindings, ${pods} pods: ${scale.rssMiB.toFixed(0)} MiB resident (aim under 250), ` +
        `${(scale.restCpu * 100).toFixed(1)} % of a core at rest; every contract decided ${(scale.settledMs / 1000).toFixed(1)} s after the last was created.`,
    );
  }
  return lines.join('\n');
}

await main();
