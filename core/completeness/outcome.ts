/**
 * What an answer is, before any item is read: usable at all, or why not (contract language 2.4, `outcomes`).
 *
 * Order: no reply; 401 and 3xx, which no contract may reinterpret; the contract's rules; the defaults by status. A command over SSH has no
 * status: a signal and a missing exit status, which no contract may reinterpret either; the rules; exit 0 is Ok, any other Rejected.
 * A rule that says Ok, Empty or Pending about an answer whose body was cut or is not what the decoder reads does
 * not make it usable.
 */
import type { OutcomeName, OutcomeRule } from '#core/contract/compiled.ts';
import type { NoReply, Reply } from './exchange.ts';
import type { RuleInput } from './rule.ts';
import { signalWords } from './signal-name.ts';
import type { Failure, FailureKind } from './source-walk.ts';

export type Outcome =
  | { readonly kind: 'Ok' }
  | { readonly kind: 'Empty' }
  | { readonly kind: 'Pending'; readonly rule: OutcomeRule }
  | { readonly kind: 'failed'; readonly failure: Failure };

export function classify(reply: Reply, rules: readonly OutcomeRule[], input: RuleInput): Outcome {
  const unended = reply.status === NO_STATUS ? unendedOf(reply) : undefined;
  if (unended !== undefined) return unended;
  if (reply.status === 401) return failed('Credential');
  if (reply.status >= 300 && reply.status <= 399) return failed('Redirect');
  for (const rule of rules) {
    const result = rule.when.evaluate(input);
    // Stopped in the middle it is not known to be no match: a list with a running job at its end is not done.
    if (!result.ok && result.tooCostly === true) return failed('Protocol');
    // An error means that the rule does not match: `body.error.code` says nothing about an answer without it.
    if (result.ok && result.value === true) return named(rule, reply);
  }
  return byStatus(reply);
}

function named(rule: OutcomeRule, reply: Reply): Outcome {
  const { is } = rule;
  if (is !== 'Ok' && is !== 'Empty' && is !== 'Pending') {
    return {
      kind: 'failed',
      failure: rule.then === undefined ? { kind: is, rule: rule.name } : { kind: is, rule: rule.name, wayOn: rule.then },
    };
  }
  return faultOf(reply, is) ?? (is === 'Pending' ? { kind: is, rule } : { kind: is });
}

/** A command of which nobody knows whether it did its work (failure cases SSH-06, SSH-08). We ended the one that wrote too much. */
function unendedOf(reply: Reply): Outcome | undefined {
  const { exit, fault } = reply;
  if (exit === undefined && fault === 'tooLarge') return faultOf(reply, 'Ok') ?? { kind: 'Ok' };
  if (exit === undefined) return unbelieved('the host did not say how the command ended');
  return 'signal' in exit ? unbelieved(`the command was ended by ${signalWords(exit.signal)}`) : undefined;
}

function unbelieved(message: string): Outcome {
  return { kind: 'failed', failure: { kind: 'Protocol', message } };
}

function byStatus(reply: Reply): Outcome {
  const { status } = reply;
  if (status === NO_STATUS) return byExit(reply);
  // 206 answers a request for a range, and none was made (failure case HTTP-32).
  if (status === 206) return failed('Protocol');
  if (status >= 200 && status <= 299) return faultOf(reply, 'Ok') ?? { kind: 'Ok' };
  if (status === 429) return failed('RateLimited');
  if (status === 403 || status === 404) return failed('Denied');
  if (status === 408 || status >= 500) return failed('Unavailable');
  return failed('Rejected');
}

function byExit(reply: Reply): Outcome {
  const { exit } = reply;
  const isZero = exit !== undefined && 'code' in exit && exit.code === 0;
  return isZero ? (faultOf(reply, 'Ok') ?? { kind: 'Ok' }) : failed('Rejected');
}

/** Of a reply over SSH. */
const NO_STATUS = 0;

/** An unframed body that decodes is read, and leaves the page unproven; every other fault makes the answer unusable. */
function faultOf(reply: Reply, is: OutcomeName): Outcome | undefined {
  // Whole records that came before the cap are rows; the page says that they are not all.
  if (reply.fault === 'tooLarge') return reply.body === undefined ? failed('TooLarge') : undefined;
  if (reply.fault === undefined || (reply.fault === 'unframed' && (reply.body !== undefined || is === 'Empty'))) return undefined;
  return failed('Protocol');
}

export function failureOf(reply: NoReply): Failure {
  const kinds: Readonly<Record<NoReply['cause'], FailureKind>> = {
    locked: 'Locked',
    unreachable: 'Unavailable',
    timedOut: 'TimedOut',
    protocol: 'Protocol',
    egressDenied: 'EgressDenied',
    tls: 'Untrusted',
    hostKey: 'HostKey',
  };
  return { kind: kinds[reply.cause] };
}

function failed(kind: FailureKind): Outcome {
  return { kind: 'failed', failure: { kind } };
}
