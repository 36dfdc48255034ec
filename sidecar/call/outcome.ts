/**
 * What became of an operation that changes something: told to whoever asked, kept in the journal, told again to whoever asks later.
 */

import { limits } from '#core/bounds/limits.ts';
import type { Completeness, Envelope } from '#core/completeness/envelope.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { type OperationFacts, PosternError, type PosternErrorOptions } from '#core/error/postern-error.ts';
import type { Reason } from '#core/error/reasons.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { ExecuteResult, StepView } from './calls.ts';
import type { Target } from './plan.ts';

export type Outcome = Ended & {
  /** One a target, in order. */
  readonly steps: readonly StepView[];
};

type Ended =
  | { readonly phase: 'done'; readonly result: ExecuteResult }
  /** `failed`: not all targets, or none, took effect. `unknown`: at least one is in doubt. */
  | { readonly phase: 'failed' | 'unknown'; readonly error: PosternError };

/** The result, or the error thrown, as the first caller got it. */
export function tell(outcome: Outcome, requestId: string): ExecuteResult {
  if (outcome.phase === 'done') return outcome.result;
  const error = outcome.error.forCall({ requestId });
  told.add(error);
  throw error;
}

const told = new WeakSet<PosternError>();

/** Whether an error is the outcome of an operation, which its recorder has heard, and not the refusal of a call. */
export function isOutcome(error: PosternError): boolean {
  return told.has(error);
}

/** As the journal keeps it: at most limits.journalOutcomeBytesMax, so that the journal never has to drop it whole. */
export function outcomeJson(outcome: Outcome): JsonValue {
  const whole = written(outcome);
  if (Buffer.byteLength(JSON.stringify(whole)) <= limits.journalOutcomeBytesMax || outcome.phase !== 'done') return whole;
  const { result } = outcome;
  const short = withoutAnswer('The answer was too large to keep; it took effect.');
  return written({ ...outcome, result: { ...result, ...short } });
}

function written(outcome: Outcome): JsonValue {
  const steps = outcome.steps.map((step) => ({ ...step }));
  if (outcome.phase !== 'done') return json({ steps, error: errorParts(outcome.error) });
  const { envelope, dataJson, requestId, revision } = outcome.result;
  return json({ steps, requestId, revision, envelope, data: Buffer.from(dataJson).toString('utf8') });
}

