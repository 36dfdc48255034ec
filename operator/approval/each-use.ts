/**
 * Whether the owner of a credential wants a person for this very call (`approval: EachUse` of a binding). Where the credential depends on an
 * argument, each binding's demand is about the calls it is chosen for: a person for production is none for staging.
 */
import type { CardFacts } from '#core/approval/card-facts.ts';
import { renderEffect } from '#core/contract/render-effect.ts';
import type { CompiledNow } from './compiled-contracts.ts';

type Called = Pick<CardFacts, 'args' | 'operationId'>;

/** The contract, or the credential this call uses, wants a person. */
export function needsPerson(compiled: CompiledNow, called: Called): boolean {
  return compiled.contract.effects.approval.mode !== 'None' || needsEachUse(compiled, called);
}

/** No yes covers more than one call. True also for a call that cannot be rendered: it never runs, and must not count as agreed. */
export function needsEachUse({ contract, eachUse }: CompiledNow, { args, operationId }: Called): boolean {
  if (contract.effect === 'Read' || eachUse.size === 0) return false;
  try {
    const known = contract.credentials;
    return renderEffect({ contract, args, operationId }).some(({ credential }) => eachUse.has(credential) || !known.includes(credential));
  } catch {
    // A value that fits no request; the sidecar refuses it with its path.
    return true;
  }
}
