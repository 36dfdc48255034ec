import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Wal } from '#sidecar/wal/wal.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { freshFolder, openLog, recordsIn, text } from './open-log.ts';

/** Twelve records of 1,000 bytes in four files; named by their sequence. */
async function longLog(t: TestContext, disk = new FaultyDisk()): Promise<{ folder: string; wal: Wal; disk: FaultyDisk }> {
  const folder = freshFolder(t);
  const { wal } = await openLog(folder, { disk });
  await appendUpTo(wal, 1, 12);
  return { folder, wal, disk };
}

async function appendUpTo(wal: Wal, from: number, to: number): Promise<void> {
  for (let sequence = from; sequence <= to; sequence += 1) await wal.append(text(`${sequence}`.padEnd(1_000, '.')));
}

const named = (records: readonly string[]) => records.map((record) => Number.parseInt(record, 10));
const files = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.wal'));
const row = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

async function readBack(wal: Wal, from?: number, to?: number): Promise<number[]> {
  const read: string[] = [];
  for await (const { payload } of wal.records(from, to)) read.push(Buffer.from(payload).toString());
  return named(read);
}

test('log: a range is read back while others append, over files, and no more than was acknowledged', async (t) => {
  const { wal } = await longLog(t);
  assert.deepEqual(await readBack(wal), row(1, 12));
  assert.deepEqual(await readBack(wal, 4, 10), row(4, 10));
  assert.deepEqual(await readBack(wal, 13), []);
  const reading = wal.records(2);
  const first = await reading.next();
  await appendUpTo(wal, 13, 20);
  const rest = [];
  for await (const { sequence } of reading) rest.push(sequence);
  assert.deepEqual([first.value?.sequence, ...rest], row(2, 12));
  await wal.close();
});

test('log: what is read back is checked, and damage is said with its sequence (AUD-12)', async (t) => {
  const { folder, wal } = await longLog(t);
  const path = join(folder, files(folder)[1] ?? '');
  const bytes = readFileSync(path);
  bytes[200] = (bytes[200] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  await assert.rejects(readBack(wal), /first broken record 4/);
  assert.deepEqual(await readBack(wal, 7), row(7, 12));
  await wal.close();
});

test('log: leading files without a record that is needed are given back, and stay away over starts', async (t) => {
  const { folder, wal } = await longLog(t);
  const bytes = wal.bytes;
  assert.equal(wal.bytesBelow(3), 0);
  await wal.drop(3);
  assert.equal(files(folder).length, 4, 'no file is free, so none begins');
  await wal.drop(8);
  assert.deepEqual(files(folder), ['0000000003.wal', '0000000004.wal', '0000000005.wal']);
  assert.ok(wal.bytes < bytes);
  await appendUpTo(wal, 13, 14);
  await wal.close();
  assert.deepEqual(named(await recordsIn(folder)), row(7, 14));
  const { wal: again, found } = await openLog(folder);
  assert.deepEqual(named(found), row(7, 14));
  await appendUpTo(again, 15, 15);
  await again.drop(1_000);
  assert.equal(files(folder).length, 1);
  await appendUpTo(again, 16, 16);
  await again.close();
  assert.deepEqual(named(await recordsIn(folder)), [16]);
});

test('log: a file below the floor that came back is a leftover, and one above it that is missing is damage', async (t) => {
  const { folder, wal } = await longLog(t);
  const old = readFileSync(join(folder, '0000000001.wal'));
  await wal.drop(8);
  await wal.close();
  writeFileSync(join(folder, '0000000001.wal'), old);
  assert.deepEqual(named(await recordsIn(folder)), row(7, 12));
  assert.deepEqual(files(folder).includes('0000000001.wal'), false);
  for (const name of files(folder).slice(0, -1)) {
    const bytes = readFileSync(join(folder, name));
    rmSync(join(folder, name));
    await assert.rejects(recordsIn(folder), /segment \d is missing/, name);
    writeFileSync(join(folder, name), bytes);
  }
  assert.deepEqual(named(await recordsIn(folder)), row(7, 12));
});

test('log: an error at any call of a drop leaves all records or only those that are needed, and the log goes on (AUD-10)', async (t) => {
  const clean = await longLog(t);
  const from = clean.disk.calls.length;
  await clean.wal.drop(8);
  const calls = clean.disk.calls.slice(from).length;
  await clean.wal.close();
  assert.ok(calls >= 7, `${calls} calls`);
  for (const code of ['EIO', 'ENOSPC'])
    for (let nth = 0; nth < calls; nth += 1) {
      const { folder, wal, disk } = await longLog(t);
      let seen = 0;
      disk.fault = { when: () => seen++ === nth, what: { code } };
      const told = await wal.drop(8).then(
        () => 'done',
        (error) => error.reason,
      );
      disk.fault = undefined;
      await appendUpTo(wal, 13, 14);
      await wal.close();
      const found = named(await recordsIn(folder));
      assert.ok([1, 7].includes(found[0] ?? 0), `${code} at ${nth}: ${told}, ${found}`);
      if (told === 'done') assert.equal(found[0], 7);
      assert.deepEqual(found, row(found[0] ?? 0, 14), `${code} at ${nth}`);
    }
});

test('log: a drop that the disk does not answer refuses those behind it in time, and changes nothing told (AUD-15)', async (t) => {
  const { folder, wal: full } = await longLog(t);
  await full.close();
  const disk = new FaultyDisk();
  const { wal } = await openLog(folder, { disk, appendMs: 50 });
  const hang = Promise.withResolvers<void>();
  disk.fault = { when: (call) => call === 'create', what: { until: hang.promise } };
  await assert.rejects(wal.drop(8), /does not answer/);
  await assert.rejects(wal.append(text('13')), /does not answer/);
  disk.fault = undefined;
  hang.resolve();
  for (let tries = 0; ; tries += 1) {
    const taken = await wal.append(text('13')).then(
      () => true,
      () => false,
    );
    if (taken) break;
    assert.ok(tries < 2_000, 'the log takes records again');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await wal.close();
  assert.deepEqual(named(await recordsIn(folder)).slice(-2), [12, 13]);
});

test('log: a crash at each call of a drop is the state before it or after it (AUD-13)', async (t) => {
  const clean = await longLog(t);
  await clean.wal.drop(8);
  await clean.wal.close();
  // A copy of the folder as it is before each call is what a kill there leaves.
  const { folder, wal, disk } = await longLog(t);
  const parent = freshFolder(t);
  const copies: string[] = [];
  disk.fault = {
    when: () => {
      const copy = join(parent, String(copies.length));
      mkdirSync(copy);
      for (const name of readdirSync(folder).filter((each) => each !== 'lock'))
        writeFileSync(join(copy, name), readFileSync(join(folder, name)));
      copies.push(copy);
      return false;
    },
    what: { code: 'EIO' },
  };
  await wal.drop(8);
  await wal.close();
  const starts = new Set<number>();
  for (const copy of copies) {
    const found = named(await recordsIn(copy));
    starts.add(found[0] ?? 0);
    assert.deepEqual(found, row(found[0] ?? 0, 12));
  }
  assert.deepEqual([...starts], [1, 7]);
});
