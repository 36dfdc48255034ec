import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeSigningKey } from '#core/audit/signed-note.ts';
import { FaultyDisk } from '#test/sidecar/wal/faulty-disk.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { checkChain, entry, IDENTITY, makeAuthority, makeIdentity, openChain, readChain } from './chain-stage.ts';

test('chain: what is acknowledged stands in it once, in order, and a stranger finds it whole', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder);
  const recorded = await Promise.all(Array.from({ length: 20 }, (_, index) => chain.append(entry(`r${index}`))));
  const single = await chain.append(entry('r20'));
  assert.deepEqual([...new Set(recorded.map(({ frameSequence }) => frameSequence))].length, 1, 'who waits together is one frame');
  await chain.end();
  await chain.close();
  const read = await readChain(folder);
  assert.deepEqual(
    read.texts,
    [...recorded, single].map(({ sequence }, index) => ({ sequence, text: `r${index}` })),
  );
});

test('chain: a killed process and an ended one are followed by an epoch of their own, in one whole chain (AUD-04, AUD-05)', async (t) => {
  const folder = freshFolder(t);
  for (const [name, ends] of [
    ['a', false],
    ['b', true],
    ['c', false],
  ] as const) {
    const chain = await openChain(folder);
    await chain.append(entry(name));
    if (ends) await chain.end();
    await chain.close();
  }
  const { texts, segments, kinds } = await readChain(folder);
  assert.deepEqual(
    texts.map(({ text }) => text),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(
    segments.map(({ statement }) => [statement.segment, statement.epoch]),
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
  );
  assert.equal(kinds.filter((kind) => kind === 'end').length, 1);
});

test('chain: segments are closed by size, read back as they stand, and their room is given back', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder, { bounds: { auditSegmentBytes: 4_000, walSegmentBytes: 8_192 } });
  for (let index = 0; index < 60; index += 1) await chain.append(entry(`r${index}`));
  await chain.closeSegment();
  const closed = chain.closed();
  assert.ok(closed.length >= 3, `${closed.length} segments`);
  const bytes = await Promise.all(closed.map((segment) => chain.read(segment)));
  const read = await checkChain(Buffer.concat(bytes), true);
  assert.deepEqual(
    read.texts.map(({ text }) => text),
    Array.from({ length: 60 }, (_, index) => `r${index}`),
  );
  const before = chain.bytes;
  for (const segment of closed) await chain.shipped(segment);
  assert.ok(chain.bytes < before);
  assert.deepEqual(chain.closed(), []);
  await chain.append(entry('last'));
  await chain.close();
  const again = await openChain(folder);
  await again.append(entry('after a start'));
  await again.close();
  assert.deepEqual(
    (await readChain(folder)).texts.slice(-2).map(({ text }) => text),
    ['last', 'after a start'],
  );
});

test('chain: an idle epoch that is over ends with its checkpoint, and another begins, without a record (AUD-05)', async (t) => {
  const folder = freshFolder(t);
  const witnessed: string[] = [];
  const chain = await openChain(folder, {
    bounds: { auditEpochMs: 60 },
    authority: makeAuthority(makeSigningKey('postern.dev/authority/test'), witnessed),
  });
  for (const name of ['a', 'b', 'c']) {
    await chain.append(entry(name));
    const before = epochsOf(witnessed).size;
    while (epochsOf(witnessed).size < before + 2) await sleep(10);
  }
  await chain.end();
  await chain.close();
  const { texts, segments, kinds } = await readChain(folder);
  assert.deepEqual(
    texts.map(({ text }) => text),
    ['a', 'b', 'c'],
  );
  const epochs = segments.at(-1)?.statement.epoch ?? 0;
  assert.ok(epochs >= 6, `${epochs} epochs`);
  assert.ok(kinds.filter((kind) => kind === 'end').length >= epochs - 1, 'each is sealed');
});

