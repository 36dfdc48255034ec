/**
 * What a text argument may hold. An identifier names something upstream, so two spellings of it must not exist: NFC, one line,
 * no white space at the ends, nothing invisible (failure cases JSON-11, JSON-12, JSON-26). Free text is for people and may
 * hold what a sanitizer will show; controls may not be in it either.
 *
 * Nothing is repaired: a trimmed or normalized value is not the one that was approved.
 */
import type { FreeText } from './schema.ts';

export interface TextFault {
  /** Closed word of the violation. */
  readonly rule:
    | 'not_nfc'
    | 'edge_white_space'
    | 'control_character'
    | 'invisible_character'
    | 'too_many_lines'
    | 'mention'
    | 'lone_surrogate';
  /** Continues "The value …". */
  readonly message: string;
}

export function identifierFault(text: string): TextFault | undefined {
  if (!text.isWellFormed()) return { rule: 'lone_surrogate', message: 'has half of a surrogate pair' };
  const control = CONTROL.exec(text);
  if (control !== null) return { rule: 'control_character', message: `has the control character ${codePoint(control[0])}` };
  const invisible = INVISIBLE.exec(text);
  if (invisible !== null) return { rule: 'invisible_character', message: `has the invisible character ${codePoint(invisible[0])}` };
  if (text.trim() !== text) return { rule: 'edge_white_space', message: 'begins or ends with white space; nothing is trimmed' };
  if (text.normalize('NFC') !== text) return { rule: 'not_nfc', message: 'is not in Unicode normal form C; nothing is normalized' };
  return undefined;
}

export function freeTextFault(text: string, free: FreeText): TextFault | undefined {
  if (!text.isWellFormed()) return { rule: 'lone_surrogate', message: 'has half of a surrogate pair' };
  const control = CONTROL.exec(text.replaceAll(/[\n\t]/g, ' '));
  if (control !== null) return { rule: 'control_character', message: `has the control character ${codePoint(control[0])}` };
  if (text.split('\n').length > free.lines) return { rule: 'too_many_lines', message: `has more than ${free.lines} lines` };
  if (free.mentions === 'refuse' && MENTION.test(text)) {
    return { rule: 'mention', message: 'mentions somebody (@name, <@id>, <!here>, [~name]), which would notify people' };
  }
  return undefined;
}

/** `U+0435`, as an error shows what cannot be told apart by eye (failure case JSON-10). */
export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** C0, DEL, C1, and the line and paragraph separators, which some parsers take for line ends. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
/** Bidi controls, joiners, tags, variation selectors, fillers: drawn as nothing, or turning what is drawn. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Co}\p{Cn}\u2800\ufffc\ufffd]/u;
const MENTION = /(?:^|[^\p{L}\p{N}_.])@[\p{L}\p{N}_-]|<[@!#]|\[~/u;
