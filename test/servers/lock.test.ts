import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { acquireLock } from './lock.ts';

test('lock: the second holder waits for the first', async (t) => {
  const path = join(await folderOf(t), 'lock');
  const order: string[] = [];
  const first = await acquireLock(path, () => assert.fail('the first has nobody to wait for'));
  const second = acquireLock(path, () => order.push('second waits')).then(async (lock) => {
    order.push('second holds');
    await lock[Symbol.asyncDispose]();
  });
  while (order.length === 0) await new Promise(setImmediate);
  order.push('first ends');
  await first[Symbol.asyncDispose]();
  await second;
  assert.deepEqual(order, ['second waits', 'first ends', 'second holds']);
});

test('lock: a holder that died is no holder', async (t) => {
  const folder = await folderOf(t);
  const path = join(folder, 'lock');
  const dead = spawn('true');
  await once(dead, 'exit');
  await writeFile(path, String(dead.pid));
  const lock = await acquireLock(path, () => assert.fail('nobody is waited for'));
  await lock[Symbol.asyncDispose]();
  assert.deepEqual(await readdir(folder), []);
});

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-lock-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}
