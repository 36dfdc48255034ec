/** The text of any JSON value. `String()` throws on an object with a member `toString`, and a contract may hold one. */
import type { JsonValue } from './compiled.ts';

/** Text as it is, anything else as JSON; the empty text for nothing. */
export function plainText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}
