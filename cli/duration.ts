/** Durations on the command line: `500ms`, `20s`, `2m`. */
import { InvalidArgumentError } from 'commander';

const FACTORS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Milliseconds. Throws commander's InvalidArgumentError, so that the flag is named in the message. */
export function parseDuration(text: string): number {
  const match = /^([1-9][0-9]{0,6})(ms|s|m)$/.exec(text);
  const factor = FACTORS[match?.[2] ?? ''];
  if (match === null || factor === undefined) throw new InvalidArgumentError('Write a whole number and a unit: 500ms, 20s or 2m.');
  return Number(match[1]) * factor;
}
