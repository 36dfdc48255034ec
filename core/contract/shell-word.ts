/**
 * One argument vector as one line of a POSIX shell, and back.
 *
 * SSH carries a command as one text that the remote's shell splits again, so quoting is all that stands between a value and a second
 * command (failure cases SSH-14, SSH-15). Every word is put into single quotes, inside of which a POSIX shell knows no special
 * character at all; also words that need none, because a bare first word may be an alias or a reserved word.
 *
 * @see POSIX.1-2024, Shell Command Language, 2.2.2 Single-Quotes
 */
import { type Misfit, misfit } from './encode.ts';

/** One word in quotes, or why no shell could be given it unchanged. */
export function shellWord(text: string): string | Misfit {
  if (!text.isWellFormed()) return misfit('lone_surrogate', 'must be well-formed Unicode');
  // NUL ends the string for the kernel; line ends end the command for some shells, also inside of quotes.
  if (CONTROL.test(text)) return misfit('control', 'must not contain control characters: it is a word of a command');
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The words a POSIX shell makes of a line of `shellWord`s and single spaces; undefined for anything else. Asked before a line is sent:
 * what it says must be the vector we mean.
 */
export function shellWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    WORD.lastIndex = at;
    const written = WORD.exec(line)?.[0];
    if (written === undefined) return undefined;
    words.push(written.slice(1, -1).replaceAll("'\\''", "'"));
    at += written.length;
    if (at === line.length) return words;
    if (line[at] !== ' ' || at + 1 === line.length) return undefined;
    at += 1;
  }
  return undefined;
}

/** A word of a forced command: plain to every shell, and to whatever compares SSH_ORIGINAL_COMMAND with a text. */
export function isPlainWord(text: string): boolean {
  return /^[A-Za-z0-9_./:,@%+-]+$/.test(text);
}

const WORD = /'[^']*'(?:\\''[^']*')*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is what it is for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
