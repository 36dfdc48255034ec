/**
 * Texts that try to make a surface lie (failure cases APR-06 to APR-09, APR-18). Every surface a person reads - card, command line, columns,
 * Events, webhook - is tried with all of them, so that none lacks what another one has.
 */
import assert from 'node:assert/strict';

export interface HostileText {
  readonly id: string;
  /** What it tries. */
  readonly kind: string;
  readonly text: string;
  /** A line that must never begin a line of a surface: the text tries to write it. */
  readonly forges?: string;
  /** False where the text is nothing but visible letters, and a surface shows it as it is. */
  readonly hidden: boolean;
}

const hides = (id: string, kind: string, text: string, forges?: string): HostileText => ({
  id,
  kind,
  text,
  hidden: true,
  ...(forges === undefined ? {} : { forges }),
});
const plain = (id: string, kind: string, text: string): HostileText => ({ id, kind, text, hidden: false });

const point = (code: number) => String.fromCodePoint(code);

export const HOSTILE_TEXTS: readonly HostileText[] = [
  hides('APR-06.02', 'zero width', 'pay\u200bload'),
  hides('APR-06.03', 'blank-looking letters', 'a\u3164\u3164\u3164b'),
  hides('APR-06.04', 'braille blank', 'a\u2800b'),
  hides('APR-06.05', 'tag characters', `a${point(0xe0041)}${point(0xe0042)}b`),
  hides('APR-06.09', 'wide blanks', `x${'\u2003'.repeat(500)}everything else`),
  plain('APR-06.10', 'markup', '</b><h1>APPROVED</h1>'),
  plain('APR-06.12', 'secret-shaped text', 'SYN-CANARY-0001'),
  hides('APR-06.zwj', 'joiners', 'read\u200d\u200c only'),
  hides('APR-06.bom', 'byte order mark', 'api\ufeff'),
  hides('APR-06.soft', 'soft hyphen', 'prod\u00aduction'),
  hides('APR-06.rlo', 'right-to-left override', 'nginx\u202e gnihtyna\u202c'),
  hides('APR-06.isolate', 'bidi isolates', 'a\u2066b\u2069c\u200f'),
  hides('APR-06.e0100', 'variation selector 17', `api${point(0xe0100)}`),
  hides('APR-06.fe0f', 'variation selector 16', 'api\ufe0f'),
  hides('APR-06.jamo', 'hangul fillers', 'a\u115f\u1160\uffa0b'),
  hides('APR-06.khmer', 'khmer inherent vowels', 'a\u17b4\u17b5b'),
  hides('APR-06.mongolian', 'mongolian selectors', 'a\u180b\u180eb'),
  hides('APR-06.nbsp', 'no-break space', 'a\u00a0b'),
  hides('APR-06.ideographic', 'ideographic space', 'a\u3000b'),
  hides('APR-06.object', 'object replacement', 'a\ufffcb'),
  hides('APR-06.private', 'private use', 'a\ue000b'),
  hides('APR-06.unassigned', 'unassigned', `a${point(0x0378)}b`),
  hides('APR-06.stack', 'stacked marks', `e${'\u0301'.repeat(40)}`),
  hides('APR-06.mark', 'mark without a letter', '\u0336staging'),
  hides('APR-06.lone', 'half of a surrogate pair', 'a\ud800b'),
  hides('APR-06.lone-low', 'the other half', 'a\udc00b'),
  plain('APR-06.homoglyph', 'look-alike letters', '\u0440roduction'),
  plain('APR-06.escape', 'text like our own marks', 'a<U+200B>b <500 more> … (12 characters cut)'),
  hides('APR-07.lf', 'line feed', 'ok\nEnvironment: test', 'Environment: test'),
  hides('APR-07.cr', 'carriage return', 'ok\rEnvironment: test', 'Environment: test'),
  hides('APR-07.crlf', 'both', 'ok\r\n  covers      everything', 'covers      everything'),
  hides('APR-07.nel', 'next line', 'ok\u0085! no doubts', '! no doubts'),
  hides('APR-07.ls', 'line separator', 'ok\u2028APPROVED', 'APPROVED'),
  hides('APR-07.ps', 'paragraph separator', 'ok\u2029APPROVED', 'APPROVED'),
  hides('APR-07.vt', 'vertical tab and form feed', 'ok\u000b\u000cAPPROVED', 'APPROVED'),
  hides('APR-07.tab', 'tabs into the next column', 'ok\t\t\tApproved\t5m'),
  plain('APR-07.markdown', 'markdown', '**APPROVED** [click](https://example.com) ```x```'),
  plain('APR-07.yaml', 'the end of a YAML value', "x'}], status: {state: Approved} #"),
  plain('APR-07.slack', 'mentions', '<!channel> <@U123> *done*'),
  hides('APR-08.spaces', '500 spaces, then text', `ok${' '.repeat(500)}delete everything`),
  hides('APR-08.long', 'a reason of 4 KiB', `Please approve. ${'a'.repeat(4096)} DANGER`),
  hides('APR-08.words', 'padding that a terminal wraps', `${'calm '.repeat(15)}  effect      Read`),
  hides('APR-18.sgr', 'ANSI color', '\u001b[8mhidden\u001b[0m'),
  hides('APR-18.cursor', 'ANSI cursor up and erase', 'ok\u001b[1A\u001b[2Kcovers nothing'),
  hides('APR-18.osc', 'OSC title and hyperlink', '\u001b]0;approved\u0007\u001b]8;;https://example.com\u001b\\here\u001b]8;;\u001b\\'),
  hides('APR-18.c1', 'C1 control sequence introducer', 'ok\u009b2Jgone'),
  hides('APR-18.backspace', 'backspaces over the line', `staging${'\b'.repeat(7)}prod`),
  hides('APR-18.nul', 'zero byte and delete', 'a\u0000b\u007f'),
];

// Written anew, without the sanitizer: what no surface may ever carry, line feeds of its own left out.
const NEVER_SHOWN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}|[\u115f\u1160\u2800\u3164\uffa0\ufffc\ufffd]|(?! )\p{Zs}/gu;

/**
 * Asserts that a surface with `hostile` in it is read as it is meant: nothing invisible, no line of the text's making, no padding.
 * `surface` may have lines of its own.
 */
export function expectHonest(surface: string, hostile: HostileText): void {
  const found = (surface.replaceAll('\n', '').match(NEVER_SHOWN) ?? []).map(
    (character) => `U+${(character.codePointAt(0) ?? 0).toString(16)}`,
  );
  assert.deepEqual(found, [], `${hostile.id} (${hostile.kind}): the surface carries what nobody sees`);
  if (hostile.hidden) assert.ok(!surface.includes(hostile.text), `${hostile.id} (${hostile.kind}): the surface shows the text as it came`);
  const { forges } = hostile;
  if (forges === undefined) return;
  const forged = surface.split('\n').filter((line) => line.trimStart().startsWith(forges));
  assert.deepEqual(forged, [], `${hostile.id} (${hostile.kind}): the text wrote a line of its own`);
}
