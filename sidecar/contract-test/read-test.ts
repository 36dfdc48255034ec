/**
 * Reads a ContractTest object strictly: an expectation with a slip of the pen would otherwise pass for ever.
 */
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue, Problem } from '#core/contract/compiled.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import type { SpecPath } from '#core/contract/spec-path.ts';
import { INCOMPLETE_REASONS, REASONS, type Reason, WARNING_CODES } from '#core/error/reasons.ts';
import type { ContractTest, Expectation, RecordedCall } from './contract-test.ts';
import { FieldReader } from './field-reader.ts';
import { readExchanges } from './read-exchange.ts';

/** Start of every clock that no test sets; fixed, so that no recording rots. */
const DEFAULT_NOW = '2026-01-01T00:00:00Z';

/** The test, or every problem that keeps it from being one. Never both. */
export type TestRead =
  | { readonly test: ContractTest; readonly problems: readonly [] }
  | { readonly test?: never; readonly problems: readonly Problem[] };

/** Reads an object of kind ContractTest, its frame already checked. */
export function readContractTest(object: ResourceObject): TestRead {
  const reader = new FieldReader(object);
  const members = ['contract', 'arguments', 'now', 'onePage', 'deadline', 'exchanges', 'expect', 'resume'];
  const spec = reader.members(object.spec, ['spec'], members, ['contract', 'exchanges', 'expect']);
  const deadlineMs = reader.duration(spec.deadline, ['spec', 'deadline']);
  const test: ContractTest = {
    name: object.name,
    namespace: object.namespace,
    ...(object.source === undefined ? {} : { file: object.source.file }),
    contract: reader.text(spec.contract, ['spec', 'contract']) ?? '',
    arguments: reader.map(spec.arguments, ['spec', 'arguments']),
    nowMs: reader.time(spec.now ?? DEFAULT_NOW, ['spec', 'now']) ?? 0,
    onePage: reader.flag(spec.onePage, ['spec', 'onePage']) ?? false,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    calls: readCalls(spec, reader),
  };
  return reader.problems.length === 0 ? { test, problems: [] } : { problems: reader.problems };
}

function readCalls(spec: Readonly<Record<string, JsonValue>>, reader: FieldReader): readonly RecordedCall[] {
  const calls: RecordedCall[] = [];
  let path: SpecPath = ['spec'];
  let afterMs = 0;
  for (let call: Readonly<Record<string, JsonValue>> | undefined = spec; call !== undefined; ) {
    calls.push({
      afterMs,
      exchanges: readExchanges(call.exchanges, [...path, 'exchanges'], reader),
      expect: readExpectation(call.expect, [...path, 'expect'], reader),
    });
    const next: JsonValue | undefined = call.resume;
    if (next === undefined) return calls;
    const returned = calls.at(-1)?.expect.continuation;
    if (returned !== 'next_cursor' && returned !== 'retry_after') {
      reader.problem(
        [...path, 'resume'],
        'no-cursor',
        'The call before expects no cursor to go on with.',
        'Expect continuation next_cursor or retry_after, or drop resume.',
      );
    }
    path = [...path, 'resume'];
    if (calls.length >= limits.recordedCallsMax) {
      reader.problem(path, 'too-many', `A test has at most ${limits.recordedCallsMax} calls.`, 'Write several tests.');
      return calls;
    }
    call = reader.members(next, path, ['after', 'exchanges', 'expect', 'resume'], ['exchanges', 'expect']);
    afterMs = reader.duration(call.after, [...path, 'after']) ?? 0;
  }
  return calls;
}

const EXPECTED = [
  'status',
  'code',
  'reasons',
  'warnings',
  'continuation',
  'items',
  'data',
  'omitted',
  'consistency',
  'retryAfter',
  'sources',
  'unconsumed',
] as const;
const CONTINUATIONS = ['next_cursor', 'retry_after', 'narrow_query', 'retry_with_deadline', 'restart', 'none'] as const;

