/**
 * The one gate every call crosses, whichever front it came through and whether it is a first call, the next part of a walk or a plan that
 * was kept (failure case APR-16: one code path that skips the gate).
 *
 * A read passes when nobody has to agree to it. Everything else passes only here below, with the proof that a decider admitted it: that
 * its approval is used up, and that no equal call is under way or unknown.
 */
import { PosternError } from '#core/error/postern-error.ts';
import { type EffectPlan, isJournaled, type Plan } from './plan.ts';

/** A plan that passed. Only this file makes one, so execution cannot be reached without it. */
export interface Passed<Kind extends Plan = Plan> {
  readonly plan: Kind;
  readonly [passed]: true;
}

const passed: unique symbol = Symbol('passed the gate');

/** Throws CONTRACT_NOT_READY for anything that changes the world or that a person must agree to: its way is the journal's. */
export function passGate(plan: Plan): Passed {
  const { contract } = plan.served;
  if (isJournaled(contract)) {
    throw new PosternError(
      'CONTRACT_NOT_READY',
      'This action is planned and journaled before it is done; it does not run as a plain read.',
      {
        details: { action: contract.action },
      },
    );
  }
  return { plan, [passed]: true };
}

/** Resolves once `admit` has: it MUST be the decider's own, and MUST have been asked about this very plan. */
export async function passEffectGate(plan: EffectPlan, admit: (plan: EffectPlan) => Promise<void>): Promise<Passed<EffectPlan>> {
  await admit(plan);
  return { plan, [passed]: true };
}
