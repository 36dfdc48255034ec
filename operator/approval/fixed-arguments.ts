/** What of the arguments one yes of mode Session fixes: all but those the card names as free. */
import { argumentPath, argumentsWithout } from '#core/approval/arguments-without.ts';
import { type Digest, digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';

/** `vary`: paths as the card writes them. */
export function fixedDigest(args: Readonly<Record<string, JsonValue>>, vary: readonly string[]): Digest {
  return digestOf('arguments', argumentsWithout(args, vary.map(argumentPath)));
}
