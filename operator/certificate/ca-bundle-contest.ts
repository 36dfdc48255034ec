/**
 * Whether our CA is to be written into a webhook configuration, judged from what stands there now. Pure, so that a day of two writers
 * plays in a test (failure cases INJ-05, INJ-06).
 *
 *   ours                        nothing to do
 *   blank                       write: somebody re-applied a manifest without the field, and nobody trusts us until we do
 *   another value, once         write: it may be of an older replica or of a rotation
 *   another value, again and    a second writer owns the field: say so, and write only after ever longer waits. Answering at once
 *   again                       would make every admission depend on who wrote last
 */
import { limits } from '#core/bounds/limits.ts';

export interface ContestState {
  /** What we wrote last, as far as this leader knows. */
  readonly written: string | undefined;
  /** When another value was found in its place, monotonic. */
  readonly replacedMs: readonly number[];
  /** Not before; monotonic. */
  readonly waitUntilMs: number;
  readonly backoffMs: number;
}

export const UNCONTESTED: ContestState = { written: undefined, replacedMs: [], waitUntilMs: 0, backoffMs: 0 };

export interface Judgement {
  readonly state: ContestState;
  readonly write: boolean;
  readonly contested: boolean;
}

/** `found`: the field of each webhook as PEM, empty where there is none. `wanted`: what each should be. */
export function judgeBundles(state: ContestState, found: readonly string[], wanted: string, nowMs: number): Judgement {
  if (found.every((bundle) => bundle === wanted)) return settled(state, wanted, nowMs);
  const replaced = found.filter((bundle) => bundle !== '' && bundle !== wanted);
  const fresh = state.written !== wanted;
  // Whoever adds to our certificates keeps us trusted; a fight over that would only harm. After a change of ours the old ones must go.
  if (!fresh && replaced.length === found.length && replaced.every((bundle) => includesAll(bundle, wanted)))
    return settled(state, wanted, nowMs);
  if (fresh || replaced.length === 0) return { state: { ...state, written: wanted }, write: true, contested: isContested(state, nowMs) };
  return contest(state, wanted, nowMs);
}

function settled(state: ContestState, written: string, nowMs: number): Judgement {
  const quiet = recent(state, nowMs).length === 0 && nowMs >= state.waitUntilMs;
  return { state: quiet ? { ...UNCONTESTED, written } : { ...state, written }, write: false, contested: isContested(state, nowMs) };
}

function contest(state: ContestState, written: string, nowMs: number): Judgement {
  if (nowMs < state.waitUntilMs) return { state, write: false, contested: true };
  const replacedMs = [...recent(state, nowMs), nowMs].slice(-limits.authorityContestsMax);
  const often = replacedMs.length >= limits.authorityContestsMax || state.backoffMs > 0;
  if (!often) return { state: { ...state, written, replacedMs }, write: true, contested: false };
  // The first time the wait comes before the write; after a wait the write comes, and a longer wait behind it.
  const backoffMs = Math.min(Math.max(limits.authorityBackoffMsMin, state.backoffMs * 2), limits.authorityBackoffMsMax);
  return { state: { written, replacedMs, waitUntilMs: nowMs + backoffMs, backoffMs }, write: state.backoffMs > 0, contested: true };
}

function recent({ replacedMs }: ContestState, nowMs: number): readonly number[] {
  return replacedMs.filter((ms) => nowMs - ms < limits.authorityContestMs);
}

function isContested(state: ContestState, nowMs: number): boolean {
  return nowMs < state.waitUntilMs;
}

function includesAll(bundle: string, wanted: string): boolean {
  const there = new Set(certificatesIn(bundle));
  return certificatesIn(wanted).every((certificate) => there.has(certificate));
}

/** The base64 of each certificate of a PEM text, without line ends. */
export function certificatesIn(pem: string): readonly string[] {
  const blocks = pem.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g);
  return [...blocks].map((block) => (block[1] ?? '').replace(/\s/g, ''));
}
