/**
 * Goal: the crash table of ARCHITECTURE.md, row by row, as the callers after the crash see it. Method: a process that kills itself with SIGKILL
 * at the step, on a journal on disk, with a call that a person agreed to; then another process's worth of the same parts on the same folder
 * (AUD-14, APR-15). What took effect is what the remote counted.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { startUpstream } from '#test/flow/stage.ts';
import { ASKED, answerNote, NOTE, type Rig, startRig } from './effect-rig.ts';

interface After {
  /** What took effect before the crash. */
  readonly effects: number;
  readonly phase: string;
  /** What the caller that gives the operation's id again is told, and how many took effect then. */
  readonly again: readonly [told: string, effects: number];
  /** What an equal call is told that comes after that one. */
  readonly equal: string;
}

const UNKNOWN = { phase: 'unknown', equal: 'OUTCOME_UNKNOWN' } as const;
const OVER = { phase: 'done', equal: 'APPROVAL_REQUIRED' } as const;

const DEATHS: Readonly<Record<string, After>> = {
  'after begin': { effects: 0, phase: 'planned', again: ['done', 1], equal: 'APPROVAL_REQUIRED' },
  'after admit': { effects: 0, phase: 'planned', again: ['done', 1], equal: 'APPROVAL_REQUIRED' },
  'before intent': { effects: 0, phase: 'planned', again: ['done', 1], equal: 'APPROVAL_REQUIRED' },
  'after intent': { effects: 0, again: ['OUTCOME_UNKNOWN', 0], ...UNKNOWN },
  'before step': { effects: 1, again: ['OUTCOME_UNKNOWN', 1], ...UNKNOWN },
  'after step': { effects: 1, again: ['done', 1], ...OVER },
  'before settled': { effects: 1, again: ['done', 1], ...OVER },
  'after settled': { effects: 1, again: ['done', 1], ...OVER },
};

for (const [death, expected] of Object.entries(DEATHS)) {
  test(`killed ${death}: ${expected.phase}, and the same call is told ${expected.again[0]} (AUD-14, APR-15)`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-killed-call-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    await using upstream = await startUpstream(answerNote);
    const operationId = await died(folder, upstream.port, death);
    const journal = await DurableJournal.open({ folder, clock: systemClock });
    t.after(() => journal.close());
    await using rig = await startRig({ contracts: { 'put-note': ASKED }, journal, upstream });
    assert.equal(rig.effects(), expected.effects);
    assert.equal(journal.get(operationId)?.phase, expected.phase);
    assert.deepEqual([await toldOf(rig, operationId), rig.effects()], expected.again);
    assert.deepEqual([await toldOf(rig, operationId), rig.effects()], expected.again, 'and again');
    assert.equal(await toldOf(rig), expected.equal);
    assert.equal(rig.effects(), expected.again[1], 'one yes is one effect');
  });
}

/** The operation of a process that is dead now. */
async function died(folder: string, port: number, death: string): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'dying-program.ts'), folder, String(port), death], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(signal, 'SIGKILL');
  return said;
}

function toldOf(rig: Rig, operationId?: string): Promise<string> {
  return rig.execute('put_note', NOTE, operationId === undefined ? {} : { operationId }).then(
    () => 'done',
    ({ reason }) => reason,
  );
}
