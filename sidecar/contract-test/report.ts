/** A failed test for a person: what was expected, what came, and for a request nobody recorded the nearest one that was. */
import type { JsonValue } from '#core/contract/compiled.ts';
import type { Problem } from '#core/contract/problem.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Difference } from './match-request.ts';
import type { CallResult } from './replay-call.ts';
import type { UnmatchedRequest } from './replay-transport.ts';
import type { TestResult } from './run-test.ts';

/** Characters of one value; a recorded body can be large, and its beginning says which one it is. */
const VALUE_CHARS_MAX = 300;

/** Lines without an indent of their own; the first says what failed. */
export function reportFailure(result: TestResult): readonly string[] {
  const lines: string[] = [];
  for (const problem of result.problems) lines.push(describeProblem(problem));
  for (const call of result.calls) lines.push(...reportCall(call, result.calls.length > 1 || result.callsExpected > 1));
  return lines;
}

function describeProblem({ object, path, code, message, cure, nearest }: Problem): string {
  const place = object.file === undefined ? '' : `${object.file}:${object.line ?? 1}: `;
  const hint = nearest === undefined ? '' : ` The nearest name is ${visibleText(nearest)}.`;
  return `${place}${visibleText(path)}: ${code}: ${visibleText(message)}${hint} ${visibleText(cure)}`;
}

function reportCall(call: CallResult, several: boolean): readonly string[] {
  const prefix = several ? `call ${call.index + 1}: ` : '';
  // A request nobody recorded comes first: every other difference may follow from it.
  const lines = call.unmatched.flatMap((unmatched) => reportUnmatched(unmatched, prefix));
  lines.push(...call.differences.map((difference) => `${prefix}${describe(difference)}`));
  if (call.leftOver.length > call.leftOverAllowed) {
    lines.push(`${prefix}exchanges nothing asked for: ${call.leftOver.map((index) => `exchanges[${index}]`).join(', ')}`);
  }
  if (lines.length > 0) lines.push(...reportOutcome(call, prefix));
  return lines;
}

function reportUnmatched({ request, nearest }: UnmatchedRequest, prefix: string): readonly string[] {
  const lines = [`${prefix}a request no exchange fits: ${show(request)}`];
  if (nearest === undefined) return [...lines, '  no exchange is recorded for this call'];
  lines.push(`  nearest: exchanges[${nearest.exchange}]${nearest.taken ? ', which an earlier request took' : ''}`);
  return [...lines, ...nearest.differences.map((difference) => `    ${describe(difference)}`)];
}

function reportOutcome({ outcome, unmatched }: CallResult, prefix: string): readonly string[] {
  if (outcome === undefined) return [];
  const lines = (outcome.completeness?.incomplete_reasons ?? []).map(
    ({ code, message, rule }) => `${prefix}  why ${code}: ${message}${rule === undefined ? '' : ` (rule ${rule})`}`,
  );
  if (outcome.message !== undefined)
    lines.push(`${prefix}  error: ${outcome.message}${(outcome.fields ?? []).map((field) => ` [${field}]`).join('')}`);
  // A request nobody recorded is cause enough.
  if (outcome.code === 'REMOTE_PROTOCOL' && unmatched.length === 0) lines.push(`${prefix}  ${PROTOCOL_CAUSES}`);
  return lines;
}

/** An agent is told no more than the code; the author of a recording has all of them at hand. */
const PROTOCOL_CAUSES =
  'look for: no content-type or one that result.contentTypes lacks, a body that result.decoder cannot read, no list at result.items, a cut body';

function describe({ at, expected, got }: Difference): string {
  return `${visibleText(at)}: expected ${show(expected)}, got ${show(got)}`;
}

function show(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return visibleText(text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}... (${text.length} characters)` : text);
}
