/** What of the arguments one yes of mode Session fixes: all but those the card names as free. */
import { type Digest, digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';

/** `vary`: RFC 6901 paths. */
export function fixedDigest(args: Readonly<Record<string, JsonValue>>, vary: readonly string[]): Digest {
  return digestOf('arguments', without(args, vary.map(namesIn)));
}

function namesIn(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function without(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value as Readonly<Record<string, JsonValue>>);
  const kept = members.filter(([name]) => !paths.some((path) => path.length === 1 && path[0] === name));
  return Object.fromEntries(
    kept.map(([name, member]) => [
      name,
      without(
        member,
        paths.flatMap(([first, ...rest]) => (first === name && rest.length > 0 ? [rest] : [])),
      ),
    ]),
  );
}
