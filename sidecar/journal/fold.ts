/**
 * The one meaning of a journal: record after record, what an operation has become. The running process and a start after a crash use
 * the same function, so that what was told is what is found.
 *
 *   plan            begin              intent … step (one pair for each request)      end
 *   ───▶ planned ──────────▶ running ─────────────────────────────────────▶ done | failed | unknown
 *           │  ▲                │  ▲                                                         │
 *           │  └── restart ─────┘  └──────────────────────── again ──────────────────────────┤
 *           └── end ▶ failed     nothing was sent          only where the remote knows       │
 *                                                          a repetition                      └── resolve ▶ done | failed
 *
 * Invariants, for every order of records (property-tested):
 * - A request whose intent is written and whose end is not is never sent again, but by `again`.
 * - What has ended as done or failed stays so; a drop forgets it.
 * - An operation is not told done or failed while one of its requests is out, or nobody knows what became of it.
 */
import type { Entry, Phase, Step } from './entry.ts';
import type { EndPhase, OperationJournalRecord } from './journal-record.ts';

export type OperationState = 'absent' | Phase;
export type OperationEvent =
  | Exclude<OperationJournalRecord['kind'], 'end' | 'resolve' | 'restart' | 'entry'>
  | `end:${EndPhase}`
  | `resolve:${'done' | 'notDone'}`
  | `restart:${'planned' | EndPhase}`
  | `entry:${Phase}`;

type Row = Readonly<Partial<Record<OperationEvent, OperationState>>>;

/** What is not named is refused. */
export const TRANSITIONS: Readonly<Record<OperationState, Row>> = {
  absent: {
    plan: 'planned',
    'entry:planned': 'planned',
    'entry:running': 'running',
    'entry:done': 'done',
    'entry:failed': 'failed',
    'entry:unknown': 'unknown',
  },
  planned: { begin: 'running', 'end:failed': 'failed', drop: 'absent' },
  running: {
    intent: 'running',
    step: 'running',
    'end:done': 'done',
    'end:failed': 'failed',
    'end:unknown': 'unknown',
    'restart:planned': 'planned',
    'restart:done': 'done',
    'restart:failed': 'failed',
    'restart:unknown': 'unknown',
  },
  unknown: { again: 'running', 'resolve:done': 'done', 'resolve:notDone': 'failed' },
  done: { drop: 'absent' },
  failed: { drop: 'absent' },
};

export type StepState = 'none' | Step['state'];
export type StepEvent = 'intent' | 'done' | 'notDone' | 'unknown';

/** One request. From `unknown` a read may settle it; an intent leads on only where the remote knows a repetition. */
export const STEP_TRANSITIONS: Readonly<Record<StepState, Readonly<Partial<Record<StepEvent, Step['state']>>>>> = {
  none: { intent: 'sent' },
  sent: { done: 'done', notDone: 'notDone', unknown: 'unknown' },
  notDone: { intent: 'sent' },
  unknown: { intent: 'sent', done: 'done', notDone: 'notDone' },
  done: {},
};

/** What the operation is after the record; `forgotten`; or why the record cannot be true, as a sentence of ours. */
export type Folded = { readonly entry: Entry } | 'forgotten' | { readonly refused: string };

export function foldRecord(entry: Entry | undefined, record: OperationJournalRecord): Folded {
  const state: OperationState = entry?.phase ?? 'absent';
  const event = eventOf(record);
  const next = TRANSITIONS[state][event];
  if (next === undefined) return { refused: `An operation that is ${state} cannot take ${event}.` };
  if (next === 'absent') return 'forgotten';
  if (entry === undefined) {
    if (record.kind === 'plan') return { entry: { record: record.record, phase: next, steps: [] } };
    return record.kind === 'entry' ? { entry: record.entry } : { refused: 'An operation begins with its plan.' };
  }
  return changed(entry, record, next);
}

/** What a start makes of an operation that is still running, from its steps alone. */
export function afterCrash(entry: Entry): 'planned' | EndPhase {
  if (entry.steps.length === 0) return 'planned';
  if (inDoubt(entry)) return 'unknown';
  return entry.steps.some(({ state }) => state === 'done') ? 'done' : 'failed';
}

function changed(entry: Entry, record: OperationJournalRecord, phase: Phase): Folded {
  switch (record.kind) {
    case 'begin':
      return {
        entry: { ...without(entry, 'interrupted'), phase, ...(record.approval === undefined ? {} : { approval: record.approval }) },
      };
    case 'again':
      if (entry.record.idempotency === 'None') return { refused: 'What the remote does not know again is not sent again.' };
      return { entry: { ...without(entry, 'outcome', 'endedAtMs', 'interrupted'), phase } };
    case 'intent':
      return withStep(entry, record.index, 'intent');
    case 'step':
      return withStep(entry, record.index, record.state);
    case 'end': {
      if (record.phase !== 'unknown' && inDoubt(entry)) return { refused: `With a request in doubt an operation is not ${record.phase}.` };
      const outcome = record.outcome === undefined ? {} : { outcome: record.outcome };
      return { entry: { ...entry, phase, endedAtMs: record.atMs, ...outcome } };
    }
    case 'resolve':
      return { entry: { ...entry, phase, resolution: { verdict: record.verdict, by: record.by, atMs: record.atMs } } };
    case 'restart':
      return restarted(entry, record, phase);
    default:
      return { refused: 'An operation is planned once.' };
  }
}

function restarted(entry: Entry, record: OperationJournalRecord & { kind: 'restart' }, phase: Phase): Folded {
  if (record.phase !== afterCrash(entry)) return { refused: `Its requests do not say ${record.phase}.` };
  if (phase === 'planned') return { entry: { ...without(entry, 'approval'), phase, interrupted: true } };
  const steps = entry.steps.map((step) => (step.state === 'sent' ? { ...step, state: 'unknown' as const } : step));
  return { entry: { ...entry, phase, steps, endedAtMs: record.atMs, interrupted: true } };
}

function withStep(entry: Entry, index: number, event: StepEvent): Folded {
  const at = entry.steps.findIndex((step) => step.index === index);
  const state: StepState = entry.steps[at]?.state ?? 'none';
  const next = STEP_TRANSITIONS[state][event];
  if (next === undefined) return { refused: `Request ${index} is ${state === 'none' ? 'not sent' : state} and cannot take ${event}.` };
  if (state === 'unknown' && event === 'intent' && entry.record.idempotency === 'None') {
    return { refused: `Request ${index} may have been done, and its remote does not know a repetition.` };
  }
  const step: Step = { index, state: next };
  return { entry: { ...entry, steps: at < 0 ? [...entry.steps, step] : entry.steps.with(at, step) } };
}

function inDoubt(entry: Entry): boolean {
  return entry.steps.some(({ state }) => state === 'sent' || state === 'unknown');
}

function without<K extends 'outcome' | 'endedAtMs' | 'approval' | 'interrupted'>(entry: Entry, ...members: readonly K[]): Omit<Entry, K> {
  const rest: Partial<Entry> = { ...entry };
  for (const member of members) delete (rest as Record<string, unknown>)[member];
  return rest as Omit<Entry, K>;
}

function eventOf(record: OperationJournalRecord): OperationEvent {
  switch (record.kind) {
    case 'end':
      return `end:${record.phase}`;
    case 'resolve':
      return `resolve:${record.verdict}`;
    case 'restart':
      return `restart:${record.phase}`;
    case 'entry':
      return `entry:${record.entry.phase}`;
    default:
      return record.kind;
  }
}