function readExpectation(value: JsonValue | undefined, path: SpecPath, reader: FieldReader): Expectation {
  const expect = reader.members(value, path, EXPECTED, ['status']);
  const status = reader.word(expect.status, [...path, 'status'], ['ok', 'partial', 'error']) ?? 'ok';
  const code = reader.word(expect.code, [...path, 'code'], Object.keys(REASONS) as Reason[]);
  const items = reader.wholeNumber(expect.items, [...path, 'items'], 0, Number.MAX_SAFE_INTEGER);
  const consistency = reader.word(expect.consistency, [...path, 'consistency'], ['checked', 'declared', 'single_page', 'unproven']);
  const retryAfterMs = reader.duration(expect.retryAfter, [...path, 'retryAfter']);
  const result: Expectation = {
    status,
    ...(code === undefined ? {} : { code }),
    reasons: reader.words(expect.reasons, [...path, 'reasons'], INCOMPLETE_REASONS),
    warnings: reader.words(expect.warnings, [...path, 'warnings'], WARNING_CODES),
    continuation: reader.word(expect.continuation, [...path, 'continuation'], CONTINUATIONS) ?? 'none',
    ...(items === undefined ? {} : { items }),
    ...(expect.data === undefined ? {} : { data: expect.data }),
    ...(expect.omitted === undefined ? {} : { omitted: readOmitted(expect.omitted, [...path, 'omitted'], reader) }),
    ...(consistency === undefined ? {} : { consistency }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(expect.sources === undefined ? {} : { sources: readTexts(expect.sources, [...path, 'sources'], reader) }),
    unconsumed: reader.wholeNumber(expect.unconsumed, [...path, 'unconsumed'], 0, limits.recordedExchangesMax) ?? 0,
  };
  checkSense(result, path, reader);
  return result;
}

/** An expectation no outcome can ever meet is a slip, and is said here instead of as a puzzling difference. */
function checkSense(expect: Expectation, path: SpecPath, reader: FieldReader): void {
  if (expect.status === 'error' && expect.code === undefined) {
    reader.problem(
      [...path, 'code'],
      'missing-field',
      'An expected error needs its code.',
      'Write code: REMOTE_DENIED, or the one you expect.',
    );
  }
  if (expect.status !== 'error' && expect.code !== undefined) {
    reader.problem([...path, 'code'], 'contradiction', 'Only an error has a code.', 'Write status: error, or drop code.');
  }
  if (expect.status === 'ok' && expect.reasons.length > 0) {
    reader.problem([...path, 'reasons'], 'contradiction', 'A complete answer has no reasons.', 'Write status: partial, or drop reasons.');
  }
  if (expect.status === 'partial' && expect.reasons.length === 0) {
    reader.problem([...path, 'reasons'], 'missing-field', 'A partial answer always has a reason.', 'Name every reason you expect.');
  }
  if (expect.status === 'error' && (expect.items !== undefined || expect.data !== undefined || expect.omitted !== undefined)) {
    reader.problem(path, 'contradiction', 'An error returns no data.', 'Drop items, data and omitted.');
  }
}

function readTexts(value: JsonValue, path: SpecPath, reader: FieldReader): readonly string[] {
  return reader.list(value, path).map((item, index) => reader.text(item, [...path, index]) ?? '');
}

function readOmitted(value: JsonValue, path: SpecPath, reader: FieldReader): readonly { readonly path: string; readonly cause: string }[] {
  return reader.list(value, path).map((item, index) => {
    const entry = reader.members(item, [...path, index], ['path', 'cause'], ['path', 'cause']);
    return {
      path: reader.text(entry.path, [...path, index, 'path']) ?? '',
      cause:
        reader.word(entry.cause, [...path, index, 'cause'], ['NOT_REQUESTED', 'NOT_PERMITTED', 'SOURCE_FAILED', 'ABSENT', 'UNKNOWN']) ?? '',
    };
  });
}
