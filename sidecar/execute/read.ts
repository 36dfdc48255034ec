/**
 * One read, from the first request to the answer: every selected source is walked, the walks are folded into one
 * envelope, handles that nobody needs any more are closed.
 *
 * Invariant: all numbers of the answer come from the walks; nothing here decides whether it is complete.
 */

import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { foldWalks } from '#core/completeness/fold.ts';
import type { Folded, Row, SourceWalk } from '#core/completeness/walk.ts';
import type { CompiledContract, JsonValue, SourceRules } from '#core/contract/compiled.ts';
import { renderSentence } from '#core/contract/sentence.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { Budget } from './budget.ts';
import type { CallStanding } from './call-standing.ts';
import { isUnopened, openSource } from './open-source.ts';
import type { Remote } from './remote.ts';
import { RowText } from './row-text.ts';
import { type SourceRun, type Walked, walkSource } from './source-walk.ts';

export interface ReadRequest {
  readonly contract: CompiledContract;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly operationId: string;
  readonly onePage: boolean;
  /** May only shorten the contract's own limit. */
  readonly deadlineMs?: number;
  /** The walks a cursor carried, with the number of calls that made them. An expired one asks nothing and says how to start again. */
  readonly resume?: { readonly walks: readonly SourceWalk[]; readonly calls: number; readonly expired: boolean };
}

export interface ReadMeans {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly standing: CallStanding;
  /** The remote of one source; unnamed where the contract has no sources. Throws PosternError. */
  remote(source: SourceRules | undefined): Remote;
  seal(walks: readonly SourceWalk[], calls: number): { cursor: string; expiresAt?: string };
  onProgress(progress: { pages: number; items: number; source: string; waitingMs?: number }): void;
}

export interface ReadAnswer {
  readonly folded: Folded;
  readonly walks: readonly SourceWalk[];
  /** JSON of the data member, at most limits.resultDataBytesMax; absent beside an error. */
  readonly dataJson?: string;
}

/** Throws PosternError only when nothing could be asked at all, or when the call lost its standing; every other end is in `folded`. */
export async function executeRead(request: ReadRequest, means: ReadMeans): Promise<ReadAnswer> {
  const { contract } = request;
  const { target } = contract;
  const budget = new Budget(contract.completeness.limits, means.clock, request.deadlineMs);
  // Aborted by hand: AbortSignal.any and a sleep that is aborted at the end cost a call more than its checks do.
  const stop = new AbortController();
  const onStop = () => stop.abort();
  if (means.signal.aborted) onStop();
  means.signal.addEventListener('abort', onStop, { once: true });
  // On the injected clock, so that a replay meets its deadlines.
  const cancelAlarm = means.clock.alarm(Math.max(0, budget.timeLeftMs), onStop);
  const forget = means.standing.onLost(onStop);
  try {
    const { signal } = stop;
    const jobs = selectSources(contract, request).map((source) => sourceJob(request, means, { target, budget, signal, source }));
    const walked =
      request.resume?.expired === true ? request.resume.walks.map(expired) : await inParallel(jobs, contract.completeness.limits.parallel);
    const lost = means.standing.refusal();
    if (lost !== undefined) throw lost;
    return await answer(request, means, { walked, budget, jobs });
  } finally {
    cancelAlarm();
    forget();
    means.signal.removeEventListener('abort', onStop);
  }
}

/** Our cursor ended before the remote's: the same end as if the remote had said so. */
function expired(walk: SourceWalk): Walked {
  return { walk: { ...walk, failure: { kind: 'CursorExpired' } }, rows: new RowText() };
}

interface SourceJob {
  run(): Promise<Walked>;
  close(walk: SourceWalk): Promise<void>;
}

function sourceJob(
  request: ReadRequest,
  means: ReadMeans,
  shared: { target: CompiledContract['target']; budget: Budget; signal: AbortSignal; source: SourceRules | undefined },
): SourceJob {
  const { target, budget, signal, source } = shared;
  const name = source?.name ?? '';
  const remote = means.remote(source);
  const run: SourceRun = {
    contract: request.contract,
    target,
    args: request.args,
    values: slotValues(request, source),
    remote,
    budget,
    clock: means.clock,
    standing: means.standing,
    onePage: request.onePage,
    signal,
    onPage: (pages, items) => means.onProgress({ pages, items, source: name }),
    onWait: (waitingMs) => means.onProgress({ pages: budget.pages, items: budget.items, source: name, waitingMs }),
  };
  return {
    run: async () => {
      const kept = request.resume?.walks.find((walk) => walk.source === name);
      if (kept !== undefined && !isUnopened(run, kept)) return walkSource(run, kept);
      const opened = await openSource(run, name);
      return opened.kind === 'failed' ? opened.walked : walkSource(run, opened.walk);
    },
    close: (walk) => closeSource(run, walk),
  };
}

