/**
 * The page a card is written on: which bytes may stand where.
 *
 * - A line begins with `! ` (a warning), with two spaces and one of our labels (a field), or with blanks up to the value column (the rest
 *   of a long value). Values never reach the label column, so no field can forge another one, also where a terminal would have wrapped
 *   a long line to its start (APR-07, APR-08).
 * - Every value passes the one sanitizer; whatever a person cannot see as it is becomes a warning, and warnings stand before all fields.
 */
import { visibleText } from '#core/encoding/visible-text.ts';
import { doubtsOf } from './doubtful-text.ts';
import { wrapColumns } from './wrap-columns.ts';

/** Columns of a card: a terminal of 80 does not wrap it. */
const COLUMNS = 78;
/** Leaves 64 columns: a digest on one line. */
const VALUE_COLUMN = 14;

export interface Shown {
  /** Code points of the value that are shown. */
  readonly chars: number;
  /** A line break is an ordinary part of this text. */
  readonly lines?: boolean;
}

export class CardText {
  readonly #fields: string[] = [];
  readonly #doubts: string[] = [];

  /** A text from outside as it may stand in a field. `subject` names it in a warning. */
  value(subject: string, text: string, { chars, lines = false }: Shown): string {
    for (const doubt of doubtsOf(text, { lines })) this.doubt(`${subject} ${doubt}`);
    return this.cut(subject, text, chars);
  }

  /** The same without a look at what it holds: for texts made of values that are looked at where they stand alone. */
  cut(subject: string, text: string, chars: number): string {
    const shown = visibleText(text, { chars });
    if (shown !== visibleText(text, { chars: Number.MAX_SAFE_INTEGER }))
      this.doubt(`${subject} is not shown whole: it has ${[...text].length} characters.`);
    return shown === '' ? '(empty)' : shown;
  }

  /** One sentence of ours; texts from outside in it have passed `value` or the sanitizer. Said twice is said once. */
  doubt(sentence: string): void {
    const line = visibleText(sentence);
    if (!this.#doubts.includes(line)) this.#doubts.push(line);
  }

  /** `label` is ours, at most 11 ASCII characters. */
  field(label: string, text: string): void {
    const head = `  ${label}`.padEnd(VALUE_COLUMN);
    for (const [index, line] of wrapColumns(text, COLUMNS - VALUE_COLUMN).entries())
      this.#fields.push((index === 0 ? head : ' '.repeat(VALUE_COLUMN)) + line);
  }

  gap(): void {
    if (this.#fields.at(-1) !== '') this.#fields.push('');
  }

  get doubts(): readonly string[] {
    return this.#doubts;
  }

  /** The card, ended by a line break. */
  text(sentence: string): string {
    const [first = '', ...rest] = wrapColumns(sentence, COLUMNS);
    const warnings = this.#doubts.flatMap((doubt) =>
      wrapColumns(doubt, COLUMNS - 4).map((line, index) => (index === 0 ? `! ${line}` : `!   ${line}`)),
    );
    const lines = [first, ...rest.map((line) => `  | ${line}`), ...warnings, '', ...this.#fields];
    return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
  }
}
