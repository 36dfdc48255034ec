/**
 * The one text sanitizer: whatever a person reads (card, command line, chat, columns, events, warnings)
 * passes here, so that no surface lacks a fix another one got (APR-09).
 *
 * - An allow-list: letters, marks on a letter, digits, punctuation, symbols, the plain space. All else is `<U+XXXX>`:
 *   controls, bidi, tags, variation selectors, blanks that are letters or symbols by category, private and
 *   unassigned code points (APR-06).
 * - One line unless the field allows more; a line break elsewhere could forge the next field (APR-07).
 * - Padding is counted, not shown; what is cut is said (APR-08).
 * - Applying it twice changes nothing, so a text may be cleaned at its entry and again at the surface.
 *
 * It does not tell look-alike letters apart; labels come from enums, and ids are shown as they are.
 */
import { limits } from '#core/bounds/limits.ts';

export interface VisibleTextOptions {
  /** Longest result in code points, the note about what was cut included. At least 32. Default limits.visibleTextCharsMax. */
  readonly chars?: number;
  /** Lines kept as lines; a break beyond them is shown as `<U+000A>`. Default 1, at most limits.visibleTextLinesMax. */
  readonly lines?: number;
}

/** The text as it may be shown. Never throws; accepts lone surrogates (they are shown as code points). */
export function visibleText(text: string, options: VisibleTextOptions = {}): string {
  const chars = Math.max(options.chars ?? limits.visibleTextCharsMax, CHARS_MIN);
  // Nearly every name, id and sentence: nothing to look at one by one.
  if (text.length <= chars && PLAIN.test(text) && !LONG_RUN.test(text)) return text;
  const lines = Math.min(options.lines ?? 1, limits.visibleTextLinesMax);
  const pieces: string[] = [];
  const state: Runs = { last: '', run: 0, marks: MARKS_MAX, breaks: 0 };
  for (const character of text) {
    if (character === '\n' && state.breaks < lines - 1) {
      endRun(pieces, state);
      Object.assign(state, { last: '', run: 0, marks: MARKS_MAX, breaks: state.breaks + 1 });
      pieces.push('\n');
      continue;
    }
    push(pieces, state, character);
  }
  endRun(pieces, state);
  return cut(pieces, chars);
}

/** Whether a person sees the text exactly as it is: the card warns where this is false. */
export function isPlainlyVisible(text: string): boolean {
  return visibleText(text, { chars: Number.MAX_SAFE_INTEGER }) === text;
}

const CHARS_MIN = 32;
/** Marks on one letter; more paint over neighbouring lines. */
const MARKS_MAX = 3;
/** Equal spaces, and equal other characters, shown before they are counted instead. */
const SPACES_MAX = 3;
const REPEATS_MAX = 80;

/** Printable ASCII, and in it a run that is counted instead of shown. */
const PLAIN = /^[ -~]*$/;
const LONG_RUN = / {4}|([!-~])\1{80}/;

const SHOWN = /^[\p{L}\p{N}\p{P}\p{S} ]$/u;
const MARK = /^[\p{Mn}\p{Mc}]$/u;
const LETTER = /^[\p{L}\p{N}]$/u;
// Hangul fillers, variation selectors, soft hyphen and the like are letters, marks or symbols by category yet draw
// nothing; the Braille blank, object replacement and U+FFFD are symbols that hide what was there.
const NEVER = /^[\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffd]$/u;

interface Runs {
  last: string;
  run: number;
  marks: number;
  breaks: number;
}

function push(pieces: string[], state: Runs, character: string): void {
  const repeated = character === state.last;
  if (!repeated) {
    endRun(pieces, state);
    state.last = character;
    state.run = 0;
  }
  state.run += 1;
  const mark = MARK.test(character);
  state.marks = mark ? state.marks + 1 : 0;
  const shown = !NEVER.test(character) && (mark ? state.marks <= MARKS_MAX : SHOWN.test(character));
  // A mark belongs on a letter or a digit: on a quote or a bracket it would paint over our own marks.
  if (!mark && !(shown && LETTER.test(character))) state.marks = MARKS_MAX;
  if (state.run <= repeatsMax(character, shown)) pieces.push(shown ? character : codePoint(character));
}

/** Says how many of a run were not shown. */
function endRun(pieces: string[], state: Runs): void {
  const shown = SHOWN.test(state.last) && !NEVER.test(state.last);
  const limit = repeatsMax(state.last, shown);
  if (state.last === '' || state.run <= limit) return;
  pieces.push(`<${state.run - limit} more>`);
  state.marks = MARKS_MAX;
}

function repeatsMax(character: string, shown: boolean): number {
  return character === ' ' || !shown ? SPACES_MAX : REPEATS_MAX;
}

function codePoint(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Cuts between pieces, so that no escape is cut in half and read as something else. */
function cut(pieces: readonly string[], charsMax: number): string {
  const sizes = pieces.map((piece) => [...piece].length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= charsMax) return pieces.join('');
  const kept: string[] = [];
  let size = 0;
  for (const [index, piece] of pieces.entries()) {
    const next = size + (sizes[index] ?? 0);
    if (next > charsMax - noteOf(total).length) break;
    kept.push(piece);
    size = next;
  }
  return kept.join('') + noteOf(total - size);
}

function noteOf(missing: number): string {
  return `… (${missing} characters cut)`;
}
