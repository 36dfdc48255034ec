/** What one call came to, in the words an expectation uses, and where the two differ. */
import { isDeepStrictEqual } from 'node:util';
import type { Completeness, OmittedField, RaisedWarning } from '#core/completeness/envelope.ts';
import { isObject } from '#core/completeness/path.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { Reason } from '#core/error/reasons.ts';
import type { Expectation } from './contract-test.ts';
import type { Difference } from './match-request.ts';

export interface Outcome {
  readonly status: 'ok' | 'partial' | 'error';
  /** For an error. */
  readonly code?: Reason;
  readonly message?: string;
  /** Broken rules of arguments, `path: rule`. */
  readonly fields?: readonly string[];
  readonly completeness?: Completeness;
  readonly retryAfterMs?: number;
  readonly warnings: readonly RaisedWarning[];
  readonly omitted: readonly OmittedField[];
  readonly data?: JsonValue;
  /** Rows this call returned; 1 for a single object. */
  readonly items?: number;
}

/** Differences of data named one by one before the rest is only counted. */
const DATA_DIFFERENCES_MAX = 10;

/** Empty when the outcome is the expected one. */
export function compareOutcome(expect: Expectation, outcome: Outcome): readonly Difference[] {
  const differences: Difference[] = [];
  const same = (at: string, expected: JsonValue | undefined, got: JsonValue | undefined): void => {
    if (!isDeepStrictEqual(expected, got)) differences.push({ at, expected, got });
  };
  same('status', expect.status, outcome.status);
  same('code', expect.code, outcome.code);
  same('reasons', asSet(expect.reasons), asSet((outcome.completeness?.incomplete_reasons ?? []).map(({ code }) => code)));
  same('warnings', asSet(expect.warnings), asSet(outcome.warnings.map(({ code }) => code)));
  same('continuation', expect.continuation, outcome.completeness?.continuation.kind ?? 'none');
  if (expect.items !== undefined) same('items', expect.items, outcome.items);
  if (expect.consistency !== undefined) same('consistency', expect.consistency, outcome.completeness?.scope.consistency);
  if (expect.retryAfterMs !== undefined) same('retryAfter', expect.retryAfterMs, retryAfter(outcome));
  if (expect.sources !== undefined) same('sources', asSet(expect.sources), asSet(sourcesOf(outcome)));
  if (expect.omitted !== undefined) same('omitted', sortedOmitted(expect.omitted), sortedOmitted(outcome.omitted));
  if (expect.data !== undefined) compareData(expect.data, outcome.data, 'data', differences);
  return differences;
}

function retryAfter(outcome: Outcome): number | undefined {
  const continuation = outcome.completeness?.continuation;
  return continuation?.kind === 'retry_after' ? continuation.retry_after_ms : outcome.retryAfterMs;
}

function sourcesOf(outcome: Outcome): readonly string[] {
  return (outcome.completeness?.incomplete_reasons ?? []).flatMap(({ sources }) => sources ?? []);
}

function asSet(words: readonly string[]): readonly string[] {
  return [...new Set(words)].sort();
}

function sortedOmitted(omitted: readonly { readonly path: string; readonly cause: string }[]): JsonValue {
  const entries = omitted.map(({ path, cause }) => ({ path, cause }));
  return entries.sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
}

/** Exact, and told at the deepest place where it still makes sense. */
function compareData(expected: JsonValue | undefined, got: JsonValue | undefined, at: string, differences: Difference[]): void {
  if (differences.length >= DATA_DIFFERENCES_MAX) return;
  if (isObject(expected) && isObject(got)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      compareData(own(expected, name), own(got, name), `${at}/${name}`, differences);
    }
    return;
  }
  if (Array.isArray(expected) && Array.isArray(got)) {
    if (expected.length !== got.length) differences.push({ at: `${at} (length)`, expected: expected.length, got: got.length });
    for (const [index, item] of expected.slice(0, got.length).entries()) compareData(item, got[index], `${at}/${index}`, differences);
    return;
  }
  if (!isDeepStrictEqual(expected, got)) differences.push({ at, expected, got });
}

function own(value: { readonly [key: string]: JsonValue }, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
