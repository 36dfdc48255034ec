/** What a journal that failed, or a process that died, leaves of an operation, and who hears of it afterwards (promises P2 and P4). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import type { Answer } from '#test/flow/stage.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { answerNote, FREE, NOTE, READ_NOTE, type Rig, startRig } from './effect-rig.ts';

function failing(journal: Journal, fails: (method: string) => boolean): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      return (...given: unknown[]) =>
        fails(String(name)) ? Promise.reject(new PosternError('AUDIT_UNAVAILABLE', 'The disk is full.')) : method.apply(target, given);
    },
  });
}

test('journal: a disk that was full for a moment refuses a call for no longer than that', async () => {
  let full = true;
  const journal = failing(new MemoryJournal(systemClock), (method) => full && (method === 'intent' || method === 'end'));
  await using rig = await startRig({ journal });
  assert.equal((await rig.refused('put_note', NOTE)).reason, 'AUDIT_UNAVAILABLE');
  full = false;
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  assert.equal(rig.journal.get(operationId)?.phase, 'failed', 'what could not be written is written now');
  await rig.execute('put_note', NOTE);
  assert.equal(rig.effects(), 1);
});

test('recorder: an outcome that it cannot keep does not hide that the effect took place', async () => {
  await using rig = await startRig({ recorder: { outcome: () => Promise.reject(new Error('the disk is gone')) } });
  const { operationId } = await rig.execute('put_note', NOTE);
  assert.equal(rig.journal.get(operationId)?.phase, 'done');
});

/** A journal on disk whose process dies where `dies` says: from there on nothing is written any more. */
async function afterDeath(
  contracts: Record<string, string>,
  dies: string,
  answer: Answer,
  look: (rig: Rig, told: string[]) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-death-'));
  try {
    const first = await DurableJournal.open({ folder, clock: systemClock });
    let dead = false;
    const journal = failing(first, (method) => {
      dead ||= method === dies;
      return dead && ['intent', 'step', 'end'].includes(method);
    });
    await using rig = await startRig({ contracts, journal, answer });
    const action = Object.keys(contracts)[0]?.replace('-', '_') ?? '';
    const asked = await rig.execute(action, contracts['put-note'] === undefined ? { id: 'one' } : NOTE).catch(PosternError.from);
    if (asked instanceof PosternError && asked.reason === 'APPROVAL_REQUIRED') {
      await rig.approve(asked.operationId ?? '');
      await rig.confirm(asked.operationId ?? '').catch(() => {});
    }
    await first.close();
    const second = await DurableJournal.open({ folder, clock: systemClock });
    const told: string[] = [];
    const { upstream, keys } = rig;
    const decider = (kept: Decider): Decider =>
      new Proxy(kept, {
        get(target, name) {
          const method: unknown = Reflect.get(target, name, target);
          if (typeof method !== 'function') return method;
          if (name === 'settled') {
            return (operationId: string, end: 'done' | 'notDone' | 'unknown') => {
              told.push(end);
              return target.settled(operationId, end);
            };
          }
          return method.bind(target);
        },
      });
    await using reborn = await startRig({ contracts, journal: second, upstream, keys, wrap: decider });
    await look(reborn, told);
    await second.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('restart: whoever decides hears of operations that were over when the process died, so that equal calls are free (AUD-14)', async () => {
  await afterDeath({ 'put-note': FREE }, 'end', answerNote, async (rig, told) => {
    assert.deepEqual(told, ['done']);
    await rig.execute('put_note', NOTE);
    assert.equal(rig.effects(), 2, 'a new call is a new operation');
  });
});

test('restart: of an operation that died before its first request whoever decides hears that nothing was done', async () => {
  await afterDeath({ 'put-note': FREE }, 'intent', answerNote, async (rig, told) => {
    assert.deepEqual(told, ['notDone']);
    assert.equal((await rig.execute('put_note', NOTE)).operationId, rig.journal.list()[0]?.record.operationId, 'it is the same operation');
    assert.equal(rig.effects(), 1);
  });
});

test('restart: of an operation without an outcome whoever decides hears that it is unknown', async () => {
  await afterDeath({ 'put-note': FREE }, 'step', answerNote, async (rig, told) => {
    assert.deepEqual(told, ['unknown']);
    assert.equal((await rig.refused('put_note', NOTE)).reason, 'OUTCOME_UNKNOWN');
    assert.equal(rig.effects(), 1);
  });
});

test('restart: a read that a person agreed to changes nothing, so an equal one is not held', async () => {
  const read = READ_NOTE.replace('  completeness:', '  approval: {mode: EachCall}\n  completeness:');
  await afterDeath({ 'read-note': read }, 'step', answerNote, async (rig) => {
    assert.equal((await rig.refused('read_note', { id: 'one' })).reason, 'APPROVAL_REQUIRED');
    const [operation] = rig.calls.listOperations().operations;
    await rig.approve(operation?.operationId ?? '');
    await rig.confirm(operation?.operationId ?? '');
  });
});
