/**
 * The last requests of a walk, so that a list which leads round in a circle is seen: its pages would be read again until
 * a limit of ours ends it, and every cursor would promise more. Longer circles than a trail end at a limit.
 */
import { hash } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/contract/compiled.ts';

const DIGEST_CHARS = 8;

/** What tells one request of a walk from the others: the values of its cursor, or the address it follows. */
export type Place = readonly [next: Readonly<Record<string, JsonValue>> | undefined, follow: string | undefined];

/** The trail with the next request on it; undefined when it is there already. Unchanged where the remote names no place. */
export function leaveTrail(trail: string | undefined, sent: Place, to: Place): string | undefined {
  if (to[0] === undefined && to[1] === undefined) return trail ?? '';
  const before = trail ?? digestOf(sent);
  const digest = digestOf(to);
  for (let at = 0; at < before.length; at += DIGEST_CHARS) if (before.startsWith(digest, at)) return undefined;
  return (before + digest).slice(-limits.walkTrailMax * DIGEST_CHARS);
}

/** The part of the trail that goes into a cursor of so many walks. */
export function shortTrail(trail: string, walks: number): string {
  const kept = Math.floor(limits.walkTrailMax / walks);
  return kept === 0 ? '' : trail.slice(-kept * DIGEST_CHARS);
}

function digestOf([next, follow]: Place): string {
  return hash('sha256', `postern/place/v1\0${JSON.stringify([next ?? null, follow ?? null])}`, 'base64url').slice(0, DIGEST_CHARS);
}
