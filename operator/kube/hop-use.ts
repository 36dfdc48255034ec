/**
 * Whether a contract uses a binding that it lists: because the binding grants itself to it, or because one that does goes through it. The
 * owner of a hop grants it to no contract, and has said by the verb `use` who may put it before a host of theirs.
 */
import { limits } from '#core/bounds/limits.ts';
import type { BindingRecord, ContractRecord } from './records.ts';

type Uses = Pick<ContractRecord, 'name' | 'credentials'>;

/** `bindingOf` finds a binding of their namespace by name. */
export function isUsed(binding: BindingRecord, contract: Uses, bindingOf: (name: string) => BindingRecord | undefined): boolean {
  return binding.contracts.includes(contract.name) || hopsOf(contract, bindingOf).has(binding.name);
}

/** Listed bindings on the way of one that grants itself to the contract. */
function hopsOf({ name, credentials }: Uses, bindingOf: (name: string) => BindingRecord | undefined): ReadonlySet<string> {
  const hops = new Set<string>();
  if (credentials.length < 2) return hops;
  const found = (names: readonly string[]) => names.flatMap((each) => bindingOf(each) ?? []);
  let reached = found(credentials).filter(({ contracts }) => contracts.includes(name));
  for (let hosts = 1; hosts < limits.sshHostsMax && reached.length > 0; hosts += 1) {
    const next = reached.flatMap(viasOf).filter((via) => credentials.includes(via) && !hops.has(via));
    for (const via of next) hops.add(via);
    reached = found(next);
  }
  return hops;
}

function viasOf({ specJson }: BindingRecord): readonly string[] {
  const { destinations = [] } = JSON.parse(specJson) as { readonly destinations?: readonly { readonly via?: string }[] };
  return destinations.flatMap(({ via }) => (via === undefined ? [] : [via]));
}
