/**
 * Bodies of one record per line: NDJSON and plain lines. A line end after the last record is optional. The last line of a body
 * that was cut may be half a record and is not one.
 */
import type { JsonValue, ResultRules } from '#core/contract/compiled.ts';
import { captures } from './captures.ts';
import { type Decoded, decodeJson } from './json.ts';

/** Lines without their ends, without a last empty one; with `cut`, without the last line whatever it is. */
export function splitLines(text: string, cut: boolean): readonly string[] {
  const lines = text.split(/\r?\n/);
  if (cut || lines.at(-1) === '') lines.pop();
  return lines;
}

/** A list of the values. Empty lines between records are skipped; `undefined` when one line is not JSON. */
export function decodeNdjson(lines: readonly string[]): Decoded | undefined {
  const values: JsonValue[] = [];
  const normalized = new Set<string>();
  for (const line of lines) {
    if (line.trim() === '') continue;
    const decoded = decodeJson(line);
    if (decoded === undefined) return undefined;
    values.push(decoded.value);
    for (const path of decoded.normalized) normalized.add(path === '/' ? '/*' : `/*${path}`);
  }
  return { value: values, normalized: [...normalized] };
}

export type DecodeLines = (lines: readonly string[]) => JsonValue | undefined;

/**
 * Built once per contract. A line that matches becomes an object of its named groups; any other, and every line without a pattern,
 * `{line: TEXT}`, nothing or a fault, as `unmatched` says. RE2: no line makes the pattern slow.
 */
export function linesDecoder(rules: NonNullable<ResultRules['lines']>): DecodeLines {
  const capture = rules.match === undefined ? undefined : captures(rules.match);
  return (lines) => {
    const rows: JsonValue[] = [];
    for (const line of lines) {
      const groups = capture?.(line);
      if (groups !== undefined) rows.push(groups);
      else if (capture === undefined || rules.unmatched === 'Keep') rows.push({ line });
      else if (rules.unmatched === 'Error') return undefined;
    }
    return rows;
  };
}
