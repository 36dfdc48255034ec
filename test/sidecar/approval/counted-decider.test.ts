import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '#core/bounds/clock.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import { CountedDecider } from '#sidecar/approval/counted-decider.ts';
import type { Change, Decider, Question, QuestionState } from '#sidecar/approval/decider.ts';

let nowMs = 0;
const clock: Clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {}, alarm: () => () => {} };

/** Decides as the test says. */
function scripted() {
  const states = new Map<string, QuestionState>();
  const listeners: ((change: Change) => void)[] = [];
  const decider: Decider = {
    ask: async ({ name }) => void (states.has(name) || states.set(name, { kind: 'waiting' })),
    state: (name) => states.get(name),
    requester: () => ({ kind: 'alone' }),
    admit: async () => {},
    settled: async () => {},
    onChange: (listener) => {
      listeners.push(listener);
      return () => {};
    },
  };
  const become = (name: string, state: QuestionState, aloud = true) => {
    states.set(name, state);
    if (aloud) for (const listener of listeners) listener({ kind: 'question', name, state });
  };
  return { decider, become };
}

function counted() {
  const metrics = new SidecarMetrics(clock);
  metrics.declare({ action: 'deploy', owner: 'team', warnings: {}, completeness: { notices: [] } });
  const { decider, become } = scripted();
  const page = async () => (await metrics.exposition()).text;
  return { own: new CountedDecider(decider, metrics.effects, clock), become, page };
}

const question = (name: string) => ({ name, facts: { action: 'deploy' } }) as Question;
const approved: QuestionState = {
  kind: 'decided',
  decision: { verdict: 'approved', approver: 'ada', cardDigest: '', reason: '', atMs: 0 },
};

test('counted decider: a question waits, with its age, until it is decided; asking again is the same question', async () => {
  const { own, become, page } = counted();
  await own.ask(question('op-1'));
  nowMs += 60_000;
  await own.ask(question('op-1'));
  await own.ask(question('op-2'));
  const waiting = await page();
  assert.match(waiting, /^postern_approvals_waiting 2$/m);
  assert.match(waiting, /^postern_approval_oldest_age_seconds 60$/m);
  assert.match(waiting, /^postern_approvals_total\{action="deploy",outcome="asked"\} 2$/m);
  become('op-1', approved);
  become('op-1', approved);
  const after = await page();
  assert.match(after, /^postern_approvals_waiting 1$/m);
  assert.match(after, /^postern_approval_oldest_age_seconds 0$/m);
  assert.match(after, /^postern_approvals_total\{action="deploy",outcome="approved"\} 1$/m);
  assert.match(after, /^postern_approval_wait_seconds_sum\{action="deploy"\} 60$/m);
});

test('counted decider: a question that expires without a word leaves the page at the next look', async () => {
  const { own, become, page } = counted();
  await own.ask(question('op-3'));
  become('op-3', { kind: 'expired' }, false);
  const text = await page();
  assert.match(text, /^postern_approvals_waiting 0$/m);
  assert.match(text, /outcome="expired"\} 1$/m);
});

test('counted decider: what the decider refuses to ask is not counted', async () => {
  const { decider } = scripted();
  const metrics = new SidecarMetrics(clock);
  const own = new CountedDecider({ ...decider, ask: () => Promise.reject(new Error('too many')) }, metrics.effects, clock);
  await assert.rejects(own.ask(question('op-4')));
  assert.doesNotMatch((await metrics.exposition()).text, /outcome="asked"/);
});
