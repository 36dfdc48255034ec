/**
 * Which calls are the same to a person, and to the remote's world: those that differ in nothing but the agent's own words about why. A
 * denied call with another reason is the denied call (failure case APR-10), and one whose outcome is unknown is not another one for it.
 */
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import { digestOf } from '#core/encoding/canonical.ts';

type Named = Readonly<Record<string, JsonValue>>;

export function digestButReason({ effects }: Pick<CompiledContract, 'effects'>, args: Named): string {
  const { reason } = effects.approval;
  return digestOf('arguments', reason === undefined ? args : without(args, reason));
}

function without(args: Named, [name, ...rest]: ArgumentPath): Named {
  if (name === undefined || !Object.hasOwn(args, name)) return args;
  const kept: Record<string, JsonValue> = Object.assign(Object.create(null), args);
  const inner = kept[name];
  if (rest.length > 0 && typeof inner === 'object' && inner !== null && !Array.isArray(inner)) kept[name] = without(inner as Named, rest);
  else delete kept[name];
  return kept;
}
