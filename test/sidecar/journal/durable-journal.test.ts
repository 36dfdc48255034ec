import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { FaultyDisk } from '#test/sidecar/wal/faulty-disk.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { MemoryJournal } from './memory-journal.ts';
import { operation } from './operation-record.ts';

const never = new AbortController().signal;

function open(folder: string, options: Partial<Parameters<typeof DurableJournal.open>[0]> = {}): Promise<DurableJournal> {
  return DurableJournal.open({ folder, clock: systemClock, log: { segmentBytes: 8_192 }, ...options });
}

const journals: readonly (readonly [string, (t: TestContext) => Promise<Journal>])[] = [
  ['in memory', async () => new MemoryJournal(systemClock)],
  ['durable', (t) => open(freshFolder(t))],
];

for (const [name, make] of journals) {
  test(`journal ${name}: of a hundred callers one begins, and every other hears what is there`, async (t) => {
    const journal = await make(t);
    await journal.plan(operation('op_a'));
    const answers = await Promise.all(Array.from({ length: 100 }, () => journal.begin('op_a', 'op-a')));
    assert.equal(answers.filter((answer) => answer === 'begun').length, 1);
    assert.equal(journal.held('restart-service', 'sha256:args-op_a')?.record.operationId, 'op_a');
    await journal.close();
  });

  test(`journal ${name}: refuses a second plan under one id, a second send, and an end in doubt`, async (t) => {
    const journal = await make(t);
    await journal.plan(operation('op_a'));
    assert.equal((await journal.plan(operation('op_a'))).phase, 'planned');
    await assert.rejects(journal.plan(operation('op_a', { planDigest: 'sha256:other' })), { reason: 'IDEMPOTENCY_CONFLICT' });
    await journal.begin('op_a');
    await journal.intent('op_a', 0);
    await assert.rejects(journal.intent('op_a', 0), { reason: 'IDEMPOTENCY_BUSY' });
    await assert.rejects(journal.end('op_a', 'done', {}), { reason: 'IDEMPOTENCY_BUSY' });
    await journal.step('op_a', 0, 'unknown');
    await journal.end('op_a', 'unknown', {});
    assert.equal(typeof (await journal.again('op_a')), 'object', 'a remote that does not know repetitions got one');
    const resolved = await journal.resolve('op_a', 'notDone', 'ann');
    assert.deepEqual([resolved.phase, journal.held('restart-service', 'sha256:args-op_a')], ['failed', undefined]);
    await assert.rejects(journal.resolve('op_a', 'done', 'bob'), { reason: 'INVALID_ARGUMENT' });
    await journal.close();
  });

  test(`journal ${name}: a plan past its time is not begun`, async (t) => {
    const journal = await make(t);
    await journal.plan(operation('op_a', { expiresAtMs: 1 }));
    await assert.rejects(journal.begin('op_a'), { reason: 'APPROVAL_EXPIRED' });
    await journal.close();
  });

  test(`journal ${name}: whoever waits for an operation hears of its end`, async (t) => {
    const journal = await make(t);
    await journal.plan(operation('op_a'));
    const changed = journal.changed('op_a', 60_000, never);
    await journal.end('op_a', 'failed', { why: 'denied' });
    await changed;
    assert.deepEqual(journal.get('op_a')?.outcome, { why: 'denied' });
    await journal.close();
  });
}

test('journal: ended operations make room, oldest first; what is open never does', async () => {
  const journal = new MemoryJournal(systemClock);
  for (let index = 0; index < limits.journalEntriesMax; index += 1) {
    await journal.plan(operation(`op_${index}`));
    if (index === 5 || index === 7) await journal.end(`op_${index}`, 'failed', {});
  }
  await journal.plan(operation('op_new_1'));
  assert.deepEqual([journal.get('op_5'), journal.get('op_7')?.phase], [undefined, 'failed']);
  await journal.plan(operation('op_new_2'));
  await assert.rejects(journal.plan(operation('op_new_3')), { reason: 'LIMIT_EXCEEDED' });
  assert.equal(journal.list().length, limits.journalEntriesMax);
});

