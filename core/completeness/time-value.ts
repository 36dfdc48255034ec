/**
 * Times as services write them. The unit is declared, never guessed from the size of a number; what does not
 * parse is `undefined`, so that the next source is asked (failure case HTTP-31).
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
import type { JsonValue, TimeUnit } from '#core/contract/compiled.ts';
import { scalarText } from './path.ts';

/** Milliseconds from `nowMs` until the stated time; negative when it is past. */
export function untilMs(value: JsonValue, unit: TimeUnit, nowMs: number): number | undefined {
  const text = scalarText(value)?.trim();
  if (text === undefined || text === '') return undefined;
  switch (unit) {
    case 'RetryAfter': {
      const seconds = number(text);
      if (seconds !== undefined) return seconds * 1000;
      return since(dateMs(text), nowMs);
    }
    case 'Seconds':
      return scaled(text, 1000);
    case 'Millis':
      return scaled(text, 1);
    case 'EpochSeconds':
      return since(scaled(text, 1000), nowMs);
    case 'EpochMillis':
      return since(scaled(text, 1), nowMs);
    case 'HTTPDate':
      return since(dateMs(text), nowMs);
    case 'RateLimitParameter':
      return rateLimitMs(text);
    default:
      return unit satisfies never;
  }
}

/** Age in milliseconds of data whose time, or whose age, is stated. */
export function ageMs(value: JsonValue, unit: TimeUnit, nowMs: number): number | undefined {
  const until = untilMs(value, unit, nowMs);
  if (until === undefined) return undefined;
  const stated =
    unit === 'Seconds' ||
    unit === 'Millis' ||
    unit === 'RateLimitParameter' ||
    (unit === 'RetryAfter' && number(String(value)) !== undefined);
  return stated ? until : -until;
}

/** A plain non-negative decimal; a negative, a float with an exponent or two joined values are none. */
function number(text: string): number | undefined {
  return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

function scaled(text: string, unitMs: number): number | undefined {
  const value = number(text);
  return value === undefined ? undefined : value * unitMs;
}

function since(atMs: number | undefined, nowMs: number): number | undefined {
  return atMs === undefined ? undefined : atMs - nowMs;
}

/** IMF-fixdate, or the RFC 3339 time that bodies carry. */
function dateMs(text: string): number | undefined {
  if (!/^([A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|\d{4}-\d{2}-\d{2}T[0-9:.]{5,20}(Z|[+-]\d{2}:\d{2}))$/.test(text))
    return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** The longest `t` among the policies that are used up, else among all: `"default";r=0;t=50`. */
function rateLimitMs(text: string): number | undefined {
  const policies = text.split(',').map((policy) => ({ left: parameter(policy, 'r'), reset: parameter(policy, 't') }));
  const exhausted = policies.filter(({ left }) => left === 0);
  const resets = (exhausted.length > 0 ? exhausted : policies).map(({ reset }) => reset).filter((reset) => reset !== undefined);
  return resets.length === 0 ? undefined : Math.max(...resets) * 1000;
}

function parameter(policy: string, name: string): number | undefined {
  const found = new RegExp(`;\\s*${name}=(\\d{1,15})\\s*(?:;|$)`).exec(policy.trim())?.[1];
  return found === undefined ? undefined : Number(found);
}
