/** A compiled contract is shared by every call, so nothing may change it. */
import type { CompiledContract } from './compiled.ts';

/** Freezes plain data; compiled rules and patterns hold engines of their own and are frozen at their surface only. */
export function freezeContract(contract: CompiledContract): CompiledContract {
  freeze(contract);
  return contract;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  const hasEngine = Object.values(value).some((member) => typeof member === 'function');
  if (!hasEngine) for (const member of Object.values(value)) freeze(member);
}
