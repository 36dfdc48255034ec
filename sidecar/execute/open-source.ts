/**
 * Before the first page: the request that opens a snapshot handle or starts a job (`http.open`), and the walk that
 * begins with its values. Without `open` the walk simply begins.
 */

import type { Exchange, Reply } from '#core/completeness/exchange.ts';
import { isEmptyValue, readPath } from '#core/completeness/path.ts';
import { type SourceWalk, startWalk, stopWalk, takePage } from '#core/completeness/walk.ts';
import type { HttpTarget, JsonValue } from '#core/contract/compiled.ts';
import { initialNext } from '#core/contract/initial-next.ts';
import { askSource, isStop } from './ask-source.ts';
import { RowText } from './row-text.ts';
import { type SourceRun, type Walked, walkContext } from './source-walk.ts';

export type Opened = { readonly kind: 'opened'; readonly walk: SourceWalk } | { readonly kind: 'failed'; readonly walked: Walked };

/** Whether a walk out of a cursor still has its opening before it: a limit ended the call that would have begun it. */
export function isUnopened(run: SourceRun, walk: SourceWalk): boolean {
  const begun = walk.done || walk.pending || walk.pages > 0 || walk.held !== undefined || Object.keys(walk.open).length > 0;
  return openingOf(run) !== undefined && !begun;
}

/** A command has nothing before it. */
function openingOf({ target }: SourceRun): HttpTarget['open'] {
  return target.kind === 'http' ? target.open : undefined;
}

/** Throws PosternError for what could not be asked at all. */
export async function openSource(run: SourceRun, source: string): Promise<Opened> {
  const open = openingOf(run);
  if (open === undefined) return { kind: 'opened', walk: begin(run, source, {}) };
  const unopened = begin(run, source, {});
  const exchange = run.budget.stop() ?? (await askSource(run, open, { next: {}, open: {} }));
  if (isStop(exchange)) return failed(stopWalk(walkContext(run), unopened, exchange));
  const values = openValues(exchange.reply.kind === 'reply' ? exchange.reply : undefined, open.values);
  if (values !== null) return { kind: 'opened', walk: begin(run, source, values) };
  return failed(takePage(walkContext(run), unopened, withoutValues(exchange)).walk);
}

function begin(run: SourceRun, source: string, open: Readonly<Record<string, JsonValue>>): SourceWalk {
  const next = initialNext(run.contract.completeness.paging, { ...run.values, open, next: {}, budget: {} });
  const walk = startWalk(run.contract, source, open, next);
  // What a handle shows is as old as its opening.
  return openingOf(run) === undefined ? walk : { ...walk, sinceMs: run.clock.wallMs() };
}

function openValues(
  reply: Reply | undefined,
  wanted: readonly { name: string; path: Parameters<typeof readPath>[1] }[],
): Record<string, JsonValue> | null {
  if (reply === undefined || reply.status < 200 || reply.status > 299 || reply.fault !== undefined || reply.body === undefined) return null;
  const values: Record<string, JsonValue> = Object.create(null);
  for (const { name, path } of wanted) {
    const reading = readPath(reply.body, path);
    // A handle of nothing would leave its parameter out, or send it empty: the pages after it would have no basis.
    if (reading.kind !== 'value' || isEmptyValue(reading.value)) return null;
    values[name] = reading.value;
  }
  return values;
}

/** A good status without the promised value is not an answer of this contract: judged as one that cannot be decoded. */
function withoutValues(exchange: Exchange): Exchange {
  const { reply } = exchange;
  if (reply.kind === 'noReply' || reply.fault !== undefined || reply.status < 200 || reply.status > 299) return exchange;
  return { sent: exchange.sent, reply: { ...reply, fault: 'undecodable' } };
}

function failed(walk: SourceWalk): Opened {
  return { kind: 'failed', walked: { walk, rows: new RowText() } };
}
