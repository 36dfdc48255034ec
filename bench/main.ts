/**
 * `npm run bench`: Postern beside what one could use instead, on this machine, in one run: same upstream, same load.
 *
 *   node bench/main.ts [--quick] [--only postern,F] [--json FILE]
 *
 * Everything runs on loopback and is ended at the end. docs/performance.md says what the figures mean.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Plan, runBench } from './run.ts';

const FULL: Plan = { rounds: 3, measureMs: 2_500, warmMs: 1_000, firstWarmMs: 20_000, starts: 10 };
const QUICK: Plan = { rounds: 1, measureMs: 1_000, warmMs: 500, firstWarmMs: 4_000, starts: 3 };

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } } });
const scratch = mkdtempSync(join(tmpdir(), 'postern-bench-'));
try {
  const { text, results } = await runBench({
    plan: values.quick === true ? QUICK : FULL,
    only: values.only?.split(','),
    scratch,
    token: randomBytes(16).toString('hex'),
  });
  const model = cpus()[0]?.model ?? 'unknown CPU';
  console.log(`\n${cpus().length} x ${model}, Linux, Node ${process.versions.node}, loopback, plaintext\n\n${text}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
} finally {
  rmSync(scratch, { recursive: true });
}
