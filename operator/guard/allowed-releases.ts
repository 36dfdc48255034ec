/**
 * Which releases of the sidecar the policy allows, kept in an annotation of the policy itself, so that it outlives every replica: those
 * that a replica ran in the last day, at most three. Without the past, pods that the last release injected a moment ago would be
 * refused by the next; and a replica of the next could inject nothing until it leads.
 *
 * Whoever can edit a ValidatingAdmissionPolicy can switch the guards off, so the annotation is trusted as much as the policy is.
 */
import { limits } from '#core/bounds/limits.ts';
import { type AllowedRelease, equal } from './sidecar-release.ts';

export const RELEASES_ANNOTATION = 'postern.dev/sidecar-releases';

/**
 * Releases whose time is over. No pod is made with them any more, but pods that were made by them still run, and a sidecar proves itself
 * anew within the hour: judged by the allowed ones alone, every pod that was not restarted within a day of an upgrade would lose its
 * actions (failure case INJ-23).
 */
export const PAST_RELEASES_ANNOTATION = 'postern.dev/past-sidecar-releases';

export interface SeenRelease {
  readonly release: AllowedRelease;
  /** When a replica last said that it runs it, Unix time in milliseconds. */
  readonly seenMs: number;
}

/**
 * The list after a replica of release `own` looked at it. Equal lists stay equal whoever looks, so that replicas of two releases do not
 * write in turns: the order is by time and text, and `seenMs` moves only once in limits.guardReleaseSeenMs.
 */
export function nextReleases(stored: readonly SeenRelease[], own: AllowedRelease, nowMs: number): readonly SeenRelease[] {
  const known = stored.find(({ release }) => equal(release, own));
  const seenMs = known !== undefined && Math.abs(nowMs - known.seenMs) < limits.guardReleaseSeenMs ? known.seenMs : nowMs;
  // A time in the future is another replica's clock; it does not make a release immortal.
  const others = stored.filter((entry) => entry !== known && Math.abs(nowMs - entry.seenMs) < limits.guardReleaseKeptMs);
  const rest = others.sort((one, other) => other.seenMs - one.seenMs).slice(0, limits.guardReleasesMax - 1);
  return [{ release: own, seenMs }, ...rest].sort((one, other) => other.seenMs - one.seenMs || (textOf(one) < textOf(other) ? -1 : 1));
}

/** The past after the allowed releases became `now`: newest first, and none that is allowed again. */
export function pastReleases(
  past: readonly SeenRelease[],
  before: readonly SeenRelease[],
  now: readonly SeenRelease[],
): readonly SeenRelease[] {
  const found: SeenRelease[] = [];
  for (const entry of [...before, ...past]) {
    const known = [...now, ...found].some(({ release }) => equal(release, entry.release));
    if (!known && found.length < limits.guardPastReleasesMax) found.push(entry);
  }
  return found;
}

/** The list in an annotation; entries that are none are left out, and what is no list is empty. */
export function readReleases(annotation: string | undefined, most: number = limits.guardReleasesMax): readonly SeenRelease[] {
  if (annotation === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(annotation);
  } catch {
    return []; // somebody's edit: the next pass writes what is running
  }
  return Array.isArray(value) ? value.filter(isSeenRelease).slice(0, most) : [];
}

export function releasesText(releases: readonly SeenRelease[]): string {
  return JSON.stringify(releases);
}

function textOf({ release }: SeenRelease): string {
  return JSON.stringify(release);
}

function isSeenRelease(value: unknown): value is SeenRelease {
  if (!isMap(value) || !Number.isSafeInteger(value.seenMs) || !isMap(value.release)) return false;
  const { container, sizes, volumes } = value.release;
  return isMap(container) && isMap(sizes) && Object.values(sizes).length > 0 && Array.isArray(volumes);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
