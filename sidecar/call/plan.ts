/**
 * A plan: one call, fully validated, before anything is sent. Built by prepare.ts and by nothing else.
 */

import type { CardFacts } from '#core/approval/card-facts.ts';
import { isList, isObject, memberOf } from '#core/completeness/path.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import type { OpenedCursor } from '#sidecar/cursor/cursor.ts';
import type { ServedAction } from './bundle.ts';

export interface Plan {
  readonly served: ServedAction;
  /** Frozen, canonical: the one value that schema, request, cursor and evidence use. */
  readonly args: Readonly<Record<string, JsonValue>>;
  /** `sha256:` over the canonical arguments. */
  readonly argsDigest: string;
  readonly requestId: string;
  readonly operationId: string;
  readonly onePage: boolean;
  readonly deadlineMs?: number;
  /** The walk so far, where the call goes on with a cursor. */
  readonly resume?: OpenedCursor;
}

/**
 * A plan of something that is remembered before it is done: an effect, or a read that a person must agree to. Nothing of it changes once
 * it is kept; everything a person sees, and everything that is sent, comes from it and from the contract of its revision.
 */
export interface EffectPlan extends Plan {
  readonly planDigest: string;
  /** What will happen, in one sentence. */
  readonly summary: string;
  readonly facts: CardFacts;
  readonly card: string;
  readonly cardDigest: string;
  readonly plannedAtMs: number;
  readonly expiresAtMs: number;
  readonly needs: Needs;
  /** Revisions of the contracts of the reads it rests on, by contract name: a change of one voids the plan as a change of its own does. */
  readonly rests: Readonly<Record<string, string>>;
  /** Past it, wall clock, the evidence is too old, whatever a person said. */
  readonly evidenceUntilMs?: number;
  /** The argument whose elements get a request each. */
  readonly each?: ArgumentPath;
  readonly alternatives: readonly PlanChoice[];
  /** Arguments of the read behind the evidence, where it is to be made again right before the effect. */
  readonly readAgain?: Plan['args'];
}

/** Who must have agreed. */
export type Needs =
  | { readonly kind: 'nobody' }
  /** `alternative`: this plan is a choice on the card of another one's question. */
  | { readonly kind: 'person'; readonly question: string; readonly alternative?: string };

/** Another plan that a person may choose on the same card; an operation of its own. */
export interface PlanChoice {
  readonly name: string;
  readonly operationId: string;
  readonly card: string;
  readonly cardDigest: string;
}

/** One request of an effect. */
export interface Target {
  readonly index: number;
  /** Absent where there is one target only. */
  readonly element?: { readonly index: number; readonly value: JsonValue };
}

/** In the order in which they are sent. */
export function targetsOf(args: Plan['args'], each: ArgumentPath | undefined): readonly Target[] {
  if (each === undefined) return [{ index: 0 }];
  const list = each.reduce<JsonValue | undefined>((value, name) => (isObject(value) ? memberOf(value, name) : undefined), args) ?? [];
  return (isList(list) ? list : []).map((value, index) => ({ index, element: { index, value } }));
}

/** Whether a call is planned and journaled. Other reads are remembered in memory and cost nothing. */
export function isJournaled({ effect, effects }: Pick<CompiledContract, 'effect' | 'effects'>): boolean {
  return effect !== 'Read' || effects.approval.mode !== 'None';
}

/** Name of the question about an operation, and of its ActionApproval: `op-` and the 26 characters of its id. */
export function questionName(operationId: string): string {
  return operationId.replace('_', '-');
}
