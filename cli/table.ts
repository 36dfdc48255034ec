/** Rows for a person: columns padded to their widest cell, every cell through the one sanitizer, as `kubectl get` prints. */
import { visibleText } from '#core/encoding/visible-text.ts';

/** One cell a column; an absent value is shown as `-`. */
export type Row = readonly (string | number | undefined)[];

const GAP = 3;

/** Lines without a line break at the end; the header alone when there are no rows. */
export function renderTable(columns: readonly string[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((_, index) => cellText(row[index])));
  const widths = columns.map((column, index) => Math.max(column.length, ...cells.map((row) => [...(row[index] ?? '')].length)));
  return [columns, ...cells].map((row) => line(row, widths)).join('\n');
}

function cellText(value: string | number | undefined): string {
  return value === undefined || value === '' ? '-' : visibleText(String(value));
}

/** The last column is not padded: a long sentence there must not widen every line. */
function line(row: readonly string[], widths: readonly number[]): string {
  const last = row.length - 1;
  return row.map((cell, index) => (index === last ? cell : cell + ' '.repeat((widths[index] ?? 0) - [...cell].length + GAP))).join('');
}

/** `5m`, `3h`, `12d`: how long ago, or ahead, as `kubectl` prints ages. `-` when there is no time. */
export function age(time: string | undefined, nowMs: number): string {
  const then = Date.parse(time ?? '');
  if (Number.isNaN(then)) return '-';
  const seconds = Math.round(Math.abs(nowMs - then) / 1000);
  for (const [unit, size] of UNITS) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  }
  return `${seconds}s`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;
