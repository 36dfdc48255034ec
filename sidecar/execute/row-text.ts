/**
 * Rows of one source as JSON text, made once: the same bytes are measured against the message limit and sent.
 */
import type { Row } from '#core/completeness/walk.ts';

const BRACKETS = 2;
const COMMA = 1;

export class RowText {
  readonly rows: Row[] = [];
  readonly #pages: string[] = [];

  /** Adds the first `kept` rows of a page whose text `measure` made. */
  add(rows: readonly Row[], text: string): void {
    if (rows.length === 0) return;
    // One by one: a page of a hundred thousand rows is more arguments than a call may have.
    for (const row of rows) this.rows.push(row);
    this.#pages.push(text);
  }

  /** The rows without brackets, comma separated; empty when there are none. */
  text(): string {
    return this.#pages.join(',');
  }
}

export interface Measured {
  readonly kept: readonly Row[];
  readonly text: string;
  readonly bytes: number;
}

/** As many of `rows`, from the first, as fit `bytesMax` bytes of JSON. One stringify when all fit. */
export function fitRows(rows: readonly Row[], bytesMax: number): Measured {
  const whole = JSON.stringify(rows).slice(1, -1);
  const bytes = Buffer.byteLength(whole) + BRACKETS;
  if (bytes <= bytesMax) return { kept: rows, text: whole, bytes };
  const texts: string[] = [];
  let used = BRACKETS;
  for (const row of rows) {
    const text = JSON.stringify(row);
    const more = Buffer.byteLength(text) + COMMA;
    if (used + more > bytesMax) break;
    used += more;
    texts.push(text);
  }
  return { kept: rows.slice(0, texts.length), text: texts.join(','), bytes: used };
}
