/**
 * What one request of an effect did, as far as its exchange tells: done, not done, or unknown. Never a guess (promise P2).
 *
 * - `notDone` needs something definite: nothing was sent, or the remote's own refusal.
 * - `done` needs an answer that the contract's outcome rules, or the defaults by status, call Ok, Empty or Pending.
 * - Everything else is `unknown`: a lost reply, a 5xx, a redirect that may have followed the deed, a command without an exit status.
 *
 * A body that was cut leaves the status line standing, but not the rules that would have read the body. What each of them could have
 * said is asked: only where all of it comes to the same is it said (a 200 whose body would have told `{"ok": false}` is unknown).
 */
import type { OutcomeName, OutcomeRule } from '#core/contract/compiled.ts';
import { answerOf } from './answer.ts';
import type { Exchange, NoReply, Reply } from './exchange.ts';
import { classify, failureOf, type Outcome } from './outcome.ts';
import { retryAfter, waitMs } from './rate-limit.ts';
import { signalWords } from './signal-name.ts';
import type { Failure, FailureKind, WalkContext } from './source-walk.ts';
import { startWalk } from './walk.ts';

export type EffectOutcome =
  /** `accepted`: the remote took it and still works on it. */
  | { readonly kind: 'done'; readonly accepted?: true }
  | { readonly kind: 'notDone'; readonly failure: Failure }
  /** `because`: our own sentence, without upstream text. `failure`: what a read would have called it. */
  | { readonly kind: 'unknown'; readonly because: string; readonly failure?: Failure };

export function effectOutcome(context: WalkContext, exchange: Exchange): EffectOutcome {
  const { reply } = exchange;
  if (reply.kind === 'noReply') return withoutReply(reply);
  const command = context.contract.target.kind === 'ssh' ? unfinished(reply) : undefined;
  if (command !== undefined) return command;
  const outcome = answered(context, exchange, reply);
  if (outcome.kind !== 'notDone') return outcome;
  const afterMs = toldToWait(context, exchange, reply, outcome.failure);
  return afterMs === undefined ? outcome : { ...outcome, failure: { ...outcome.failure, retryAfterMs: afterMs } };
}

const LOST: Readonly<Record<NoReply['cause'], string>> = {
  unreachable: 'The connection was lost after the request was sent, and no answer came.',
  timedOut: 'The time of the call was over after the request was sent, and no answer came.',
  protocol: 'What came after the request was sent is no answer.',
  egressDenied: 'The connection was ended after the request was sent, and no answer came.',
  tls: 'The encrypted connection broke after the request was sent, and no answer came.',
  locked: 'The credential was taken away after the request was sent, and no answer came.',
  hostKey: 'The connection was ended after the request was sent, and no answer came.',
};

function withoutReply(reply: NoReply): EffectOutcome {
  const failure = failureOf(reply);
  return reply.sent ? { kind: 'unknown', because: LOST[reply.cause], failure } : { kind: 'notDone', failure };
}

/** A command that did not say how it ended may have done its work (failure case SSH-06). */
function unfinished({ exit }: Reply): EffectOutcome | undefined {
  if (exit === undefined) return { kind: 'unknown', because: 'The command was started, and no exit status came.' };
  if ('signal' in exit)
    return { kind: 'unknown', because: `The command was ended by ${signalWords(exit.signal)}; how far it came is not known.` };
  return undefined;
}

function answered(context: WalkContext, exchange: Exchange, reply: Reply): EffectOutcome {
  // 307 and 308 ask for the same request elsewhere, so it was not done here; after any other the deed may be behind us.
  if (reply.status >= 300 && reply.status <= 399) {
    const failure: Failure = { kind: 'Redirect' };
    if (reply.status === 307 || reply.status === 308) return { kind: 'notDone', failure };
    return { kind: 'unknown', because: 'The remote answered with a redirect, which it may do before or after the deed.', failure };
  }
  const { input } = answerOf(context, startWalk(context.contract, '', {}, {}), exchange, reply, []);
  // Whether the body is whole is another question; here the status line and what can be read of it speak.
  const { fault, ...whole } = reply;
  const said = meaningOf(classify(whole, context.contract.result.outcomes, input), reply.status);
  if (fault === undefined || reply.status === 401) return said;
  for (const rule of unread(context.contract.result.outcomes, input)) {
    if (kindOf(rule.is) !== said.kind)
      return {
        kind: 'unknown',
        because: `The answer is not whole, and what it means depends on a part that is missing (outcome ${rule.name}).`,
        failure: { kind: fault === 'tooLarge' ? 'TooLarge' : 'Protocol' },
      };
  }
  return said;
}

/** The rules before the one that matches whose expression found no value to look at. */
function unread(rules: readonly OutcomeRule[], input: Parameters<OutcomeRule['when']['evaluate']>[0]): readonly OutcomeRule[] {
  const found: OutcomeRule[] = [];
  for (const rule of rules) {
    const result = rule.when.evaluate(input);
    if (!result.ok) found.push(rule);
    else if (result.value === true) break;
  }
  return found;
}

function meaningOf(outcome: Outcome, status: number): EffectOutcome {
  if (outcome.kind === 'Pending') return { kind: 'done', accepted: true };
  if (outcome.kind !== 'failed') return { kind: 'done' };
  const { failure } = outcome;
  // 1xx is no end of anything (RFC 9110 section 15.2), whatever else it is.
  if (status >= 100 && status <= 199) return { kind: 'unknown', because: VAGUE, failure: { kind: 'Protocol' } };
  return REFUSALS.has(failure.kind)
    ? { kind: 'notDone', failure }
    : { kind: 'unknown', because: UNDECIDED[failure.kind] ?? VAGUE, failure };
}

function kindOf(is: OutcomeName): EffectOutcome['kind'] {
  if (is === 'Ok' || is === 'Empty' || is === 'Pending') return 'done';
  return REFUSALS.has(is) ? 'notDone' : 'unknown';
}

/** The remote's word that it did nothing. That it was not available, or not in time, says nothing of what it had done by then. */
const REFUSALS: ReadonlySet<FailureKind> = new Set([
  'Rejected',
  'Denied',
  'NotFound',
  'RateLimited',
  'CapReached',
  'CursorExpired',
  'Credential',
]);

const VAGUE = 'The remote answered with something that tells neither success nor refusal.';
const UNDECIDED: { readonly [K in FailureKind]?: string } = {
  Unavailable: 'The remote answered that it failed, which it may do after the deed.',
  TimedOut: 'The remote answered that it ran out of time, which it may do after the deed.',
};

function toldToWait(context: WalkContext, exchange: Exchange, reply: Reply, failure: Failure): number | undefined {
  const { rateLimit } = context.contract.completeness;
  const answer = answerOf(context, startWalk(context.contract, '', {}, {}), exchange, reply, []);
  return failure.kind === 'RateLimited' ? waitMs(rateLimit, answer) : retryAfter(rateLimit, answer);
}
