/**
 * Whether a pod gets the sidecar (design section 2.3). Says nothing about how the sidecar looks, so that `explain-pod` can ask the same
 * question without knowing the operator's release.
 *
 *   mirror pod               -> skip: nothing can be done about it
 *   namespace not enforced   -> skip
 *   a contract that names its account is not decided yet -> refuse: whoever makes the pod tries again
 *   neither labelled nor a caller                        -> skip
 *   the pod is unsafe        -> refuse when labelled, else skip: it runs without credentials
 *
 * An annotation never counts: whoever writes the pod writes it too (failure case INJ-16).
 */
import { LABEL } from '#core/resource/names.ts';
import { type AgentPod, findingText } from './agent-pod.ts';
import type { CallerGrants } from './caller-grants.ts';
import { unsafeFindings } from './unsafe-pod.ts';

export interface InjectionScope {
  /** Of the pod; its own metadata may not say it yet (failure case INJ-14). */
  readonly namespace: string;
  readonly enforced: boolean;
  readonly grants: CallerGrants;
  /** Contracts that name the account and will be decided in a moment. */
  readonly waiting: readonly string[];
}

export type InjectionDecision = { readonly kind: 'wanted'; readonly because: string } | Skip | Refusal;

export interface Refusal {
  readonly kind: 'refuse';
  /** Sentences with the paths of the fields. */
  readonly message: string;
  /** The same pod may be allowed in a moment. */
  readonly soon?: true;
}

export interface Skip {
  readonly kind: 'skip';
  readonly because: string;
  /** What to do about it, for somebody who expected the sidecar; empty when nothing can be done. */
  readonly cure: string;
  /** Somebody may have expected it. */
  readonly notable: boolean;
}

export function decideInjection(pod: AgentPod, scope: InjectionScope): InjectionDecision {
  const labelled = pod.metadata?.labels?.[LABEL.inject] === 'true';
  if (isMirror(pod))
    return skip('It is a mirror of a file on the node; the API server cannot change it.', 'Make it an ordinary pod.', true);
  if (!scope.enforced) return notEnforced(scope.namespace, labelled);
  const waiting = scope.waiting[0];
  if (waiting !== undefined) return { kind: 'refuse', message: waitFor(waiting, accountOf(pod)), soon: true };
  const { contracts } = scope.grants;
  if (!labelled && contracts.length === 0) return notWanted(accountOf(pod), scope.grants);
  const unsafe = unsafeFindings(pod).map(findingText);
  if (unsafe.length === 0) return { kind: 'wanted', because: wantedBecause(labelled, contracts, accountOf(pod)) };
  if (labelled)
    return { kind: 'refuse', message: `The label ${LABEL.inject} asks for a sidecar this pod cannot have. ${unsafe.join(' ')}` };
  return skip(`It runs without credentials, because its containers are not kept apart: ${unsafe.join(' ')}`, 'Change these fields.', true);
}

/** `default` is what the API server fills in, also when the pod came from an old client. */
export function accountOf({ spec }: AgentPod): string {
  return spec.serviceAccountName === undefined || spec.serviceAccountName === '' ? 'default' : spec.serviceAccountName;
}

const MIRROR = 'kubernetes.io/config.mirror';

function isMirror({ metadata }: AgentPod): boolean {
  return metadata?.annotations?.[MIRROR] !== undefined;
}

function skip(because: string, cure: string, notable: boolean): Skip {
  return { kind: 'skip', because, cure, notable };
}

function notEnforced(namespace: string, notable: boolean): Skip {
  const cure = `Run: kubectl label namespace ${namespace} ${LABEL.enforce}=`;
  return skip(`Namespace ${namespace} is not enforced: it has no label ${LABEL.enforce}.`, cure, notable);
}

function waitFor(contract: string, account: string): string {
  return `Contract ${contract} names ServiceAccount ${account} and is being looked at; create the pod again in a few seconds.`;
}

function notWanted(account: string, { refused, undecided }: CallerGrants): Skip {
  const first = refused[0];
  if (first !== undefined) {
    const because = `Contract ${first.contract} is refused to ServiceAccount ${account}: ${first.because}`;
    return skip(because, `Correct what the contract's conditions name: kubectl describe actioncontract ${first.contract}`, true);
  }
  const open = undecided[0];
  if (open !== undefined) {
    const because = `Contract ${open.name} names ServiceAccount ${account}, and the operator has not decided on it.`;
    return skip(because, `See its conditions: kubectl describe actioncontract ${open.name}`, true);
  }
  const because = `ServiceAccount ${account} is no caller of an accepted contract, and the pod has no label ${LABEL.inject}: "true".`;
  return skip(because, `Name ${account} under spec.callers of a contract, or label the pod, and make it anew.`, false);
}

function wantedBecause(labelled: boolean, contracts: readonly string[], account: string): string {
  if (contracts.length === 0) return `It has the label ${LABEL.inject}: "true".`;
  const shown = contracts.slice(0, CONTRACTS_SHOWN).join(', ') + (contracts.length > CONTRACTS_SHOWN ? ', ...' : '');
  const label = labelled ? ` It also has the label ${LABEL.inject}: "true".` : '';
  return `ServiceAccount ${account} is a caller of ${shown}.${label}`;
}

const CONTRACTS_SHOWN = 5;
