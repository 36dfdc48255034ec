/**
 * The envelope of an effect that is done: what its answer said, by the same code that reads pages. Only notices and waits speak about
 * the answer of a write, and `complete` means that the answer was whole (contract language, section 5, point 26).
 *
 * There is never a way on: to go on would be the effect again.
 */
import type { CompiledContract, ScopeRules } from '#core/contract/compiled.ts';
import type { EffectOutcome } from './effect-outcome.ts';
import type { Envelope } from './envelope.ts';
import type { Exchange, Reply } from './exchange.ts';
import { foldWalks } from './fold.ts';
import { takeAnswer } from './page.ts';
import type { PageTaken, RunFacts, SourceWalk, WalkContext } from './source-walk.ts';
import { startWalk } from './walk.ts';

/** `outcome`: what effectOutcome made of this exchange; without an answer there is no envelope. */
export function effectEnvelope(
  context: WalkContext,
  exchange: Exchange & { readonly reply: Reply },
  outcome: EffectOutcome & { readonly kind: 'done' },
  facts: Omit<RunFacts, 'seal'>,
): Envelope {
  const read: WalkContext = { ...context, contract: oneAnswer(context.contract) };
  const start = startWalk(read.contract, '', {}, {});
  const taken = outcome.accepted === true ? accepted(start) : takeDone(read, start, exchange);
  const rows = new Map([[taken.walk.source, taken.rows]]);
  const folded = foldWalks(read, [taken.walk], rows, { ...facts, seal: () => ({ cursor: '' }) });
  // A walk with an answer folds into an envelope; a contract that demands complete answers cannot undo what was done.
  const envelope: Envelope =
    folded.kind === 'envelope'
      ? folded.envelope
      : {
          status: 'partial',
          completeness: folded.completeness,
          warnings: [],
          omitted_fields: [],
          data: { [context.contract.result.as]: null },
        };
  return { ...envelope, completeness: { ...envelope.completeness, continuation: { kind: 'none' } } };
}

/** A preset brings the rules of its service's lists; of an effect's one answer they would only say that it is no list. */
function oneAnswer(contract: CompiledContract): CompiledContract {
  const { job: _job, reach: _reach, sources: _sources, scope, ...rules } = contract.completeness;
  return {
    ...contract,
    completeness: {
      ...rules,
      ...(scope === undefined ? {} : { scope: withoutFloor(scope) }),
      paging: { mode: 'SingleResponse', next: [], end: { nextIs: [], pageIs: [] }, remainder: 'Pages' },
      consistency: { mode: 'SinglePage', equal: [] },
      required: [],
      signals: [],
      totals: [],
      freshness: [],
      onIncomplete: 'Return',
    },
  };
}

function withoutFloor({ floor: _floor, ...scope }: ScopeRules): ScopeRules {
  return scope;
}

function accepted(walk: SourceWalk): PageTaken {
  return { walk: { ...walk, pending: true, callPages: 1 }, rows: [], step: { kind: 'stop' } };
}

function takeDone(context: WalkContext, walk: SourceWalk, exchange: Exchange & { readonly reply: Reply }): PageTaken {
  const { reply } = exchange;
  const nothing = reply.body === undefined;
  // No content is an answer of its own, and a whole one.
  const taken = nothing && reply.fault !== undefined ? undefined : takeAnswer(context, walk, exchange, reply, nothing);
  if (taken !== undefined && (reply.fault === undefined || reply.fault === 'unframed')) return taken;
  const kind = reply.fault === 'tooLarge' ? 'TooLarge' : 'Protocol';
  return {
    walk: { ...walk, ...taken?.walk, done: false, callPages: 1, failure: { kind } },
    rows: taken?.rows ?? [],
    step: { kind: 'stop' },
  };
}
