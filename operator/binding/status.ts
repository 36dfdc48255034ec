/**
 * The status of a binding, from everything that is known of it: its spec, the contracts that use it, the pods of their callers, and what
 * sidecars report of its Secret - the operator itself has no verb on Secrets. Pure: the same facts give the same status.
 */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { nameList } from '#core/contract/name-list.ts';
import type { Problem } from '#core/contract/problem.ts';
import { problemList, sortedProblems } from '#core/contract/problem-text.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { KeyFacts } from './key-facts.ts';

export interface BindingFacts {
  readonly name: string;
  readonly generation: number;
  /** Undefined when it has problems. */
  readonly binding: CompiledBinding | undefined;
  readonly problems: readonly Problem[];
  /** Names of contracts that list it and that it grants its use to, sorted. */
  readonly usedBy: readonly string[];
  readonly keys: readonly KeyFacts[];
  /** Pods of callers that must be started anew before they can use it. */
  readonly podsToRoll: readonly string[];
  /** `account: why`, sorted; of all contracts that use it. */
  readonly refusedCallers: readonly string[];
  /** Value of the namespace's label `pod-security.kubernetes.io/enforce`. */
  readonly podSecurity: string | undefined;
}

/** Without `lastTransitionTime`, which depends on the status before. */
export interface BindingCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface BindingStatus {
  readonly observedGeneration: number;
  readonly usedBy: string[];
  readonly keys: KeyFacts[];
  readonly podsToRoll: number;
  readonly conditions: readonly BindingCondition[];
}

export function bindingStatus(facts: BindingFacts): BindingStatus {
  return {
    observedGeneration: facts.generation,
    usedBy: facts.usedBy.slice(0, limits.statusUsedByMax),
    keys: facts.keys.slice(0, limits.statusKeysMax),
    podsToRoll: facts.podsToRoll.length,
    conditions: conditionsOf(facts),
  };
}

/** Accepted and Ready always; the others, which are bad news, only while they hold. */
function conditionsOf(facts: BindingFacts): readonly BindingCondition[] {
  const news = [suspended(facts), plaintextAllowed(facts), namespaceUnsafe(facts), callersRefused(facts), rollNeeded(facts)];
  return [acceptedCondition(facts), readyCondition(facts), ...news.filter((condition) => condition !== undefined)];
}

function acceptedCondition({ name, binding, problems }: BindingFacts): BindingCondition {
  if (binding !== undefined) return { type: 'Accepted', status: 'True', reason: 'Compiled', message: '' };
  const message = problemList(sortedProblems(problems).errors, name, limits.conditionMessageCharsMax, ' ');
  return { type: 'Accepted', status: 'False', reason: 'HasProblems', message };
}

function readyCondition({ binding, keys }: BindingFacts): BindingCondition {
  const no = (reason: string, message: string): BindingCondition => ({ type: 'Ready', status: 'False', reason, message: shown(message) });
  if (binding === undefined) return no('NotAccepted', 'It is not accepted; the condition Accepted says why.');
  if (binding.spec.suspended !== undefined) return no('Suspended', 'It is suspended; the condition Suspended says why.');
  const broken = keys.filter(({ present, missing, unusable }) => present === 0 && missing + unusable > 0);
  if (broken.length > 0) {
    const each = broken.map(
      ({ key, missing }) =>
        `${key} ${missing > 0 ? 'is not in the Secret' : 'is there and refused: empty, too long or too short to be masked'}`,
    );
    return no('KeysUnusable', `No sidecar can use it: ${nameList(each)}. Put the keys into the Secret ${binding.spec.secret.name}.`);
  }
  const message = keys.length === 0 ? 'No sidecar has reported yet whether the Secret holds its keys.' : '';
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}

function suspended({ binding }: BindingFacts): BindingCondition | undefined {
  const because = binding?.spec.suspended?.because;
  return because === undefined ? undefined : yes('Suspended', 'Suspended', because);
}

function plaintextAllowed({ binding }: BindingFacts): BindingCondition | undefined {
  const open = (binding?.spec.destinations ?? []).filter(({ transport }) => transport === 'Plaintext').map(({ origin }) => origin);
  if (open.length === 0) return undefined;
  return yes('PlaintextAllowed', 'Plaintext', `Everyone on the way can read the credential: ${nameList(open)}.`);
}

/** Below `baseline` a pod of the namespace may read the node, and with it every sidecar there (design section 1). */
function namespaceUnsafe({ podSecurity }: BindingFacts): BindingCondition | undefined {
  if (podSecurity === 'baseline' || podSecurity === 'restricted') return undefined;
  const is = podSecurity === undefined ? 'is not set' : `is ${podSecurity}`;
  const message = `pod-security.kubernetes.io/enforce ${is} on the namespace: a privileged or hostPath pod there can read what sidecars of its node hold. Set it to baseline or restricted.`;
  return yes('NamespaceUnsafe', 'BelowBaseline', message);
}

function callersRefused({ refusedCallers }: BindingFacts): BindingCondition | undefined {
  if (refusedCallers.length === 0) return undefined;
  return yes('CallersRefused', 'UnsafeCaller', `Pods of these accounts do not get it: ${nameList(refusedCallers, '; ')}.`);
}

function rollNeeded({ podsToRoll }: BindingFacts): BindingCondition | undefined {
  if (podsToRoll.length === 0) return undefined;
  const message = `Mounts of a running pod cannot change; start these anew: ${nameList(podsToRoll)}.`;
  return yes('RollNeeded', 'SecretNotMounted', message);
}

function yes(type: string, reason: string, message: string): BindingCondition {
  return { type, status: 'True', reason, message: shown(message) };
}

function shown(message: string): string {
  return visibleText(message, { chars: limits.conditionMessageCharsMax });
}
