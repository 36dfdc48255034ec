import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { freshFolder, openLog, recordsIn, text } from './open-log.ts';

const refused = (log: string) => ({ reason: 'AUDIT_UNAVAILABLE', details: { log } });

/** Appends until it is taken: a log that failed asks its disk again after a while. */
async function appendSoon(append: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await append();
      return;
    } catch {
      await sleep(20);
    }
  }
}

test('log: what is acknowledged is found again, in order, with its sequence', async (t) => {
  const folder = freshFolder(t);
  const { wal } = await openLog(folder);
  const positions = await Promise.all(['a', 'b', 'c'].map((payload) => wal.append(text(payload))));
  assert.deepEqual(
    positions.map(({ sequence }) => sequence),
    [1, 2, 3],
  );
  await wal.close();
  const again = await openLog(folder);
  assert.deepEqual(again.found, ['a', 'b', 'c']);
  assert.equal((await again.wal.append(text('d'))).sequence, 4);
  await again.wal.close();
  assert.deepEqual(await recordsIn(folder), ['a', 'b', 'c', 'd']);
});

test('log: what is appended while a write is under way is one write', async (t) => {
  const disk = new FaultyDisk();
  const { wal } = await openLog(freshFolder(t), { disk });
  await wal.append(text('first'));
  const before = disk.calls.length;
  await Promise.all(Array.from({ length: 100 }, (_, index) => wal.append(text(`r${index}`))));
  assert.deepEqual(disk.calls.slice(before), ['write 0000000001.wal']);
  await wal.close();
});

test('log: a segment that is full is followed by another, and both are read (AUD-13)', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const { wal } = await openLog(folder, { disk });
  const payloads = Array.from({ length: 60 }, (_, index) => `${index}-${'x'.repeat(200)}`);
  for (const payload of payloads) await wal.append(text(payload));
  assert.ok(readdirSync(folder).filter((name) => name.endsWith('.wal')).length > 2);
  const made = disk.calls.indexOf('create 0000000002.new');
  assert.deepEqual(
    disk.calls
      .slice(made)
      .filter((call) => !call.startsWith('write ') && !call.startsWith('close '))
      .slice(0, 5),
    [
      'create 0000000002.new',
      'sync 0000000002.new',
      'rename 0000000002.wal',
      `syncFolder ${folder.split('/').at(-1)}`,
      'openDurable 0000000002.wal',
    ],
  );
  await wal.close();
  assert.deepEqual(await recordsIn(folder), payloads);
});

test('log: a segment that is old is followed by another', async (t) => {
  let nowMs = 0;
  const { wal } = await openLog(freshFolder(t), { segmentAgeMs: 1_000, clock: { ...systemClock, monotonicMs: () => nowMs } });
  assert.equal((await wal.append(text('a'))).segment, 1);
  nowMs = 1_000;
  assert.equal((await wal.append(text('b'))).segment, 2);
  await wal.close();
});

test('log: rewritten, it holds only what was given, and its old segments are gone', async (t) => {
  const folder = freshFolder(t);
  const { wal } = await openLog(folder);
  for (let index = 0; index < 60; index += 1) await wal.append(text(`${index}-${'x'.repeat(200)}`));
  await wal.rewrite([text('live 1'), text('live 2')]);
  await wal.append(text('next'));
  assert.equal(readdirSync(folder).filter((name) => name.endsWith('.wal')).length, 1);
  await wal.close();
  assert.deepEqual(await recordsIn(folder), ['live 1', 'live 2', 'next']);
});

for (const [name, what, log] of [
  ['EIO (AUD-10)', { code: 'EIO' }, 'broken'],
  ['ENOSPC (AUD-09)', { code: 'ENOSPC' }, 'full'],
  ['a short write and no error (AUD-08)', { takes: 11 }, 'full'],
] as const) {
  test(`log: after ${name} the segment is given up, the callers are refused, and nothing of it is found`, async (t) => {
    const folder = freshFolder(t);
    const disk = new FaultyDisk();
    const faults: (string | undefined)[] = [];
    const { wal } = await openLog(folder, { disk, onFault: (fault) => faults.push(fault) });
    await wal.append(text('kept'));
    disk.fault = { when: (call) => call === 'write', what };
    const results = await Promise.allSettled(['lost 1', 'lost 2'].map((payload) => wal.append(text(payload))));
    for (const result of results) {
      assert.equal(result.status, 'rejected');
      assert.deepEqual((result.reason as { details: unknown }).details, { log });
    }
    disk.fault = undefined;
    const before = disk.calls.length;
    await appendSoon(() => wal.append(text('after')));
    assert.ok(
      !disk.calls.slice(before).some((call) => /^(write|sync|openDurable) 0000000001\.wal$/.test(call)),
      'the failed file is written again',
    );
    assert.deepEqual(faults, [log, undefined]);
    await wal.close();
    assert.deepEqual(await recordsIn(folder), ['kept', 'after']);
  });
}

