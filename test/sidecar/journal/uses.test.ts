import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { Entries } from '#sidecar/journal/entries.ts';
import type { JournalRecord } from '#sidecar/journal/journal-record.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { operation } from './operation-record.ts';

let laterMs = 0;
const clock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + laterMs };

function open(folder: string, bytesMin?: number): Promise<DurableJournal> {
  return DurableJournal.open({
    folder,
    clock,
    log: { segmentBytes: 8_192 },
    ...(bytesMin === undefined ? {} : { compact: { bytesMin, factor: 4 } }),
  });
}

async function used(journal: DurableJournal, id: string, approval: string): Promise<number | undefined> {
  await journal.plan(operation(id));
  assert.equal(await journal.begin(id, approval), 'begun');
  const nth = journal.get(id)?.use?.nth;
  await journal.end(id, 'failed', {});
  return nth;
}

test('uses: the number of them outlives the operations, a rewriting of the log, and restarts (APR-03, APR-15)', async (t) => {
  const folder = freshFolder(t);
  let journal = await open(folder);
  await journal.keep('grant/op-yes', { calls: 10_000 });
  for (let each = 1; each <= 40; each += 1) assert.equal(await used(journal, `op_${each}`, 'op-yes'), each);
  await journal.close();

  journal = await open(folder, 2_048);
  assert.equal(journal.uses('op-yes'), 40);
  laterMs += limits.journalKeptMs + 1;
  const before = journal.bytes;
  assert.equal(await used(journal, 'op_later', 'op-yes'), 41);
  assert.equal(journal.list().length, 1, 'the others are forgotten');
  await journal.close();

  journal = await open(folder);
  assert.ok(journal.bytes < before, `the log was rewritten: ${journal.bytes} bytes, ${before} before`);
  assert.equal(journal.uses('op-yes'), 41);
  assert.equal(await used(journal, 'op_last', 'op-yes'), 42);
  await journal.close();
});

test('uses: an operation that is begun again after a crash, with nothing sent, is the same use', async (t) => {
  const folder = freshFolder(t);
  const first = await open(folder);
  await first.keep('approval/question/op-yes', {});
  await first.plan(operation('op_a'));
  await first.begin('op_a', 'op-yes');
  await first.close();
  const second = await open(folder);
  assert.equal(second.get('op_a')?.phase, 'planned');
  await second.begin('op_a', 'op-yes');
  assert.deepEqual(second.get('op_a')?.use, { approval: 'op-yes', nth: 1 });
  assert.equal(second.uses('op-yes'), 1);
  await second.close();
});

test('uses: ten thousand calls under one yes cost the same each, and no name', async (t) => {
  const journal = await open(freshFolder(t));
  await journal.keep('grant/op-yes', { calls: 10_000 });
  const sizeOf = async (id: string) => {
    const before = journal.bytes;
    await used(journal, id, 'op-yes');
    return journal.bytes - before;
  };
  const first = await sizeOf('op_00001');
  for (let at = 2; at < 10_000; at += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, 10_000 - at) }, (_, each) => used(journal, `op_${String(at + each).padStart(5, '0')}`, 'op-yes')),
    );
  const last = await sizeOf('op_10000');
  assert.equal(journal.uses('op-yes'), 10_000);
  assert.ok(last <= first + 1_024, `the first call wrote ${first} bytes, the last ${last}`);
  assert.equal(journal.kept('').length, 1);
  await journal.close();
});

test('uses: are counted while anything is kept about the approval, and forgotten with the last of it', () => {
  const entries = new Entries();
  const apply = (record: JournalRecord) => assert.equal(entries.apply(record, 10), undefined);
  const begin = (id: string) => {
    apply({ kind: 'plan', id, record: operation(id) });
    apply({ kind: 'begin', id, approval: 'op-yes' });
  };
  begin('op_none');
  assert.equal(entries.get('op_none')?.use, undefined);
  apply({ kind: 'keep', name: 'grant/op-yes', value: 1 });
  apply({ kind: 'keep', name: 'approval/question/op-yes', value: 1 });
  begin('op_one');
  apply({ kind: 'keep', name: 'grant/op-yes', value: 2 });
  apply({ kind: 'keep', name: 'grant/op-yes', value: null });
  assert.equal(entries.uses.of('op-yes'), 1);
  apply({ kind: 'keep', name: 'approval/question/op-yes', value: null });
  assert.deepEqual([...entries.uses.all()], []);
});

test('uses: a rewritten log means what the whole one meant, whatever was begun, dropped and kept (property)', () => {
  const approvals = ['op-x', 'op-y'];
  const step = fc.record({ what: fc.constantFrom('use', 'use', 'keep', 'forget', 'drop'), approval: fc.constantFrom(...approvals) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const whole = new Entries();
      for (const [at, { what, approval }] of steps.entries()) {
        const id = `op_${at}`;
        if (what === 'keep') whole.apply({ kind: 'keep', name: `grant/${approval}`, value: at }, 1);
        else if (what === 'forget') whole.apply({ kind: 'keep', name: `grant/${approval}`, value: null }, 1);
        else if (what === 'use') {
          whole.apply({ kind: 'plan', id, record: operation(id) }, 1);
          whole.apply({ kind: 'begin', id, approval }, 1);
          whole.apply({ kind: 'end', id, phase: 'failed', atMs: 1 }, 1);
        } else for (const { record } of [...whole.all()].slice(0, 1)) whole.apply({ kind: 'drop', id: record.operationId }, 1);
      }
      const again = new Entries();
      for (const entry of whole.all()) again.apply({ kind: 'entry', id: entry.record.operationId, entry }, 1);
      for (const [name, value] of whole.kept('')) again.apply({ kind: 'keep', name, value }, 1);
      for (const [approval, count] of whole.uses.all()) again.apply({ kind: 'uses', approval, count }, 1);
      for (const approval of approvals) assert.equal(again.uses.of(approval), whole.uses.of(approval));
    }),
  );
});
