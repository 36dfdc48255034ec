import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, openWorkspace, startIn } from './process.ts';

// A test process in small: starts one endless program, tells its id and folder, and then hangs.
const victim = `
import { openWorkspace } from ${JSON.stringify(join(import.meta.dirname, 'process.ts'))};
const place = await openWorkspace('victim');
const stray = place.folder + '.stray';
const args = ['-c', 'echo $$ > ' + stray + '; echo $$ > pid; exec sleep 600'];
const { readFileSync } = await import('node:fs');
const ready = async () => readFileSync(place.folder + '/pid', 'utf8') !== '';
await place.launch({ program: 'sh', args, strays: [stray], ready });
console.log(readFileSync(place.folder + '/pid', 'utf8').trim() + ' ' + place.folder);
setInterval(() => {}, 1000);
`;

test('process: a program that ends before it is ready shows the end of its log, and its folder goes', async () => {
  let folder = '';
  const start = startIn('failing', async (place) => {
    folder = place.folder;
    const ready = async () => false;
    await place.launch({ program: 'sh', args: ['-c', 'echo port is taken; exit 3'], ready });
  });
  await assert.rejects(start, /ended before it was ready \(3\): sh.*port is taken/s);
  assert.equal(existsSync(folder), false);
});

test('process: dispose ends the program and removes the folder', async () => {
  const place = await openWorkspace('plain');
  await place.launch({ program: 'sleep', args: ['600'], ready: async () => true });
  await place[Symbol.asyncDispose]();
  assert.equal(existsSync(place.folder), false);
});

test('process: program and folder go when the test process is killed', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', victim], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [pid = '', folder = ''] = line.split(' ');
  assert.equal(isAlive(Number(pid)), true);
  const left = () => [folder, `${folder}.stray`].filter((path) => existsSync(path));
  assert.equal(left().length, 2);
  child.kill('SIGKILL');
  const deadline = performance.now() + 10_000;
  while ((isAlive(Number(pid)) || left().length > 0) && performance.now() < deadline) await sleep(50);
  assert.equal(isAlive(Number(pid)), false);
  assert.deepEqual(left(), []);
});

test('process: free ports are different from each other', async () => {
  assert.equal(new Set(await freePorts(20)).size, 20);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
