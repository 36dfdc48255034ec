/**
 * The text type of the argument dialect: bounds in code points and bytes, enum, pattern, format, identifier or free text.
 */

import { limits } from '#core/bounds/limits.ts';
import { nearestName } from './nearest.ts';
import { compilePattern, isPatternFault, type Pattern } from './pattern.ts';
import type { FreeText, TextFormat, TextSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';
import { identifierFault } from './text-rules.ts';

const FORMATS: readonly [TextFormat, ...TextFormat[]] = ['date', 'date-time', 'uuid'];
/** Longest text of each format, in characters; all are ASCII. RFC 3339 with nine digits of fraction and an offset has 35. */
const FORMAT_CHARS: Readonly<Record<TextFormat, number>> = { date: 10, 'date-time': 35, uuid: 36 };

export function compileText(node: SpecNode): TextSchema {
  const allowed = enumOf(node.maybe('enum'));
  const format = formatOf(node.maybe('format'));
  const pattern = patternOf(node.maybe('pattern'));
  const free = freeTextOf(node.maybe('x-postern-text'));
  const maxLength = maxLengthOf(node, allowed, format);
  const minLength = node.maybe('minLength')?.count(0) ?? 0;
  if (minLength > maxLength) node.at('minLength').problem('schema-bounds', 'minLength is above maxLength.');
  if (pattern !== undefined) checkPatternCost(node.at('pattern'), pattern, maxLength);
  const bytes = node.maybe('x-postern-max-bytes')?.count(1, limits.argumentTextBytesMax);
  return {
    type: 'string',
    ...(allowed === undefined ? {} : { enum: allowed }),
    minLength,
    maxLength,
    maxBytes: bytes ?? Math.min(maxLength * 4, limits.argumentTextBytesMax),
    ...(pattern === undefined ? {} : { pattern }),
    ...(format === undefined ? {} : { format }),
    ...(free === undefined ? {} : { free }),
  };
}

/** An enum and a format bound a text by themselves; anything else must say its bound. */
function maxLengthOf(node: SpecNode, allowed: readonly string[] | undefined, format: TextFormat | undefined): number {
  const written = node.maybe('maxLength');
  if (written !== undefined) return written.count(1, limits.argumentTextCharsMax);
  if (allowed !== undefined) return Math.max(0, ...allowed.map((value) => [...value].length));
  if (format !== undefined) return FORMAT_CHARS[format];
  node.problem('schema-unbounded', 'The text has no maxLength.');
  return limits.argumentTextCharsMax;
}

function enumOf(node: SpecNode | undefined): readonly string[] | undefined {
  if (node === undefined) return undefined;
  const values = node.list().map((entry) => {
    const value = entry.text();
    const fault = identifierFault(value);
    if (fault !== undefined)
      entry.problem('schema-enum', `A label ${fault.message}.`, { cure: 'Use plain labels; resolve maps them to anything.' });
    return value;
  });
  checkEnum(node, values);
  return values;
}

function formatOf(node: SpecNode | undefined): TextFormat | undefined {
  if (node === undefined) return undefined;
  const found = FORMATS.find((format) => format === node.value);
  if (found === undefined) {
    const nearest = typeof node.value === 'string' ? nearestName(node.value, FORMATS) : undefined;
    node.problem('schema-unknown-format', `${JSON.stringify(node.value)} is none of ${FORMATS.join(', ')}.`, { nearest });
  }
  return found;
}

function patternOf(node: SpecNode | undefined): Pattern | undefined {
  if (node === undefined) return undefined;
  const pattern = compilePattern(node.text());
  if (!isPatternFault(pattern)) return pattern;
  node.problem(pattern.code, pattern.message);
  return undefined;
}

/** RE2 is linear in the text, but the factor is the size of the pattern, and `{0,900}` counts 900 times. */
function checkPatternCost(node: SpecNode, pattern: Pattern, maxLength: number): void {
  if (pattern.states * maxLength <= limits.patternStepsMax) return;
  node.problem('schema-pattern', `The pattern has ${pattern.states} states; on ${maxLength} characters it could block every other call.`, {
    cure: 'Write + and * instead of counted repetitions and let maxLength bound the text, or lower maxLength.',
  });
}

const TEXT_KEYS = ['render', 'mentions', 'lines'];

function freeTextOf(node: SpecNode | undefined): FreeText | undefined {
  if (node === undefined) return undefined;
  for (const [name, held] of node.entries()) {
    if (!TEXT_KEYS.includes(name))
      held.problem('schema-text', `x-postern-text has no ${JSON.stringify(name)}.`, { nearest: nearestName(name, TEXT_KEYS) });
  }
  const render = node.at('render').choice(['plain', 'markdown', 'jiraWiki']);
  const mentions = node.maybe('mentions')?.choice(['refuse', 'escape']) ?? (render === 'plain' ? undefined : 'refuse');
  const lines = node.maybe('lines')?.count(1, limits.visibleTextLinesMax) ?? 1;
  return { render, lines, ...(mentions === undefined ? {} : { mentions }) };
}

/** Shared by texts and numbers: not empty, bounded, without repeats. */
export function checkEnum(node: SpecNode, values: readonly (string | number)[]): void {
  if (values.length === 0) node.problem('schema-enum', 'The enum is empty, so no value can pass.');
  if (values.length > limits.argumentEnumMax) node.problem('schema-enum', `The enum has more than ${limits.argumentEnumMax} values.`);
  if (new Set(values).size !== values.length) node.problem('schema-enum', 'The enum repeats a value.');
}
