/** Arguments without those that do not count: what a person leaves free, or what only says why. */
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';

type Named = Readonly<Record<string, JsonValue>>;

/** A path that leads nowhere takes nothing away; what is not at a path is the very value. */
export function argumentsWithout(args: Named, paths: readonly ArgumentPath[]): Named {
  const kept: Record<string, JsonValue> = Object.assign(Object.create(null), args);
  const deeper = new Map<string, ArgumentPath[]>();
  for (const [name, ...rest] of paths) {
    if (name === undefined || !Object.hasOwn(kept, name)) continue;
    if (rest.length === 0) delete kept[name];
    else deeper.set(name, [...(deeper.get(name) ?? []), rest]);
  }
  for (const [name, rests] of deeper) {
    const inner = kept[name];
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) kept[name] = argumentsWithout(inner as Named, rests);
  }
  return kept;
}

/** Of a path as cards and objects write it: `/reason`. Names of arguments hold neither `/` nor `~`, so nothing is escaped in it. */
export function argumentPath(written: string): ArgumentPath {
  return written.split('/').slice(1);
}
