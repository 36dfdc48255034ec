/**
 * The one gate every call crosses, whichever front it came through and whether it is a first call or the next part
 * of a walk (failure case APR-16: one code path that skips the gate). Today it lets reads pass and nothing else;
 * approvals, evidence and idempotency decide here once effects are served.
 */
import { PosternError } from '#core/error/postern-error.ts';
import type { Plan } from './plan.ts';

/** A plan that passed. Only this file makes one, so execution cannot be reached without it. */
export interface Passed {
  readonly plan: Plan;
  readonly [passed]: true;
}

const passed: unique symbol = Symbol('passed the gate');

/** Throws CONTRACT_NOT_READY for anything that changes the world or that a person must agree to. */
export function passGate(plan: Plan): Passed {
  const { contract } = plan.served;
  if (contract.effect !== 'Read' || contract.target.kind !== 'http') {
    throw new PosternError(
      'CONTRACT_NOT_READY',
      'This release executes HTTP reads only; effects and SSH are compiled and listed, not called.',
      {
        details: { action: contract.action },
      },
    );
  }
  // The compiler says so too; a read that waits for a person must not depend on it.
  if (contract.effects.approval.mode !== 'None') {
    throw new PosternError('CONTRACT_NOT_READY', 'This action needs an approval, and this release asks no person.', {
      details: { action: contract.action },
    });
  }
  return { plan, [passed]: true };
}
