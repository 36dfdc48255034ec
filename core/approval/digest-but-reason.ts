/**
 * Which calls are the same to a person, and to the remote's world: those that differ in nothing but the agent's own words about why. A
 * denied call with another reason is the denied call (failure case APR-10), and one whose outcome is unknown is not another one for it.
 */
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { argumentsWithout } from './arguments-without.ts';

type Named = Readonly<Record<string, JsonValue>>;

export function digestButReason({ effects }: Pick<CompiledContract, 'effects'>, args: Named): string {
  const { reason } = effects.approval;
  return digestOf('arguments', reason === undefined ? args : argumentsWithout(args, [reason]));
}
