import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, Decider, QuestionState } from '#sidecar/approval/decider.ts';
import { WatchedDecider } from '#sidecar/approval/watched-decider.ts';
import { HandClock } from './hand-clock.ts';

function build() {
  const clock = new HandClock();
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
  const told: string[] = [];
  const watched = new WatchedDecider(
    decider,
    {
      asked: ({ name }) => told.push(`asked ${name}`),
      ended: (name, state) => told.push(`${state?.kind ?? 'gone'} ${name}`),
      used: ({ approval }) => told.push(`used ${approval}`),
    },
    clock,
  );
  const become = (name: string, state: QuestionState, aloud = true) => {
    states.set(name, state);
    if (aloud) for (const listener of listeners) listener({ kind: 'question', name, state });
  };
  const ask = (name: string) =>
    watched.ask({
      name,
      operationId: 'op',
      facts: { expiresAtMs: clock.wallMs() + 60_000 },
      card: '',
      cardDigest: '',
      alternatives: [],
    } as never);
  return { watched, told, clock, become, ask };
}

const NO: QuestionState = { kind: 'decided', decision: { verdict: 'denied', approver: 'ada', reason: '', atMs: 0 } };

test('watched decider: a question is told once when it is asked and once when it is decided', async () => {
  const { told, become, ask } = build();
  await ask('op-1');
  await ask('op-1');
  become('op-1', NO);
  become('op-1', NO);
  await ask('op-1');
  assert.deepEqual(told, ['asked op-1', 'decided op-1']);
});

test('watched decider: a question that nobody answers is told as expired when its time is over', async () => {
  const { told, clock, become, ask } = build();
  await ask('op-1');
  become('op-1', { kind: 'expired' }, false);
  clock.pass(60_001);
  assert.deepEqual(told, ['asked op-1', 'expired op-1']);
  assert.equal(clock.pending, 0);
});

test('watched decider: a decision about a question of an earlier process is told too', () => {
  const { told, become } = build();
  become('op-1', NO);
  assert.deepEqual(told, ['decided op-1']);
});

test('watched decider: the use of a yes is told after the yes itself', async () => {
  const { told, watched, become, ask } = build();
  await ask('op-1');
  become('op-1', { kind: 'decided', decision: { verdict: 'approved', approver: 'ada', cardDigest: '', reason: '', atMs: 0 } }, false);
  await watched.admit({ approval: 'op-1' } as never);
  assert.deepEqual(told, ['asked op-1', 'decided op-1', 'used op-1']);
});
