/** Records read back from a log whose disk has lost some. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import type { Wal } from '#sidecar/wal/wal.ts';
import { freshFolder, openLog, text } from './open-log.ts';

async function read(wal: Wal, from: number, to?: number): Promise<string> {
  const found: string[] = [];
  try {
    for await (const { payload } of wal.records(from, to)) found.push(Buffer.from(payload).toString());
  } catch (fault) {
    assert.ok(fault instanceof PosternError);
    found.push('damaged');
  }
  return found.join();
}

test('log: a damaged record is met by who asks for it, and by nobody who asks for those before or behind it', async (t) => {
  const folder = freshFolder(t);
  const { wal } = await openLog(folder);
  const sizes: number[] = [];
  const file = () => join(folder, readdirSync(folder).find((name) => name.endsWith('.wal')) ?? assert.fail(readdirSync(folder).join()));
  for (const name of ['one', 'two', 'three', 'four']) {
    await wal.append(text(name));
    sizes.push(readFileSync(file()).lastIndexOf(name) + name.length);
  }
  const good = readFileSync(file());
  const [begin = 0, end = 0] = sizes;
  for (let at = begin; at < end; at += 1) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] as number) ^ 0x10;
    writeFileSync(file(), bad, { flag: 'r+' });
    const seen = [await read(wal, 1, 1), await read(wal, 2, 2), await read(wal, 1), await read(wal, 3), await read(wal, 4, 4)];
    assert.deepEqual(seen, ['one', 'damaged', 'one,damaged', 'three,four', 'four'], `byte ${at}`);
  }
  const last = Buffer.from(good);
  last[(sizes[3] as number) - 1] = 0;
  writeFileSync(file(), last, { flag: 'r+' });
  assert.equal(await read(wal, 3), 'three,damaged', 'nothing behind it says where it ends');
  await wal.close();
});
