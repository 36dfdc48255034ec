/**
 * Whether calls may be made at all: the state of the session, the lease, what owners suspended. Judged at the start of a call, before
 * each request leaves, and before rows do.
 *
 * - A call that loses its standing in mid-walk ends with the error and without rows: whoever revoked a session means that it learns
 *   nothing more, and rows that came a moment before are no exception to that. Its remote handle is not closed, which would be one more
 *   request with the credential; it expires.
 * - A running call keeps the contract it began with. When the contract or its binding is gone from the newer bundle, or another revision
 *   of it came, the call goes on, at most for its own time limit; a cursor of it does not open under another revision. Suspension is the
 *   owner's word for "now", and it counts at once.
 */

import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { type CallStanding, UNCONDITIONAL } from '#sidecar/execute/call-standing.ts';
import type { Bundle } from './bundle.ts';

/** The parts of a contract that are judged by. */
export type JudgedContract = Pick<CompiledContract, 'action' | 'credentials'>;

export interface Standing {
  /** Why no call, or no call of this contract, may be made now. */
  refusal(contract?: JudgedContract): PosternError | undefined;
  /** The standing of one call. */
  of(contract: JudgedContract): CallStanding;
}

/** Of a sidecar that nobody but its files configures. */
export const ALWAYS_GOOD: Standing = { refusal: () => undefined, of: () => UNCONDITIONAL };

export interface StandingFacts {
  readonly phase: NonNullable<NonNullable<AgentSession['status']>['state']>;
  /** Words of a person; untrusted text. */
  readonly because: string;
  readonly leaseOver: boolean;
}

/** Pure. The session before the lease: a revoked one stays so, however old the word is. */
export function judgeStanding(
  { phase, because, leaseOver }: StandingFacts,
  suspension: 'contract' | 'binding' | undefined,
  contract: JudgedContract | undefined,
): PosternError | undefined {
  if (phase !== 'Active') return sessionError(phase, because);
  if (contract === undefined) return undefined;
  if (leaseOver && contract.credentials.length > 0) {
    return new PosternError('CONTROL_STALE', 'The operator was not heard for longer than its lease; calls go on once it is back.', {
      details: { action: contract.action },
    });
  }
  return suspension === undefined ? undefined : suspendedError(suspension, contract.action);
}

export function suspendedError(suspension: 'contract' | 'binding', action: string): PosternError {
  return new PosternError('SESSION_SUSPENDED', SUSPENDED[suspension], { details: { action } });
}

const SUSPENDED = {
  contract: 'This action is suspended by its owner.',
  binding: 'The credential of this action is suspended by its owner.',
} as const;

function sessionError(phase: Exclude<StandingFacts['phase'], 'Active'>, because: string): PosternError {
  const { reason, message } = SESSION_ERRORS[phase];
  return new PosternError(reason, message, {
    details: because === '' ? {} : { because: visibleText(because, { chars: limits.becauseCharsMax }) },
  });
}

const SESSION_ERRORS = {
  Pending: { reason: 'CONTRACT_NOT_READY', message: 'The session of this pod is not admitted yet.' },
  Suspended: { reason: 'SESSION_SUSPENDED', message: 'The session of this pod is suspended.' },
  Revoked: { reason: 'SESSION_REVOKED', message: 'The session of this pod was revoked.' },
  Ended: { reason: 'SESSION_EXPIRED', message: 'The session of this pod has ended.' },
} as const;

export interface SessionStandingMeans {
  /** As they are now. */
  facts(): StandingFacts;
  /** The newest one. */
  bundle(): Bundle | undefined;
}

/** The standing of a sidecar with an operator. `changed` must be called whenever a fact or the bundle is another. */
export class SessionStanding implements Standing {
  readonly #means: SessionStandingMeans;
  readonly #calls = new Set<{ readonly contract: JudgedContract; readonly stop: () => void }>();

  constructor(means: SessionStandingMeans) {
    this.#means = means;
  }

  refusal(contract?: JudgedContract): PosternError | undefined {
    const suspension = contract === undefined ? undefined : this.#means.bundle()?.suspension(contract);
    return judgeStanding(this.#means.facts(), suspension, contract);
  }

  of(contract: JudgedContract): CallStanding {
    return {
      refusal: () => this.refusal(contract),
      onLost: (stop) => {
        const call = { contract, stop };
        this.#calls.add(call);
        return () => this.#calls.delete(call);
      },
    };
  }

  /** Stops every call that has no standing any more. */
  changed(): void {
    for (const { contract, stop } of this.#calls) if (this.refusal(contract) !== undefined) stop();
  }
}
