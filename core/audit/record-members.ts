/**
 * Members of a record that was read, as far as they are what they should be: whoever could write to the recipients - a sidecar that was taken
 * over, too - decides what is in a record, and whoever reads it must not fall over it (AUD-22).
 */
import { limits } from '#core/bounds/limits.ts';
import type { WrittenRecord } from './record.ts';

/** A record where it stands. */
export interface ChainRecord {
  /** Of its chain. */
  readonly origin: string;
  readonly sequence: number;
  readonly record: WrittenRecord;
}

/** At most limits.auditViewTextCharsMax characters of it; undefined where it is no text, or empty. */
export function textIn(record: WrittenRecord, name: string): string | undefined {
  return shortText(memberOf(record, name));
}

/** A whole number from 0. */
export function countIn(record: object, name: string): number | undefined {
  const value = memberOf(record, name);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function flagIn(record: WrittenRecord, name: string): boolean | undefined {
  const value = memberOf(record, name);
  return typeof value === 'boolean' ? value : undefined;
}

/** At most limits.auditViewListMax of them. */
export function textsIn(record: WrittenRecord, name: string): readonly string[] {
  const value = memberOf(record, name);
  if (!Array.isArray(value)) return [];
  return value.slice(0, limits.auditViewListMax).flatMap((item: unknown) => shortText(item) ?? []);
}

/** Any JSON value; undefined where its text is longer than limits.auditViewJsonCharsMax. */
export function jsonIn(record: WrittenRecord, name: string): unknown {
  const value = memberOf(record, name);
  if (value === undefined) return undefined;
  try {
    return JSON.stringify(value).length <= limits.auditViewJsonCharsMax ? value : undefined;
  } catch {
    // A hundred thousand brackets deep.
    return undefined;
  }
}

export function memberOf(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? Reflect.get(record, name) : undefined;
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, limits.auditViewTextCharsMax) : undefined;
}
