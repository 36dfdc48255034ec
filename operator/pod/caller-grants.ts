/**
 * What a ServiceAccount may use: the contracts that name it, and of which Secrets which keys its sidecar mounts. Read from the operator's
 * own conditions, because status is the only hand-off between its parts - but never more than specs grant.
 */
import { RESERVED_PREFIX } from '#core/resource/names.ts';
import { isUsed } from '#operator/kube/hop-use.ts';
import type { BindingRecord, ContractRecord } from '#operator/kube/records.ts';

export interface CallerGrants {
  /** Names of contracts whose caller it is, accepted and not refused to it. */
  readonly contracts: readonly string[];
  /** Contracts that name it and are not decided yet. */
  readonly undecided: readonly ContractRecord[];
  /** Contracts it is refused, with the operator's reason. */
  readonly refused: readonly { readonly contract: string; readonly because: string }[];
  /** By name; each with at least one key. */
  readonly secrets: readonly MountedSecret[];
}

export interface MountedSecret {
  readonly secret: string;
  /** Sorted. */
  readonly keys: readonly string[];
}

/** `contracts` name the account; `bindingOf` finds a binding of their namespace by name. */
export function callerGrants(
  contracts: readonly ContractRecord[],
  account: string,
  bindingOf: (name: string) => BindingRecord | undefined,
): CallerGrants {
  const granted: string[] = [];
  const undecided: ContractRecord[] = [];
  const refused: { contract: string; because: string }[] = [];
  const keysOf = new Map<string, Set<string>>();
  for (const contract of [...contracts].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const verdict = verdictOn(contract, account);
    if (verdict.kind === 'undecided') undecided.push(contract);
    if (verdict.kind === 'refused') refused.push({ contract: contract.name, because: verdict.because });
    if (verdict.kind !== 'granted') continue;
    granted.push(contract.name);
    for (const name of contract.credentials) addKeys(keysOf, contract, name, bindingOf);
  }
  const secrets = [...keysOf].map(([secret, keys]) => ({ secret, keys: [...keys].sort() }));
  return { contracts: granted, undecided, refused, secrets: secrets.sort((a, b) => (a.secret < b.secret ? -1 : 1)) };
}

type Verdict = { readonly kind: 'granted' | 'undecided' } | { readonly kind: 'refused'; readonly because: string };

function verdictOn({ generation, status }: ContractRecord, account: string): Verdict {
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  const current = status?.observedGeneration === generation;
  if (accepted?.status === 'False' && current) return { kind: 'refused', because: accepted.message };
  if (accepted?.status !== 'True') return { kind: 'undecided' };
  const caller = status?.callers?.find(({ serviceAccount }) => serviceAccount === account);
  if (caller?.refused !== undefined) return { kind: 'refused', because: caller.refused };
  // A caller that was just added has not been judged by an older status.
  return caller !== undefined || current ? { kind: 'granted' } : { kind: 'undecided' };
}

/** A binding that names no key adds nothing: a projected Secret without items would mount every key it has. */
function addKeys(
  keysOf: Map<string, Set<string>>,
  contract: ContractRecord,
  name: string,
  bindingOf: (name: string) => BindingRecord | undefined,
): void {
  const binding = bindingOf(name);
  if (binding === undefined || binding.keys.length === 0) return;
  if (!binding.secret.startsWith(RESERVED_PREFIX) || !isUsed(binding, contract, bindingOf)) return;
  if (binding.status?.conditions?.some(({ type, status }) => type === 'Accepted' && status === 'False')) return;
  const keys = keysOf.get(binding.secret) ?? new Set<string>();
  for (const key of binding.keys) keys.add(key);
  keysOf.set(binding.secret, keys);
}