test('journal: an operation that ended longer ago than it is kept is forgotten', async () => {
  let nowMs = 0;
  const journal = new MemoryJournal({ ...systemClock, wallMs: () => nowMs });
  await journal.plan(operation('op_old'));
  await journal.end('op_old', 'failed', {});
  nowMs = limits.journalKeptMs;
  await journal.plan(operation('op_new'));
  assert.deepEqual([journal.get('op_old'), journal.get('op_new')?.phase], [undefined, 'planned']);
});

test('durable journal: what it kept is there after a restart, also after the log was rewritten many times', async (t) => {
  const folder = freshFolder(t);
  let journal = await open(folder, { compact: { bytesMin: 4_096, factor: 4 } });
  await journal.keep('question/op-1', { card: 'Restart api' });
  await journal.keep('question/op-2', { card: 'gone' });
  await journal.keep('question/op-2', null);
  await journal.plan(operation('op_waiting'));
  for (let index = 0; index < 300; index += 1) await journal.keep('counter', index);
  await journal.close();
  journal = await open(folder);
  assert.ok(journal.found.records < 300, `the log was never rewritten: ${journal.found.records} records`);
  assert.deepEqual(journal.kept('question/'), [['question/op-1', { card: 'Restart api' }]]);
  assert.deepEqual(journal.kept('counter'), [['counter', 299]]);
  assert.equal(journal.get('op_waiting')?.phase, 'planned');
  await journal.close();
});

test('durable journal: while the disk refuses nothing is applied, and the fault is told (AUD-10)', async (t) => {
  const disk = new FaultyDisk();
  const faults: unknown[] = [];
  const journal = await open(freshFolder(t), { log: { disk }, onFault: (fault) => faults.push(fault) });
  await journal.plan(operation('op_a'));
  disk.fault = { when: (call) => call === 'write', what: { code: 'EIO' } };
  await assert.rejects(journal.begin('op_a'), { reason: 'AUDIT_UNAVAILABLE' });
  assert.equal(journal.get('op_a')?.phase, 'planned');
  disk.fault = undefined;
  while ((await journal.begin('op_a').catch(() => undefined)) !== 'begun') await sleep(20);
  assert.deepEqual(faults, ['broken', undefined]);
  await journal.close();
});

/** The records of an effect in turn, and what a start finds when the process is killed right after the one. */
const STEPS = [
  ['plan', 'planned', undefined],
  ['begin', 'planned', undefined],
  ['intent', 'unknown', 'unknown'],
  ['step', 'done', 'done'],
  ['end', 'done', 'done'],
] as const;

for (const [index, [step, phase, request]] of STEPS.entries()) {
  test(`durable journal: kill -9 right after ${step} leaves an operation that is ${phase} (AUD-14)`, async (t) => {
    const folder = freshFolder(t);
    const program = `
      import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
      import { systemClock } from '#core/bounds/clock.ts';
      import { operation } from '#test/sidecar/journal/operation-record.ts';
      const journal = await DurableJournal.open({ folder: ${JSON.stringify(folder)}, clock: systemClock });
      const steps = [
        () => journal.plan(operation('op_a')),
        () => journal.begin('op_a', 'op-a'),
        () => journal.intent('op_a', 0),
        () => journal.step('op_a', 0, 'done'),
        () => journal.end('op_a', 'done', { reply: 1 }),
      ];
      for (const step of steps.slice(0, ${index + 1})) await step();
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: 'inherit',
      cwd: import.meta.dirname,
    });
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
    for (let start = 0; start < 2; start += 1) {
      const journal = await open(folder);
      const entry = journal.get('op_a');
      assert.deepEqual([entry?.phase, entry?.steps[0]?.state], [phase, request]);
      const found = step === 'begin' || step === 'intent' || step === 'step';
      assert.equal(entry?.interrupted ?? false, found, 'it was running when the process died');
      // What may have been sent is not begun again, by nobody.
      assert.equal(phase === 'planned' || typeof (await journal.begin('op_a')) === 'object', true);
      await journal.close();
    }
  });
}