async function answer(
  request: ReadRequest,
  means: ReadMeans,
  done: { walked: readonly Walked[]; budget: Budget; jobs: readonly SourceJob[] },
): Promise<ReadAnswer> {
  const walks = done.walked.map(({ walk }) => walk);
  const rows = new Map<string, readonly Row[]>(done.walked.map(({ walk, rows: text }) => [walk.source, text.rows]));
  const calls = (request.resume?.calls ?? 0) + 1;
  let sealed = false;
  const folded = foldWalks({ contract: request.contract, args: request.args, nowMs: means.clock.wallMs() }, walks, rows, {
    deadlineMs: done.budget.deadlineMs,
    spentMs: done.budget.spentMs,
    waitedMs: done.budget.waitedMs,
    calls,
    summaryResource: resourceOf(request),
    seal: (kept) => {
      sealed = true;
      return means.seal(kept, calls);
    },
  });
  if (!sealed) await Promise.all(done.walked.map(({ walk }, index) => done.jobs[index]?.close(walk)));
  if (folded.kind === 'error') return { folded, walks };
  return { folded, walks, dataJson: dataText(request.contract, folded.envelope.data, done.walked) };
}

/** Rows are already text; anything else (one object, aggregates) is made text here. */
function dataText(contract: CompiledContract, data: Readonly<Record<string, JsonValue>>, walked: readonly Walked[]): string {
  if (contract.result.shape.kind !== 'items' || contract.result.aggregate !== undefined) return JSON.stringify(data);
  const texts = walked.map(({ rows }) => rows.text()).filter((text) => text !== '');
  return `{${JSON.stringify(contract.result.as)}:[${texts.join(',')}]}`;
}

/** Best effort, and never while a cursor that needs the handle is out (contract language, section 2.3). */
async function closeSource(run: SourceRun, walk: SourceWalk): Promise<void> {
  if (run.target.kind === 'ssh') return;
  const { close, open } = run.target;
  if (close === undefined || (open !== undefined && Object.keys(walk.open).length === 0)) return;
  try {
    await run.remote.ask(
      close,
      { ...run.values, next: walk.next, open: walk.open, budget: { millis: limits.closeMsMax } },
      { signal: AbortSignal.timeout(limits.closeMsMax), bodyBytesMax: limits.closeBodyBytesMax },
    );
  } catch {
    // A handle that could not be closed expires at the remote; the answer does not depend on it.
  }
}

function selectSources(contract: CompiledContract, request: ReadRequest): readonly (SourceRules | undefined)[] {
  const sources = contract.completeness.sources;
  if (sources === undefined) return [undefined];
  const chosen = sources.select === undefined ? undefined : request.args[sources.select];
  if (!Array.isArray(chosen)) return sources.list;
  return sources.list.filter((source) => chosen.includes(source.name));
}

function slotValues(request: ReadRequest, source: SourceRules | undefined): Omit<SlotValues, 'next' | 'open' | 'budget'> {
  const own = request.contract.completeness.limits;
  return {
    args: request.args,
    resolve: request.contract.resolve,
    constants: request.contract.constants,
    source: source?.values ?? {},
    limits: {
      pages: own.pages,
      items: own.items,
      bytes: own.bytes,
      time: own.timeMs,
      ...(own.pageSize === undefined ? {} : { pageSize: own.pageSize }),
    },
    operation: { id: request.operationId },
  };
}

function resourceOf(request: ReadRequest): string {
  const resource = request.contract.completeness.scope?.resource ?? request.contract.summary;
  return renderSentence(resource, { ...slotValues(request, undefined), next: {}, open: {}, budget: {} });
}

/** Runs at most `width` jobs at once; results keep the order of the jobs. The first failure is thrown once all have ended. */
async function inParallel(jobs: readonly SourceJob[], width: number): Promise<readonly Walked[]> {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return [await only.run()];
  const results: Walked[] = [];
  const failures: unknown[] = [];
  let nextJob = 0;
  const worker = async () => {
    for (let index = nextJob++; index < jobs.length; index = nextJob++) {
      try {
        const walked = await jobs[index]?.run();
        if (walked !== undefined) results[index] = walked;
      } catch (failure) {
        failures.push(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, jobs.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
