/**
 * Text as lines of a fixed width, so that no terminal breaks them elsewhere: a line a terminal breaks goes on in its first column, where our
 * labels stand (APR-08).
 */

/**
 * Lines of at most `columns` columns of a sanitized text of one line. Never empty. A line ends after a whole word, or with `\` inside a
 * word that no line could hold: a value that is broken there never reads like two words.
 */
export function wrapColumns(text: string, columns: number): readonly string[] {
  if (text.length <= columns && ASCII.test(text)) return [text.trimEnd()];
  const lines: string[] = [];
  let line = '';
  let width = 0;
  const put = (unit: string, wide: number) => {
    line += unit;
    width += wide;
  };
  const end = (mark: string) => {
    lines.push(line + mark);
    line = '';
    width = 0;
  };
  for (const [, word = '', blanks = ''] of text.matchAll(/([^ ]*)( *)/gu)) {
    const units = (word.match(UNIT) ?? []).map((unit) => [unit, widthOf(unit)] as const);
    const wide = units.reduce((sum, [, each]) => sum + each, 0);
    const breaks = wide > columns;
    if (!breaks && width + wide > columns) end('');
    for (const [unit, each] of units) {
      if (breaks && width + each > columns - 1) end('\\');
      put(unit, each);
    }
    // Blanks at the end of a full line are not printed: they may stand beyond it.
    put(blanks, blanks.length);
  }
  lines.push(line);
  return lines.map((each) => each.trimEnd());
}

/** One column each. */
const ASCII = /^[ -~]*$/;

/** An escape of the sanitizer stays whole, and a mark stays on its letter. */
const UNIT = /<U\+[0-9A-F]{4,6}>|[^\p{M}]\p{M}*|\p{M}+/gsu;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}])/u;

function widthOf(unit: string): number {
  if (unit.startsWith('<U+')) return unit.length;
  return WIDE.test(unit) ? 2 : 1;
}
