/** What the chain does while disk, witness and authority do what they should not. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Decrypter } from 'age-encryption';
import { verifyLog } from '#cli/audit-log-chain.ts';
import { decodeFrame } from '#core/audit/frame.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';
import { recover } from '#sidecar/wal/recover.ts';
import { Wal } from '#sidecar/wal/wal.ts';
import { FaultyDisk } from '#test/sidecar/wal/faulty-disk.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { entry, IDENTITY, makeIdentity, ORIGIN, openChain } from './chain-stage.ts';
import { appendSoon, REFUSED, textsIn, until } from './chain-waits.ts';

const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith('.wal'))
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  );

test('chain: a disk that takes any number of bytes of a commit refuses it, and nothing of it is found (AUD-08, AUD-09)', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const chain = await openChain(folder, { disk });
  const taken = ['first'];
  await chain.append(entry('first'));
  for (const takes of [0, 1, 39, 40, 44, 45, 107, 200, 300]) {
    let writes = 0;
    disk.fault = {
      when: (call) => {
        writes += call === 'write' ? 1 : 0;
        return call === 'write' && writes === 1;
      },
      what: { takes },
    };
    await assert.rejects(chain.append(entry('refused')), REFUSED, `${takes} bytes`);
    disk.fault = undefined;
    await appendSoon(chain, `after ${takes}`);
    taken.push(`after ${takes}`);
  }
  await chain.close();
  assert.deepEqual(await textsIn(folder), taken);
});

test('chain: while the disk does not answer every append is refused in time, the queue is bounded, and then it works again (AUD-15)', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const faults: (string | undefined)[] = [];
  const chain = await openChain(folder, { disk, bounds: { walAppendMs: 300 }, onFault: (fault) => faults.push(fault) });
  await chain.append(entry('before'));
  const hang = Promise.withResolvers<void>();
  let hung = 0;
  disk.fault = { when: (call) => call === 'write' && ++hung > 0, what: { until: hang.promise } };
  const first = chain.append(entry('hangs'));
  first.catch(() => {});
  await until(() => hung > 0, 'a write hangs');
  const many = Array.from({ length: limits.auditQueueRecordsMax + 50 }, () => chain.append(entry('waits')));
  const settled = await Promise.allSettled([first, ...many]);
  assert.ok(settled.every((each) => each.status === 'rejected' && each.reason.reason === 'AUDIT_UNAVAILABLE'));
  assert.equal(settled.filter((each) => each.status === 'rejected' && each.reason.details.audit === 'busy').length, 50);
  assert.ok(faults.includes('hanging'));
  await assert.rejects(chain.append(entry('at once')), REFUSED);
  disk.fault = undefined;
  hang.resolve();
  await appendSoon(chain, 'after');
  assert.equal(chain.fault, undefined);
  await chain.end();
  await chain.close();
  assert.deepEqual(await textsIn(folder), ['before', 'after']);
});

test('chain: an end that the disk refuses, or does not answer, says so in time, and the next process goes on (AUD-10, AUD-15)', async (t) => {
  for (const hangs of [false, true]) {
    const folder = freshFolder(t);
    const disk = new FaultyDisk();
    const chain = await openChain(folder, { disk, bounds: { walAppendMs: 1_000 } });
    await chain.append(entry('one'));
    const hang = Promise.withResolvers<void>();
    disk.fault = { when: (call) => call === 'write', what: hangs ? { until: hang.promise } : { code: 'EIO' } };
    await assert.rejects(chain.end(), REFUSED);
    await assert.rejects(chain.append(entry()), REFUSED);
    await chain.end();
    disk.fault = undefined;
    hang.resolve();
    await chain.close();
    assert.deepEqual(await textsIn(folder), ['one']);
  }
});

test('chain: what is in the log and is no chain is refused with its sequence, and not one byte changes (AUD-11, AUD-12)', async (t) => {
  const donor = freshFolder(t);
  const chain = await openChain(donor);
  await chain.append(entry('one'));
  await chain.append(entry('two'));
  await chain.close();
  const payloads: Buffer[] = [];
  await recover(nodeDisk, donor, (payload) => void payloads.push(Buffer.from(payload)));
  const last = payloads.at(-1) ?? Buffer.alloc(0);
  const wrong = Buffer.from(last);
  wrong[70] = (wrong[70] ?? 0) ^ 1;
  const cases: readonly (readonly [string, readonly Buffer[], RegExp])[] = [
    ['no frame', [...payloads, Buffer.from('no frame')], /first broken sequence \d+: no frame/],
    ['another hash', [...payloads.slice(0, -1), wrong], /first broken sequence \d+/],
    ['a gap', [...payloads.slice(0, -2), last], /first broken sequence \d+: sequence \d+ stands there/],
    ['twice', [...payloads, last], /first broken sequence \d+: sequence \d+ stands there/],
    ['no beginning', payloads.slice(1), /first broken sequence 1: not the beginning/],
  ];
  for (const [what, given, says] of cases) {
    const folder = freshFolder(t);
    const wal = await Wal.open({ folder, clock: systemClock, onRecord: () => {} });
    for (const payload of given) await wal.append(payload);
    await wal.close();
    const before = filesIn(folder);
    await assert.rejects(
      openChain(folder),
      (error: PosternError) => error.reason === 'AUDIT_UNAVAILABLE' && says.test(error.message),
      what,
    );
    assert.deepEqual(filesIn(folder), before, what);
  }
});

test('chain: a folder that cannot be read refuses the start, and not one byte changes (AUD-11)', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder);
  await chain.append(entry('one'));
  await chain.close();
  const before = filesIn(folder);
  for (const call of ['list', 'sizeOf', 'read', 'syncFolder', 'openDurable'])
    for (const code of ['EACCES', 'EIO']) {
      const disk = new FaultyDisk();
      disk.fault = { when: (each) => each === call, what: { code } };
      await assert.rejects(openChain(folder, { disk }), { ...REFUSED, details: { log: 'unreadable' } }, `${call} ${code}`);
      assert.deepEqual(filesIn(folder), before, `${call} ${code}`);
    }
  assert.deepEqual(await textsIn(folder), ['one']);
});

test('chain: a second process is refused while the first one runs, and takes over when it was killed (AUD-16)', async (t) => {
  const folder = freshFolder(t);
  const script = `
    const { openChain, entry } = await import(${JSON.stringify(join(import.meta.dirname, 'chain-stage.ts'))});
    const terms = { origin: ${JSON.stringify(ORIGIN)}, recipients: [${JSON.stringify(IDENTITY.recipient)}] };
    const chain = await openChain(${JSON.stringify(folder)}, { terms });
    await chain.append(entry('of the first'));
    console.log('open');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: process.cwd(),
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  await assert.rejects(openChain(folder), { ...REFUSED, details: { log: 'locked' } });
  child.kill('SIGKILL');
  await exited;
  const chain = await openChain(folder);
  await chain.append(entry('of the second'));
  await chain.close();
  assert.deepEqual(await textsIn(folder), ['of the first', 'of the second']);
});

test('chain: recipients that change open their own part and no other, and each segment names them (AUD-21)', async (t) => {
  const folder = freshFolder(t);
  const other = makeIdentity();
  const chain = await openChain(folder);
  await chain.append(entry('before'));
  chain.recipients([other.recipient]);
  await chain.append(entry('after'));
  await chain.closeSegment();
  const opened: string[][] = [];
  for (const segment of chain.closed()) {
    const bytes = await chain.read(segment);
    for (let at = 0; at < bytes.length; ) {
      const frame = decodeFrame(bytes, at);
      if ('no' in frame) throw assert.fail(frame.no);
      if (frame.heads[0].kind === 'segment') opened.push([...JSON.parse(Buffer.from(frame.body).toString()).recipients]);
      for (const [name, { secret }] of frame.form === 'sealed' ? Object.entries({ old: IDENTITY, new: other }) : []) {
        const opener = new Decrypter();
        opener.addIdentity(secret);
        const text = await opener.decrypt(frame.body, 'text').catch(() => undefined);
        if (text !== undefined) opened.at(-1)?.push(`${name}: ${JSON.parse(text).text}`);
      }
      at += frame.bytes.length;
    }
  }
  await chain.close();
  assert.deepEqual(opened, [
    [IDENTITY.recipient, 'old: before'],
    [other.recipient, 'new: after'],
  ]);
});

test('chain: a wall clock that jumps back breaks nothing, and a stranger is told of it (AUD-17)', async (t) => {
  const folder = freshFolder(t);
  let wallMs = Date.UTC(2026, 11, 1);
  const chain = await openChain(folder, { clock: { ...systemClock, wallMs: () => wallMs } });
  for (const jump of [0, -3_600_000, 365 * 86_400_000]) {
    wallMs += jump;
    await chain.append(entry(`${jump}`));
  }
  await chain.end();
  await chain.close();
  const verifier = new ChainVerifier();
  await verifyLog(folder, verifier);
  assert.equal(verifier.verdict().good, true);
  assert.equal(verifier.verdict().clockSkews.count, 1);
});
