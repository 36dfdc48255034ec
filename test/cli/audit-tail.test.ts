/** Goal: what follows the log of a running sidecar sees every record once. Method: the program as a process beside a real chain. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { AuditChain } from '#sidecar/audit/chain.ts';
import { IDENTITY, noise, openChain } from '#test/sidecar/audit/chain-stage.ts';
import { program } from './run-postern.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-audit-tail-'));
const keyFile = join(home, 'auditor.key');
writeFileSync(keyFile, `${IDENTITY.secret}\n`, { mode: 0o600 });
after(() => rmSync(home, { recursive: true, force: true }));

test('audit tail: shows every record once over rotations, drops of what was shipped and a restart, and ends well by Ctrl-C', {
  timeout: 120_000,
}, async () => {
  const folder = join(home, 'live');
  const bounds = { walSegmentBytes: 16 * 1024 };
  let chain = await openChain(folder, { bounds });
  await append(chain, 'before');
  await using tail = follow(folder);
  await until(() => tail.err().includes('following from sequence'));
  const wanted: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    wanted.push(`first-${at}`);
    await append(chain, `first-${at}`);
    if (at % 10 === 9) await chain.closeSegment();
  }
  await until(() => tail.actions().length === wanted.length);
  // All that is shown may go now, and the log begins elsewhere.
  for (const segment of chain.closed()) await chain.shipped(segment);
  await until(() => !existsSync(join(folder, '0000000001.wal')));
  await append(chain, 'after the drop');
  await chain.end();
  await chain.close();
  chain = await openChain(folder, { bounds });
  await append(chain, 'after the restart');
  wanted.push('after the drop', 'after the restart');
  await until(() => tail.actions().length >= wanted.length);
  // The last moment counts: what is written is shown, also when the end has been asked for.
  wanted.push('last');
  await append(chain, 'last');
  assert.equal(await tail.interrupted(), 0);
  await chain.close();
  assert.deepEqual(tail.actions(), wanted);
  assert.deepEqual(
    tail.sequences(),
    [...new Set(tail.sequences())].sort((a, b) => a - b),
  );
});

test('audit tail -o table: one header, and rows that stand under it', { timeout: 120_000 }, async () => {
  const folder = join(home, 'table');
  const chain = await openChain(folder);
  await using tail = follow(folder, '-o', 'table');
  await until(() => tail.err().includes('following from sequence'));
  for (const action of ['one', 'two', 'three']) {
    await append(chain, action);
    await until(() => tail.out().includes(` ${action} `));
  }
  assert.equal(await tail.interrupted(), 0);
  await chain.close();
  const [header = '', ...rows] = tail.out().trimEnd().split('\n');
  assert.match(header, /^SEQUENCE +AT +RECORD +ACTION +OPERATION +SAYS$/);
  assert.equal(rows.length, 3);
  for (const row of rows) assert.equal(row.indexOf('op_'), header.indexOf('OPERATION'), row);
});

function append(chain: AuditChain, action: string): Promise<unknown> {
  const text = JSON.stringify({ record: 'intent', at: new Date().toISOString(), action, operation_id: OPERATION, filler: noise(700) });
  return chain.append({ kind: 'intent', text, operationId: OPERATION });
}

const OPERATION = `op_${'a1'.repeat(13)}`;

interface Tail extends AsyncDisposable {
  out(): string;
  err(): string;
  actions(): unknown[];
  sequences(): number[];
  /** The exit code after SIGINT. */
  interrupted(): Promise<number | null>;
}

function follow(folder: string, ...flags: readonly string[]): Tail {
  const child: ChildProcess = spawn(process.execPath, [program, 'audit', 'tail', '--identity', keyFile, ...flags, folder], { env: {} });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += String(chunk);
  });
  child.stderr?.on('data', (chunk) => {
    err += String(chunk);
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const records = (): { action: string; sequence: number }[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return {
    out: () => out,
    err: () => err,
    actions: () => records().flatMap(({ action }) => action ?? []),
    sequences: () => records().map(({ sequence }) => sequence),
    interrupted: () => {
      child.kill('SIGINT');
      return exited;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function until(happens: () => boolean): Promise<void> {
  while (!happens()) await new Promise((resolve) => setTimeout(resolve, 20));
}
