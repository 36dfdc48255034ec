/**
 * One text argument against its schema: every broken rule, with the cure and without the value (it is the agent's, and may be long or hostile).
 */
import { parseDay } from '#core/bounds/calendar-day.ts';
import type { FieldViolation } from '#core/error/postern-error.ts';
import type { TextFormat, TextSchema } from './schema.ts';
import { codePoint, freeTextFault, identifierFault } from './text-rules.ts';

export function textViolations(schema: TextSchema, value: string, path: string): readonly FieldViolation[] {
  const length = lengthFault(schema, value);
  // A value over its bound is not looked at any further: the bound is what makes the other checks cheap.
  if (length !== undefined) return [{ path, ...length }];
  const found: FieldViolation[] = [];
  const fault = schema.free === undefined ? identifierFault(value) : freeTextFault(value, schema.free);
  if (fault !== undefined) found.push({ path, rule: fault.rule, message: `The value ${fault.message}.` });
  if (schema.enum !== undefined && !schema.enum.includes(value))
    found.push({ path, rule: 'enum', message: enumMessage(schema.enum, value) });
  if (schema.format !== undefined && !FORMATS[schema.format].matches(value)) {
    found.push({ path, rule: 'format', message: `The value is not ${FORMATS[schema.format].wanted}.` });
  }
  if (schema.pattern !== undefined && !schema.pattern.matches(value)) {
    found.push({ path, rule: 'pattern', message: `The value does not match ${schema.pattern.text}.` });
  }
  return found;
}

function lengthFault(schema: TextSchema, value: string): { rule: string; message: string } | undefined {
  // UTF-16 units bound code points from above, and code points are at least half of them: no long text is walked.
  if (value.length > schema.maxLength * 2 || codePoints(value) > schema.maxLength) {
    const most = schema.enum === undefined ? `${schema.maxLength} characters` : `${schema.maxLength} characters, and no allowed value is`;
    if (schema.enum !== undefined) return { rule: 'enum', message: enumMessage(schema.enum, value) };
    return { rule: 'too_long', message: `The value is longer than ${most}.` };
  }
  if (codePoints(value) < schema.minLength)
    return { rule: 'too_short', message: `The value is shorter than ${schema.minLength} characters.` };
  if (Buffer.byteLength(value, 'utf8') > schema.maxBytes)
    return { rule: 'too_many_bytes', message: `The value has more than ${schema.maxBytes} bytes in UTF-8.` };
  return undefined;
}

function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

const ENUM_SHOWN_MAX = 20;
const POINTS_SHOWN_MAX = 8;

/** Shows the code points of what an eye takes for one of the labels (failure case JSON-10). */
function enumMessage(allowed: readonly string[], value: string): string {
  const listed = allowed.slice(0, ENUM_SHOWN_MAX).join(', ');
  const more = allowed.length > ENUM_SHOWN_MAX ? ` and ${allowed.length - ENUM_SHOWN_MAX} more` : '';
  const foreign = [...value.slice(0, 256)].filter((character) => character > '\u007e' || character < ' ');
  if (foreign.length === 0) return `The value is none of ${listed}${more}.`;
  const points = foreign.slice(0, POINTS_SHOWN_MAX).map(codePoint).join(' ');
  return `The value is none of ${listed}${more}; it holds ${points}.`;
}

const FORMATS: Readonly<Record<TextFormat, { readonly wanted: string; matches(value: string): boolean }>> = {
  date: { wanted: 'a day such as 2026-01-31', matches: (value) => parseDay(value) !== undefined },
  'date-time': { wanted: 'a time such as 2026-01-31T08:00:00Z (RFC 3339)', matches: isDateTime },
  uuid: {
    wanted: 'a UUID in lower case',
    matches: (value) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value),
  },
};

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|[+-](\d{2}):(\d{2}))$/;

/** RFC 3339 section 5.6, upper case, without leap seconds: a day and a time that exist. */
function isDateTime(value: string): boolean {
  const match = DATE_TIME.exec(value);
  if (match === null || parseDay(match[1] ?? '') === undefined) return false;
  const [hour, minute, second, offsetHour, offsetMinute] = match.slice(2).map((part) => Number(part ?? 0));
  return below(hour, 24) && below(minute, 60) && below(second, 60) && below(offsetHour, 24) && below(offsetMinute, 60);
}

function below(value: number | undefined, bound: number): boolean {
  return value !== undefined && value < bound;
}
