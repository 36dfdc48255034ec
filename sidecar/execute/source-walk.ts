/**
 * The walk over one source: ask, judge, collect, until the remote says it is all or a limit of ours is met.
 * Every judgement is the pure engine's; here are only the waits, the budget and the order of things.
 */

import type { Clock } from '#core/bounds/clock.ts';
import {
  holdBack,
  type OwnStop,
  type Row,
  type SourceWalk,
  type Step,
  stopWalk,
  takePage,
  type WalkContext,
} from '#core/completeness/walk.ts';
import type { CompiledContract, HttpTarget, SshTarget } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { askSource, isStop } from './ask-source.ts';
import type { Budget } from './budget.ts';
import type { CallStanding } from './call-standing.ts';
import type { Question, Remote } from './remote.ts';
import { fitRows, RowText } from './row-text.ts';

export interface SourceRun {
  readonly contract: CompiledContract;
  readonly target: HttpTarget | SshTarget;
  readonly args: WalkContext['args'];
  readonly values: Omit<SlotValues, 'next' | 'open' | 'budget'>;
  readonly remote: Remote;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly standing: CallStanding;
  readonly onePage: boolean;
  /** Aborted by the caller or at the deadline. */
  readonly signal: AbortSignal;
  onPage(pages: number, items: number): void;
  onWait(ms: number): void;
}

export interface Walked {
  readonly walk: SourceWalk;
  readonly rows: RowText;
}

/** Walks from where `start` stands. Throws PosternError only for what could not be asked at all. */
export async function walkSource(run: SourceRun, start: SourceWalk): Promise<Walked> {
  const rows = new RowText();
  let turn: Turn = { walk: start, goesOn: !start.done };
  while (turn.goesOn) turn = await takeTurn(run, turn, rows);
  return { walk: turn.walk, rows };
}

interface Turn {
  readonly walk: SourceWalk;
  readonly goesOn: boolean;
  /** What a job that is still running has found; given only when nothing newer comes before our time is over. */
  readonly unfinished?: readonly Row[];
}

/** One request, its judgement, its rows, and the wait before the next. */
async function takeTurn(run: SourceRun, { walk: before, unfinished = [] }: Turn, rows: RowText): Promise<Turn> {
  const stopped = (walk: SourceWalk, stop: OwnStop): Turn => ({ walk: stopWalk(walkContext(run), walk, stop), goesOn: false });
  const exchange = run.budget.stop() ?? (await askSource(run, templateOf(run, before), before));
  if (isStop(exchange)) {
    collect(run, rows, unfinished, 0);
    return stopped(before, exchange);
  }
  const taken = takePage(walkContext(run), before, exchange);
  // A poll or a wait asks the same page again: only what moves the walk counts against `limits.pages`.
  if (taken.step.kind === 'page' || taken.step.kind === 'stop') run.budget.askedPage();
  const cut = collect(run, rows, taken.rows, exchange.reply.kind === 'reply' ? exchange.reply.bytes : 0);
  if (cut !== null) return stopped(holdBack(before, taken.walk, cut.kept), cut.stop);
  const running = taken.step.kind === 'poll' ? taken.step.rows : [];
  const next = await rest(run, taken.step);
  if (next === 'stop') return { walk: taken.walk, goesOn: false };
  if (next === 'go on') {
    // Not for the last page: its answer follows at once, and most walks have one page.
    run.onPage(run.budget.pages, run.budget.items);
    return { walk: taken.walk, goesOn: !taken.walk.done, unfinished: running };
  }
  collect(run, rows, running, 0);
  return stopped(taken.walk, next);
}

/** What the engine judges with, at this moment. */
export function walkContext(run: SourceRun): WalkContext {
  return { contract: run.contract, args: run.args, nowMs: run.clock.wallMs() };
}

function templateOf({ target }: SourceRun, walk: SourceWalk): Question {
  if (target.kind === 'ssh') return target;
  return walk.pages > 0 && target.next !== undefined ? target.next : target.request;
}

/** Adds the page's rows; when they do not all fit, says how many did and which limit cut them. */
function collect(run: SourceRun, into: RowText, rows: readonly Row[], bytes: number): { kept: number; stop: OwnStop } | null {
  const allowed = run.budget.itemsThatFit(rows.length);
  const fitting = fitRows(allowed === rows.length ? rows : rows.slice(0, allowed), run.budget.answerBytesLeft);
  into.add(fitting.kept, fitting.text);
  run.budget.took({ items: fitting.kept.length, bytes, answerBytes: fitting.bytes });
  if (fitting.kept.length === rows.length) return null;
  const stop: OwnStop = fitting.kept.length === allowed ? { limit: 'items', value: run.budget.itemsLimit } : run.budget.messageStop();
  return { kept: fitting.kept.length, stop };
}

/** What comes after a page: another, the end, or a wait that may not fit. */
async function rest(run: SourceRun, step: Step): Promise<'go on' | 'stop' | OwnStop> {
  if (step.kind === 'stop') return 'stop';
  if (step.kind === 'page') return run.onePage ? { limit: 'one_page' } : 'go on';
  if (step.afterMs >= run.budget.timeLeftMs) return run.budget.timeStop();
  run.onWait(step.afterMs);
  const started = run.clock.monotonicMs();
  try {
    await run.clock.sleep(step.afterMs, run.signal);
  } catch {
    // Aborted while waiting; the budget says by which of the two.
    return run.budget.interruption();
  }
  run.budget.waited(run.clock.monotonicMs() - started);
  return 'go on';
}