test('chain: one that owes an epoch all the time opens, takes records, ends and closes', async (t) => {
  const folder = freshFolder(t);
  const recorded: string[] = [];
  for (const ends of [true, false]) {
    const chain = await openChain(folder, { bounds: { auditEpochMs: 0 } });
    for (let index = 0; index < 5; index += 1) {
      recorded.push(`${ends} ${index}`);
      await chain.append(entry(recorded.at(-1)));
    }
    if (ends) await chain.end();
    await chain.close();
    await assert.rejects(chain.append(entry()), { reason: 'AUDIT_UNAVAILABLE' });
  }
  assert.deepEqual(
    (await readChain(folder)).texts.map(({ text }) => text),
    recorded,
  );
});

test('chain: other recipients begin a segment, and what is behind it is sealed to them alone (AUD-21)', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder);
  const other = makeIdentity();
  await chain.append(entry('before'));
  chain.recipients([other.recipient]);
  await chain.append(entry('after'));
  await chain.close();
  await assert.rejects(readChain(folder, IDENTITY), /identity|recipient|decrypt/i);
});

test('chain: past its share of the volume only outcomes and the records of the session itself are taken, until segments are shipped', async (t) => {
  const chain = await openChain(freshFolder(t), { bounds: { auditVolumeBytes: 20_000, walSegmentBytes: 4_096, auditSegmentBytes: 3_000 } });
  let refused: { reason?: string } | undefined;
  for (let tries = 0; refused === undefined && tries < 200; tries += 1)
    await chain.append(entry()).catch((error) => {
      refused = error;
    });
  assert.equal(refused?.reason, 'AUDIT_UNAVAILABLE');
  assert.equal(chain.fault, 'volume');
  await chain.append(entry('told', 'outcome'));
  await chain.append(entry('state', 'session'));
  await assert.rejects(chain.append(entry('asked', 'intent')), { reason: 'AUDIT_UNAVAILABLE' });
  for (const segment of chain.closed()) await chain.shipped(segment);
  await chain.append(entry('again'));
  assert.equal(chain.fault, undefined);
  await chain.close();
});

test('chain: after an error of the disk the call is refused, and the next goes on without a trace of it (AUD-08, AUD-10)', async (t) => {
  const folder = freshFolder(t);
  const disk = new FaultyDisk();
  const chain = await openChain(folder, { disk });
  await chain.append(entry('one'));
  for (const what of [{ code: 'EIO' }, { code: 'ENOSPC' }, { takes: 100 }]) {
    let writes = 0;
    disk.fault = {
      when: (call) => {
        writes += call === 'write' ? 1 : 0;
        return call === 'write' && writes === 1;
      },
      what,
    };
    await assert.rejects(chain.append(entry('refused')), { reason: 'AUDIT_UNAVAILABLE' });
    disk.fault = undefined;
    for (let tries = 0; ; tries += 1) {
      const taken = await chain.append(entry('more')).then(
        () => true,
        () => false,
      );
      if (taken) break;
      assert.ok(tries < 500);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  await chain.close();
  assert.deepEqual(
    (await readChain(folder)).texts.map(({ text }) => text),
    ['one', 'more', 'more', 'more'],
  );
});

test('chain: the folder of another session is refused, and so is a second process; not one byte changes (AUD-03, AUD-16)', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder);
  await chain.append(entry());
  await assert.rejects(openChain(folder), { reason: 'AUDIT_UNAVAILABLE' });
  await chain.close();
  const bytes = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('hex'));
  const before = bytes();
  const terms = { origin: 'postern.dev/audit/test/ns/two', recipients: [IDENTITY.recipient] };
  await assert.rejects(openChain(folder, { terms }), /chain of another session/);
  assert.deepEqual(bytes(), before);
});

/** Of the checkpoints that were shown to the witness. */
function epochsOf(checkpoints: readonly string[]): Set<string | undefined> {
  return new Set(checkpoints.map((note) => /^epoch \d+$/m.exec(note)?.[0]));
}
