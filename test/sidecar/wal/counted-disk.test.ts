import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countedDisk } from '#sidecar/wal/counted-disk.ts';
import { type Disk, nodeDisk } from '#sidecar/wal/disk.ts';

test('counted disk: a durable write is counted with its time and bytes, and is on the disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-disk-'));
  const path = join(folder, 'file');
  writeFileSync(path, '......');
  let nowMs = 0;
  const clock = { monotonicMs: () => (nowMs += 3) };
  const seen: [number, number][] = [];
  const file = await countedDisk(nodeDisk, clock, (durationMs, bytes) => seen.push([durationMs, bytes])).openDurable(path);
  assert.equal(await file.write(Buffer.from('abc'), 1), 3);
  await file.close();
  assert.deepEqual(seen, [[3, 3]]);
  assert.equal(readFileSync(path, 'utf8'), '.abc..');
  rmSync(folder, { recursive: true });
});

test('counted disk: an error passes as it is, and counts nothing', async () => {
  const refusing = { write: () => Promise.reject(new Error('EIO')), sync: async () => {}, truncate: async () => {}, close: async () => {} };
  const disk: Disk = { ...nodeDisk, openDurable: async () => refusing };
  const file = await countedDisk(disk, { monotonicMs: () => 0 }, () => assert.fail('counted')).openDurable('x');
  await assert.rejects(file.write(Buffer.from('a'), 0), /EIO/);
});