test('log: a failed sync of a new segment is not tried again on the same file (AUD-10)', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const { wal } = await openLog(folder, { disk });
  disk.fault = { when: (call, nth) => call === 'sync' && nth === 1, what: { code: 'EIO' } };
  await assert.rejects(wal.append(text('lost')), refused('broken'));
  await appendSoon(() => wal.append(text('after')));
  assert.deepEqual(
    disk.calls.filter((call) => call.startsWith('sync ')),
    ['sync 0000000001.new', 'sync 0000000002.new'],
  );
  await wal.close();
  assert.deepEqual(await recordsIn(folder), ['after']);
});

test('log: a disk that does not answer refuses all who wait at their deadline, and its late answer changes nothing (AUD-15)', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const faults: (string | undefined)[] = [];
  const { wal } = await openLog(folder, { disk, appendMs: 100, onFault: (fault) => faults.push(fault) });
  await wal.append(text('kept'));
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  disk.fault = { when: (call) => call === 'write', what: { until } };
  const inFlight = wal.append(text('in flight'));
  await sleep(1);
  const waiting = wal.append(text('waiting'));
  await Promise.all([assert.rejects(inFlight, refused('hanging')), assert.rejects(waiting, refused('hanging'))]);
  await assert.rejects(wal.append(text('at once')), refused('hanging'));
  assert.equal(wal.fault, 'hanging');
  disk.fault = undefined;
  answer();
  await appendSoon(() => wal.append(text('after')));
  assert.deepEqual(faults, ['hanging', undefined]);
  await wal.close();
  assert.deepEqual(await recordsIn(folder), ['kept', 'after']);
});

test('log: no more records wait than limits allow (AUD-15)', async (t) => {
  const disk = new FaultyDisk();
  const { wal } = await openLog(freshFolder(t), { disk });
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  disk.fault = { when: (call) => call === 'create', what: { until } };
  const appends = Array.from({ length: limits.walQueueEntriesMax + 1 }, () => wal.append(text('x')));
  await assert.rejects(appends.at(-1) as Promise<unknown>, refused('busy'));
  answer();
  assert.equal((await Promise.allSettled(appends)).filter(({ status }) => status === 'fulfilled').length, limits.walQueueEntriesMax);
  await wal.close();
});

test('log: a folder that cannot be read refuses, and its bytes are untouched (AUD-11)', async (t) => {
  const folder = freshFolder(t);
  const { wal } = await openLog(folder);
  await wal.append(text('kept'));
  await wal.close();
  const path = join(folder, '0000000001.wal');
  const [bytes, mtime] = [readFileSync(path), statSync(path).mtimeMs];
  for (const call of ['list', 'sizeOf', 'read'] as const) {
    for (const code of ['EACCES', 'EIO']) {
      const disk = new FaultyDisk();
      disk.fault = { when: (name) => name === call, what: { code } };
      await assert.rejects(openLog(folder, { disk }), refused('unreadable'));
    }
  }
  assert.deepEqual([readFileSync(path), statSync(path).mtimeMs], [bytes, mtime]);
  assert.deepEqual(await recordsIn(folder), ['kept']);
});

test('log: a second writer of a folder is refused, in this process and in another, and let in after kill -9 (AUD-16)', async (t) => {
  const folder = freshFolder(t);
  const program = `
    import { openLog, text } from '${import.meta.dirname}/open-log.ts';
    const { wal } = await openLog(${JSON.stringify(folder)});
    await wal.append(text('theirs'));
    console.log('has it');
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await assert.rejects(openLog(folder), refused('locked'));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const mine = await openLog(folder);
  assert.deepEqual(mine.found, ['theirs']);
  await assert.rejects(openLog(folder), refused('locked'));
  await mine.wal.close();
  assert.deepEqual(await recordsIn(folder), ['theirs']);
});