function json(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

function errorParts(error: PosternError) {
  const { reason, message, fields, details, retryAfterMs, completeness, operation, requestId } = error;
  return { reason, message, fields, details, retryAfterMs, completeness, operation, requestId };
}

/** The same error with how far its operation got. */
export function errorWith(error: PosternError, operation: OperationFacts): PosternError {
  const { message, cause, operationId, ...parts } = { ...errorParts(error), cause: error.cause, operationId: error.operationId };
  return new PosternError(error.reason, message, defined({ ...parts, cause, operationId, operation }));
}

function defined(options: { readonly [Name in keyof PosternErrorOptions]: PosternErrorOptions[Name] | undefined }): PosternErrorOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

interface WrittenError extends Omit<PosternErrorOptions, 'cause'> {
  readonly reason: Reason;
  readonly message: string;
}

interface Written {
  readonly steps: readonly StepView[];
  readonly error?: WrittenError;
  readonly requestId?: string;
  readonly revision?: string;
  readonly envelope?: Omit<Envelope, 'data'>;
  readonly data?: string;
}

/**
 * What the journal says of an operation that has ended; `targets` are what it has. What was found out later wins over what was told
 * first; what died with its process says so.
 */
export function recordedOutcome(entry: Entry, targets: readonly Target[]): Outcome {
  const { record, phase, outcome, resolution } = entry;
  const kept = isWritten(outcome) ? outcome : undefined;
  const steps = kept?.steps ?? journalSteps(entry, targets);
  const { operationId } = record;
  if (resolution !== undefined) return resolved(entry, steps);
  // Begun in this process and not ended: what came of it could not be written.
  if (phase === 'unknown' || phase === 'running')
    return { phase: 'unknown', steps, error: keptError(kept, operationId) ?? interruptedError(operationId) };
  if (phase === 'failed') return { phase, steps, error: keptError(kept, operationId) ?? stoppedError(operationId, steps) };
  if (kept?.envelope !== undefined) return { phase: 'done', steps, result: keptResult(entry, kept, kept.envelope, steps) };
  // A start that found some requests done and the rest never sent: not all took effect.
  if (steps.some(({ state }) => state !== 'done')) return { phase: 'failed', steps, error: stoppedError(operationId, steps) };
  return {
    phase: 'done',
    steps,
    result: resultWithout(entry, steps, 'It took effect; Postern was ended before it could keep the answer.'),
  };
}

function resolved(entry: Entry, steps: readonly StepView[]): Outcome {
  const { operationId } = entry.record;
  const done = entry.resolution?.verdict === 'done';
  const found = steps.map((step): StepView => (inDoubt(step) ? { ...step, state: done ? 'done' : 'refused' } : step));
  if (found.every(({ state }) => state === 'done'))
    return {
      phase: 'done',
      steps: found,
      result: resultWithout(entry, found, 'It took effect, as was found out later; the answer was lost.'),
    };
  return {
    phase: 'failed',
    steps: found,
    error: new PosternError(
      'REMOTE_UNAVAILABLE',
      'It did not take effect, or not at all targets, as was found out later. A new call is a new operation.',
      { operationId, operation: { targets: countSteps(found) } },
    ),
  };
}

function inDoubt({ state }: StepView): boolean {
  return state === 'unknown' || state === 'sent';
}

function keptResult(entry: Entry, kept: Written, envelope: Omit<Envelope, 'data'>, steps: readonly StepView[]): ExecuteResult {
  const { operationId, action, revision, requestId } = entry.record;
  return {
    requestId: kept.requestId ?? requestId,
    operationId,
    action,
    revision: kept.revision ?? revision,
    envelope,
    dataJson: Buffer.from(kept.data ?? '{}', 'utf8'),
    steps,
  };
}

function resultWithout({ record }: Entry, steps: readonly StepView[], because: string): ExecuteResult {
  const { operationId, action, revision, requestId } = record;
  return { requestId, operationId, action, revision, steps, ...withoutAnswer(because) };
}

/** It took effect, and what the remote said of it is not here. `because`: our own sentence. */
export function withoutAnswer(because: string): Pick<ExecuteResult, 'envelope' | 'dataJson'> {
  const completeness: Completeness = {
    complete: false,
    truncated: false,
    incomplete_reasons: [{ code: 'COMPLETENESS_UNPROVEN', message: because, origin: 'sidecar' }],
    continuation: { kind: 'none' },
    scope: { resource: '', visibility: '', exclusions: [], absence: 'never', consistency: 'unproven' },
    page: { returned: 0, walk: { returned: 0, calls: 1, pages: 0 } },
    sources: [],
    budget: { deadline_ms: 0, spent_ms: 0, waited_ms: 0 },
  };
  return { envelope: { status: 'partial', completeness, warnings: [], omitted_fields: [] }, dataJson: Buffer.from('{}', 'utf8') };
}

function keptError(kept: Written | undefined, operationId: string): PosternError | undefined {
  if (kept?.error === undefined) return undefined;
  const { reason, message, ...options } = kept.error;
  return new PosternError(reason, message, { ...options, operationId });
}

function interruptedError(operationId: string): PosternError {
  return new PosternError(
    'OUTCOME_UNKNOWN',
    'Postern was ended after the request was sent and before its outcome was known. Nobody can tell whether it took effect.',
    { operationId },
  );
}

function stoppedError(operationId: string, steps: readonly StepView[]): PosternError {
  return new PosternError(
    'REMOTE_UNAVAILABLE',
    'Postern was ended before all requests of this operation were sent; what it did stands in its steps.',
    {
      operationId,
      operation: { targets: countSteps(steps) },
    },
  );
}

/** What the journal alone says of the requests of an operation. */
export function journalSteps({ steps }: Entry, targets: readonly Target[]): readonly StepView[] {
  const states = new Map(steps.map(({ index, state }) => [index, state]));
  return targets.map(({ index, element }): StepView => {
    const state = states.get(index);
    return {
      index,
      state: state === undefined ? 'untouched' : state === 'notDone' ? 'refused' : state,
      ...(element === undefined ? {} : { elementJson: JSON.stringify(element.value) }),
    };
  });
}

export function countSteps(steps: readonly StepView[]): NonNullable<OperationFacts['targets']> {
  const count = (...states: readonly StepView['state'][]) => steps.filter(({ state }) => states.includes(state)).length;
  return { done: count('done'), refused: count('refused'), untouched: count('untouched'), unknown: count('unknown', 'sent') };
}

/** Ours, since only we write there; the journal puts something else where an outcome was too large for it. */
function isWritten(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && 'steps' in value && Array.isArray(value.steps);
}
