/** Plays answers into the engine as the executor does: pages in order, own limits, calls that follow a cursor. */

import type { Envelope } from '#core/completeness/envelope.ts';
import type { Exchange, Reply } from '#core/completeness/exchange.ts';
import { foldWalks } from '#core/completeness/fold.ts';
import {
  type Folded,
  holdBack,
  type OwnStop,
  type Row,
  type SourceWalk,
  startWalk,
  stopWalk,
  takePage,
  type WalkContext,
} from '#core/completeness/walk.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';

export const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

export interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  readonly fault?: Reply['fault'];
  readonly query?: Readonly<Record<string, string>>;
  readonly normalized?: readonly string[];
  readonly reflected?: boolean;
}

export function exchange(said: Said): Exchange {
  return {
    sent: { method: 'GET', path: '/items', query: said.query ?? {}, headers: {}, body: null },
    reply: {
      kind: 'reply',
      status: said.status ?? 200,
      headers: Object.assign(Object.create(null), said.headers),
      body: said.body,
      bytes: 10,
      normalized: said.normalized ?? [],
      reflected: said.reflected ?? false,
      receivedAtMs: NOW_MS,
      ...(said.fault === undefined ? {} : { fault: said.fault }),
    },
  };
}

export function noReply(cause: 'unreachable' | 'timedOut' | 'protocol' | 'egressDenied' | 'tls'): Exchange {
  return {
    sent: { method: 'GET', path: '/items', query: {}, headers: {}, body: null },
    reply: { kind: 'noReply', cause, sent: true, receivedAtMs: NOW_MS },
  };
}

export function contextOf(contract: CompiledContract, args: WalkContext['args'] = {}): WalkContext {
  return { contract, args, nowMs: NOW_MS };
}

export interface Driven {
  readonly folded: Folded;
  readonly walk: SourceWalk;
  readonly rows: readonly Row[];
  /** What a cursor would have sealed; undefined when none was needed. */
  readonly sealed: readonly SourceWalk[] | undefined;
  /** Answers that were not asked for. */
  readonly left: number;
}

/** `stop`: our own limit once the answers are used up. */
export function drive(
  contract: CompiledContract,
  answers: readonly (Said | Exchange)[],
  options: {
    readonly stop?: OwnStop;
    readonly from?: SourceWalk;
    readonly args?: WalkContext['args'];
    readonly open?: Readonly<Record<string, JsonValue>>;
    readonly itemsMax?: number;
  } = {},
): Driven {
  const context = contextOf(contract, options.args);
  const rows: Row[] = [];
  let walk = options.from ?? startWalk(contract, '', options.open ?? {}, {});
  let used = 0;
  while (!walk.done && used < answers.length) {
    const answer = answers[used] as Said | Exchange;
    used += 1;
    const before = walk;
    const taken = takePage(context, walk, 'reply' in answer ? answer : exchange(answer));
    walk = taken.walk;
    const room = (options.itemsMax ?? Number.POSITIVE_INFINITY) - rows.length;
    if (taken.rows.length > room) {
      rows.push(...taken.rows.slice(0, room));
      walk = stopWalk(context, holdBack(before, walk, room), { limit: 'items', value: options.itemsMax ?? 0 });
      break;
    }
    rows.push(...taken.rows);
    if (taken.step.kind === 'stop') break;
  }
  if (options.stop !== undefined && walk.stop === undefined && walk.failure === undefined) walk = stopWalk(context, walk, options.stop);
  return { ...foldOne(context, [walk], new Map([['', rows]])), walk, rows, left: answers.length - used };
}

export function foldOne(
  context: WalkContext,
  walks: readonly SourceWalk[],
  rows: ReadonlyMap<string, readonly Row[]>,
): { readonly folded: Folded; readonly sealed: readonly SourceWalk[] | undefined } {
  let sealed: readonly SourceWalk[] | undefined;
  const folded = foldWalks(context, walks, rows, {
    deadlineMs: 30_000,
    spentMs: 1,
    waitedMs: 0,
    calls: 1,
    summaryResource: 'things',
    seal: (kept) => {
      // A cursor is JSON: whatever does not survive the text would be lost.
      sealed = JSON.parse(JSON.stringify(kept)) as readonly SourceWalk[];
      return { cursor: 'sealed' };
    },
  });
  return { folded, sealed };
}

export function envelopeOf({ folded }: Pick<Driven, 'folded'>): Envelope {
  if (folded.kind === 'error') throw new Error(`an error: ${folded.reason}`);
  return folded.envelope;
}

/** Reasons as a sorted set of codes. */
export function codesOf({ folded }: Pick<Driven, 'folded'>): readonly string[] {
  const completeness = folded.kind === 'error' ? folded.completeness : folded.envelope.completeness;
  return [...new Set(completeness.incomplete_reasons.map(({ code }) => code))].sort();
}

export function wayOf({ folded }: Pick<Driven, 'folded'>): string {
  return (folded.kind === 'error' ? folded.completeness : folded.envelope.completeness).continuation.kind;
}

export function items(from: number, count: number): readonly JsonValue[] {
  return Array.from({ length: count }, (_, index) => ({ id: `i${from + index}` }));
}

/** The walk a cursor carries to the next call. */
export function resumed({ sealed }: Pick<Driven, 'sealed'>): SourceWalk {
  const [walk] = sealed ?? [];
  if (walk === undefined) throw new Error('no cursor was given');
  return walk;
}
