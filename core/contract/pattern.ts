/**
 * Patterns of argument schemas and of `result.lines.match`: RE2 only, so that no text can make one slow (failure case JSON-14).
 *
 * A schema pattern must be anchored at both ends, since `[0-9]+` accepts `rm -rf 1` (failure case JSON-15).
 * `^` and `$` are the ends of the whole text here: RE2 has no multi-line mode unless a flag asks for it, and flags are refused,
 * so `$` does not accept a final line break as in other engines.
 * @see https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS } from '@bufbuild/re2';
import { limits } from '#core/bounds/limits.ts';

/** Holds the text it was made of; `matches` is whole-text and linear in its length. */
export interface Pattern {
  readonly text: string;
  /** Instructions of the compiled program; times the length of a text, the most steps one match can take. */
  readonly states: number;
  readonly matches: (text: string) => boolean;
}

export interface PatternFault {
  readonly code: 'schema-pattern' | 'schema-pattern-unanchored' | 'schema-pattern-nested' | 'out-of-range';
  readonly message: string;
}

export function compilePattern(text: string): Pattern | PatternFault {
  if (text.length > limits.patternCharsMax) {
    return { code: 'out-of-range', message: `The pattern has more than ${limits.patternCharsMax} characters.` };
  }
  const compiled = compileLinear(text);
  if (compiled === undefined) return { code: 'schema-pattern', message: `${JSON.stringify(text)} is not in the linear RE2 dialect.` };
  if (!anchored(text)) {
    return {
      code: 'schema-pattern-unanchored',
      message: `${JSON.stringify(text)} is not anchored at both ends, so it accepts any text around it.`,
    };
  }
  if (repeatsARepetition(text)) {
    return { code: 'schema-pattern-nested', message: `${JSON.stringify(text)} is not in the linear dialect: it repeats a repetition.` };
  }
  return { text, states: compiled.re2().prog.numInst(), matches: (value) => compiled.testExact(value) };
}

/** Named groups of a `lines.match`; nothing when the pattern is not RE2. */
export function groupsOf(text: string): readonly string[] | undefined {
  const compiled = text.length > limits.patternCharsMax ? undefined : compileLinear(text);
  return compiled === undefined ? undefined : [...compiled.namedGroups().keys()];
}

export function isPatternFault(pattern: Pattern | PatternFault): pattern is PatternFault {
  return 'code' in pattern;
}

/** Flags change what `^`, `$` and letters mean, so they are no part of the dialect. */
function compileLinear(text: string): RE2JS | undefined {
  if (/\(\?[a-zA-Z-]+[:)]/.test(text)) return undefined;
  try {
    return RE2JS.compile(text);
  } catch {
    // Not a pattern of RE2 (back-reference, look-around, syntax): the caller reports it.
    return undefined;
  }
}

/** `^...$` around everything: a `|` outside of groups would leave one branch open at one end. */
function anchored(text: string): boolean {
  if (!text.startsWith('^') || !text.endsWith('$') || /(?:^|[^\\])(?:\\\\)*\\\$$/.test(text)) return false;
  let depth = 0;
  for (const token of tokens(text)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === '|' && depth === 0) return false;
  }
  return true;
}

/** One token each: an escape, a whole class, a group's opening, a quantifier, any other character. */
const TOKEN = /\\.|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]|\((?:\?(?:P?<[^>]*>|:))?|[*+?]\??|\{[0-9]+(?:,[0-9]*)?\}\??|[\s\S]/g;

function tokens(text: string): readonly string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => (token.startsWith('(') ? '(' : token));
}

/**
 * `(a+)+`: the body of a repeated group is itself one unbounded repetition. RE2 takes it in linear time, but the schema is shown to
 * agents, whose validators may not, and it says nothing that `a+` does not.
 */
function repeatsARepetition(text: string): boolean {
  // x: an atom, *: an unbounded quantifier, R: a group that is one repetition and nothing else.
  let shape = tokens(text).map(shapeOf).join('');
  for (;;) {
    if (shape.includes('R*')) return true;
    const next = shape.replaceAll(/\(([^()]*)\)/g, (_, body: string) => (body === 'x*' || body === 'R' ? 'R' : 'x'));
    if (next === shape) return false;
    shape = next;
  }
}

function shapeOf(token: string): string {
  if (token === '(' || token === ')' || token === '|') return token;
  if (/^(?:[*+]\??|\{[0-9]+,\}\??)$/.test(token)) return '*';
  return /^(?:\?\??|\{[0-9,]+\}\??|\^|\$)$/.test(token) ? '' : 'x';
}
