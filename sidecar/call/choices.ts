/**
 * What a person may choose beside a plan whose evidence is not enough: the same effect on what was listed, or the same effect after a longer
 * search. Each is a plan of its own, with a card of its own; doing nothing is a denial.
 */
import type { AlternativeName } from '#core/approval/card-facts.ts';
import type { EvidenceVerdict } from '#core/completeness/evidence-match.ts';
import { checkArguments } from '#core/contract/arguments.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { newOperationId } from '#sidecar/journal/operation-id.ts';
import type { Plan } from './plan.ts';

export interface Choice {
  readonly name: AlternativeName;
  readonly plan: Plan;
  /** The read behind the evidence is made again right before the effect, with all the time its contract gives, and must be enough. */
  readonly readAgain: boolean;
}

export function choicesOf(plan: Plan, verdict: EvidenceVerdict & { kind: 'review' }): readonly Choice[] {
  const listed = listedOnly(plan, verdict);
  const choices: Choice[] = listed === undefined ? [] : [{ name: 'listed-only', plan: listed, readAgain: false }];
  if (!verdict.claim.complete) choices.push({ name: 'retry-longer', plan: { ...plan, operationId: newOperationId() }, readAgain: true });
  return choices;
}

/** Undefined where the call names one target, or all or none of its targets were listed. */
function listedOnly(plan: Plan, { listed, notListed }: EvidenceVerdict & { kind: 'review' }): Plan | undefined {
  const { contract } = plan.served;
  const rules = contract.effects.evidence;
  if (rules === undefined || rules.claim !== 'Listed' || listed.length === 0 || notListed.length === 0) return undefined;
  const given = withValue(plan.args, rules.ids, [...listed]);
  // Fewer targets than the contract takes at least are no call of it.
  const checked = checkArguments(contract.arguments, given);
  if (checked.kind !== 'arguments') return undefined;
  return { ...plan, operationId: newOperationId(), args: checked.args, argsDigest: digestOf('arguments', checked.args) };
}

function withValue(args: Plan['args'], [name, ...rest]: ArgumentPath, value: JsonValue): Plan['args'] {
  if (name === undefined) return args;
  const inner = args[name];
  if (rest.length === 0) return { ...args, [name]: value };
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    ? { ...args, [name]: withValue(inner as Plan['args'], rest, value) }
    : args;
}
