/**
 * What else could be done where the evidence of an effect lacks something: the choices a card offers besides yes and no. Each with
 * arguments is a plan of its own, with its own card (design section 6).
 */
import { checkArguments } from '#core/contract/arguments.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { IncompleteCode } from '#core/error/reasons.ts';
import { argumentAt } from './card-values.ts';

export interface LackingEvidence {
  /** The effect, and the read behind its evidence. */
  readonly contract: CompiledContract;
  readonly read: CompiledContract;
  /** Canonical arguments of the effect, and those the read was asked with. */
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly readArgs: Readonly<Record<string, JsonValue>>;
  /** Why the answer is not all; empty where it is, and lacks something else. */
  readonly reasons: readonly IncompleteCode[];
  /** Time the read took, in milliseconds. */
  readonly spentMs: number;
  /** Whether the answer lists an element of the effect's `evidence.ids`. */
  readonly isListed: (id: JsonValue) => boolean;
}

export type AlternativePlan =
  /** Make the read again with so much time, then the same effect on what it answers. */
  | {
      readonly name: 'retry-longer';
      readonly args: LackingEvidence['args'];
      readonly read: { readonly contract: string; readonly args: LackingEvidence['args']; readonly deadlineMs: number };
    }
  /** The same effect on fewer targets. `leftOut`: how many. */
  | { readonly name: 'listed-only'; readonly args: LackingEvidence['args']; readonly leftOut: number }
  | { readonly name: 'abandon' };

/** In the order they are shown; at most one of each name. `abandon` is always there. */
export function alternativesOf(lacking: LackingEvidence): readonly AlternativePlan[] {
  return [retryLonger(lacking), listedOnly(lacking), { name: 'abandon' } as const].filter((plan) => plan !== undefined);
}

/** What may be gone by itself when there is more time. */
const PASSING: readonly IncompleteCode[] = ['TIME_BUDGET_EXCEEDED', 'SOURCE_UNAVAILABLE', 'REMOTE_RATE_LIMITED'];
/** Below this gain the second read would stop where the first one did. */
const GAIN_MIN = 1.25;

function retryLonger({ read, args, readArgs, reasons, spentMs }: LackingEvidence): AlternativePlan | undefined {
  const { timeMs } = read.completeness.limits;
  // Never beyond the contract's own limit: its owner set it.
  if (reasons.length === 0 || !reasons.every((code) => PASSING.includes(code)) || spentMs * GAIN_MIN > timeMs) return undefined;
  return { name: 'retry-longer', args, read: { contract: read.name, args: readArgs, deadlineMs: timeMs } };
}

/**
 * That an id is in an answer holds however much of it is missing; that one is not in it does not. So only claim Listed, only a list of
 * ids, and only where something is left and something is left out.
 */
function listedOnly({ contract, args, isListed }: LackingEvidence): AlternativePlan | undefined {
  const { evidence } = contract.effects;
  const ids = evidence === undefined ? undefined : argumentAt(args, evidence.ids);
  if (evidence?.claim !== 'Listed' || !Array.isArray(ids)) return undefined;
  const listed = ids.filter((id: JsonValue) => isListed(id));
  if (listed.length === 0 || listed.length === ids.length) return undefined;
  const checked = checkArguments(contract.arguments, replaced(args, evidence.ids, listed));
  if (checked.kind !== 'arguments') return undefined;
  return { name: 'listed-only', args: checked.args, leftOut: ids.length - listed.length };
}

type Named = Readonly<Record<string, JsonValue>>;

function replaced(args: Named, [name = '', ...rest]: ArgumentPath, value: JsonValue): Named {
  const copy: Record<string, JsonValue> = Object.assign(Object.create(null), args);
  copy[name] = rest.length === 0 ? value : replaced(args[name] as Named, rest, value);
  return copy;
}
