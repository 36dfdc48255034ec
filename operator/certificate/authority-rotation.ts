/**
 * The three steps of a new CA. Between two of them every replica must have read the Secret and every API server must trust what it
 * will be shown, so a step that comes too early is refused (failure case INJ-04).
 *
 *   files            next            switch                      drop
 *   ca          ->   ca, next   ->   ca (was next), previous ->  ca
 *   trusted: ca      ca, next        ca, previous                ca
 *   pinned by pods:  old             new pods new, old pods old  new
 */
import { limits } from '#core/bounds/limits.ts';
import type { KeyAndCertificate } from './issue.ts';

export const STAGES = ['next', 'switch', 'drop'] as const;
export type Stage = (typeof STAGES)[number];

export interface RotationFacts {
  /** Names of the files in the Secret. */
  readonly files: readonly string[];
  /** Time since the last step, milliseconds; undefined when nobody wrote it down. */
  readonly sinceMs: number | undefined;
  /** Whether both webhook configurations trust `next.crt`; unknown where this account may not read them. */
  readonly nextTrusted: boolean | 'unknown';
  /** Pods whose sidecar pins the previous CA, `namespace/name`; unknown where this account may not list pods. */
  readonly pinnedBy: readonly string[] | 'unknown';
  /** The person says that waiting is not needed: nothing runs, or an outage is accepted. */
  readonly atOnce: boolean;
  /** With `drop`: gives a `next` up that was not switched to. */
  readonly abandon: boolean;
}

/** Why the step is refused, with the cure; undefined when it may be taken. */
export function refusalOf(stage: Stage, facts: RotationFacts): string | undefined {
  const next = facts.files.includes('next.crt');
  const previous = facts.files.includes('previous.crt');
  return REFUSALS[stage]({ ...facts, next, previous });
}

type Refuse = (facts: RotationFacts & { readonly next: boolean; readonly previous: boolean }) => string | undefined;

const REFUSALS: Readonly<Record<Stage, Refuse>> = {
  next({ next, previous }) {
    if (next) return 'A next CA is there already: go on with --stage switch, or give it up with --stage drop --abandon.';
    return previous ? 'The previous CA of the last rotation is still served: finish that with --stage drop.' : undefined;
  },
  switch(facts) {
    if (!facts.next) return 'There is no next CA to switch to: begin with --stage next.';
    if (facts.nextTrusted === false) return NOT_TRUSTED;
    return tooEarly(facts, limits.authoritySettleMs, 'replicas that have not read the next CA could not be verified by new sidecars');
  },
  drop(facts) {
    if (facts.next && !facts.abandon) return 'The next CA is not switched to: go on with --stage switch, or give it up with --abandon.';
    if (facts.next) return undefined;
    if (!facts.previous) return 'There is no previous CA to drop: no rotation is under way.';
    if (!facts.atOnce && facts.pinnedBy !== 'unknown' && facts.pinnedBy.length > 0) return stillPinned(facts.pinnedBy);
    return tooEarly(facts, limits.authorityPreviousMs, STILL_PINNED);
  },
};

const NOT_TRUSTED =
  'The webhook configurations do not trust the next CA yet: the operator writes it there within seconds of reading it; see its log if it stays so.';
const STILL_PINNED = 'pods made before the switch pin the previous CA, and their sidecars could not come back; make them anew first';

function stillPinned(pods: readonly string[]): string {
  const shown = pods.slice(0, PODS_SHOWN).join(', ') + (pods.length > PODS_SHOWN ? `, and ${pods.length - PODS_SHOWN} more` : '');
  return `Sidecars of ${pods.length} pods still pin the previous CA and could not come back: make these anew first (${shown}). --at-once drops it all the same.`;
}

const PODS_SHOWN = 10;

function tooEarly({ sinceMs, atOnce }: RotationFacts, leastMs: number, because: string): string | undefined {
  if (atOnce || (sinceMs !== undefined && sinceMs >= leastMs)) return undefined;
  const left = sinceMs === undefined ? leastMs : leastMs - sinceMs;
  return `This step is due in ${Math.ceil(left / 60_000)} minutes: ${because}. --at-once takes it now.`;
}

/** What changes in the Secret's files, by name; null removes one. `fresh` is used by `next` alone. */
export function rotated(
  stage: Stage,
  files: Readonly<Record<string, string>>,
  fresh: KeyAndCertificate | undefined,
): Readonly<Record<string, string | null>> {
  switch (stage) {
    case 'next':
      if (fresh === undefined) throw new TypeError('the next CA is made before');
      return { 'next.crt': fresh.certificatePem, 'next.key': fresh.keyPem };
    case 'switch':
      return {
        'ca.crt': files['next.crt'] ?? null,
        'ca.key': files['next.key'] ?? null,
        'previous.crt': files['ca.crt'] ?? null,
        'previous.key': files['ca.key'] ?? null,
        'next.crt': null,
        'next.key': null,
      };
    case 'drop':
      return files['next.crt'] === undefined ? { 'previous.crt': null, 'previous.key': null } : { 'next.crt': null, 'next.key': null };
  }
}
