/** A verdict as lines for a person and as JSON for a program. What is proven and what is not stand in lines of their own (AUD-27). */
import type { ChainVerdict } from '#core/audit/verify.ts';
import { visibleText } from '#core/encoding/visible-text.ts';

export interface Checked {
  readonly place: string;
  readonly verdict: ChainVerdict;
  /** Findings that prove nothing; our own sentences. */
  readonly notes: readonly string[];
}

export function renderVerdicts(checked: readonly Checked[]): string {
  const blocks = checked.map((one) => {
    const title = checked.length > 1 ? [`chain ${one.verdict.origin ?? `without an origin, ${one.place}`}`] : [];
    return [...title, ...linesOf(one)].map((line) => visibleText(line)).join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}

/** The lines of one chain, without its title. */
export function linesOf({ verdict, notes }: Checked): readonly string[] {
  const { firstSequence: first, lastSequence: last, broken, signature, tail } = verdict;
  return [
    `verified: ${recordsOf(verdict)} records`,
    `first sequence: ${last === 0 ? 'none' : first}`,
    `last sequence: ${last === 0 ? 'none' : last}`,
    chainLine(verdict),
    `signature: ${signature.sentence}`,
    `tail: ${tail.sentence}`,
    ...verdict.clockSkews.first.map(({ sequence, backMs }) => `CLOCK_SKEW at sequence ${sequence}: ${backMs} ms back`),
    ...more(verdict.clockSkews, 'CLOCK_SKEW'),
    ...[...findings(verdict), ...notes].map((note) => `note: ${note}`),
    ...(broken === undefined ? [] : ['note: nothing behind the broken sequence was looked at']),
  ];
}

/** Of several chains an array; members as the second verifier names them. */
export function verdictsJson(checked: readonly Checked[]): string {
  const chains = checked.map(({ verdict, notes, place }) => ({
    origin: verdict.origin ?? null,
    place,
    records: recordsOf(verdict),
    first_sequence: verdict.lastSequence === 0 ? null : verdict.firstSequence,
    last_sequence: verdict.lastSequence === 0 ? null : verdict.lastSequence,
    broken_at: verdict.broken?.sequence ?? null,
    reason: verdict.broken?.reason ?? null,
    why: verdict.broken?.sentence ?? null,
    signature: verdict.signature.is,
    signature_at: verdict.signature.sequence ?? null,
    tail: verdict.tail.is,
    tail_at: verdict.tail.sequence ?? null,
    clock_skew_at: verdict.clockSkews.first.map(({ sequence }) => sequence),
    good: verdict.good,
    lines: linesOf({ verdict, notes, place }),
  }));
  return `${JSON.stringify({ code: chains.every(({ good }) => good) ? 0 : 1, chains })}\n`;
}

function recordsOf({ firstSequence, lastSequence }: ChainVerdict): number {
  return lastSequence === 0 ? 0 : lastSequence - firstSequence + 1;
}

function chainLine({ broken, origin }: ChainVerdict): string {
  if (broken !== undefined) return `chain: broken at sequence ${broken.sequence}: ${broken.sentence}`;
  return origin === undefined ? 'chain: there is none' : 'chain: valid';
}

function findings({ epochsWithoutEnd, recipientChanges }: ChainVerdict): readonly string[] {
  const { count, first } = epochsWithoutEnd;
  const listed = (numbers: readonly number[], all: number) => `${numbers.slice(0, LISTED).join(', ')}${all > LISTED ? ', ...' : ''}`;
  return [
    ...(count === 0 ? [] : [`${count} epochs without an end, cut off by a crash or by somebody: ${listed(first, count)}`]),
    ...(recipientChanges.count === 0
      ? []
      : [`who can read it changes ${recipientChanges.count} times, at sequence ${listed(recipientChanges.first, recipientChanges.count)}`]),
  ];
}

const LISTED = 10;

function more({ count, first }: { readonly count: number; readonly first: readonly unknown[] }, what: string): readonly string[] {
  return count > first.length ? [`${what} ${count - first.length} times more`] : [];
}
