/**
 * What the journal writes: one fact a record, as JSON with a version, so that a reader that does not know it says so instead of guessing.
 *
 *   {"v":1,"kind":"intent","id":"op_…","index":0}
 *
 * A record of a later version, of an unknown kind, or with a member this reader does not know refuses the whole journal: whoever
 * skipped it could send again what a newer release has sent already.
 */
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Entry, OperationRecord, Phase, Step } from './entry.ts';

export type JournalRecord =
  | { readonly kind: 'plan'; readonly id: string; readonly record: OperationRecord }
  | { readonly kind: 'begin'; readonly id: string; readonly approval?: string }
  | { readonly kind: 'again'; readonly id: string }
  | { readonly kind: 'intent'; readonly id: string; readonly index: number }
  | { readonly kind: 'step'; readonly id: string; readonly index: number; readonly state: 'done' | 'notDone' | 'unknown' }
  | { readonly kind: 'end'; readonly id: string; readonly phase: EndPhase; readonly atMs: number; readonly outcome?: JsonValue }
  | { readonly kind: 'resolve'; readonly id: string; readonly verdict: 'done' | 'notDone'; readonly by: string; readonly atMs: number }
  /** What a start makes of an operation that the last process left running. */
  | { readonly kind: 'restart'; readonly id: string; readonly phase: 'planned' | EndPhase; readonly atMs: number }
  /** Forgotten: over for longer than it is kept, or in the way of a new one. */
  | { readonly kind: 'drop'; readonly id: string }
  /** Null forgets the name. */
  | { readonly kind: 'keep'; readonly name: string; readonly value: JsonValue }
  /** A whole entry, and how often an approval was used, when the log is rewritten with what still counts. */
  | { readonly kind: 'entry'; readonly id: string; readonly entry: Entry }
  | { readonly kind: 'uses'; readonly approval: string; readonly count: number };

export type EndPhase = 'done' | 'failed' | 'unknown';
export type OperationJournalRecord = Exclude<JournalRecord, { kind: 'keep' | 'uses' }>;

const VERSION = 1;

export function encodeJournalRecord(record: JournalRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, ...record }));
}

/** Throws AUDIT_UNAVAILABLE with a sentence that names what is not understood. The bytes are whole: the log has checked them. */
export function decodeJournalRecord(bytes: Uint8Array): JournalRecord {
  // Not the reader for hostile text: it refuses numbers that lose digits, and an outcome repeats what a remote sent.
  const value = parse(bytes);
  if (!isObject(value) || typeof value.v !== 'number') throw unreadable('a record that is no object with a version');
  if (value.v !== VERSION) throw unreadable(`a record of version ${value.v}`);
  const kind = value.kind;
  const shape = typeof kind === 'string' && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as JournalRecord['kind']] : undefined;
  if (shape === undefined) throw unreadable('a record whose kind');
  const { v: _, kind: __, ...members } = value;
  matches(members, shape, String(kind));
  return { ...members, kind } as unknown as JournalRecord;
}

type Test = (value: unknown) => boolean;
interface Shape {
  readonly [member: string]: Test | { readonly optional: Test };
}

const text: Test = (value) => typeof value === 'string';
const whole: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const time: Test = (value) => typeof value === 'number' && Number.isFinite(value);
const json: Test = (value) => value !== undefined;
const oneOf =
  (...words: readonly string[]): Test =>
  (value) =>
    words.includes(value as string);
const object =
  (shape: Shape): Test =>
  (value) =>
    isObject(value) && fault(value, shape) === undefined;
const list =
  (item: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(item);

const STEP_STATES: readonly Step['state'][] = ['sent', 'done', 'notDone', 'unknown'];
const PHASES: readonly Phase[] = ['planned', 'running', 'done', 'failed', 'unknown'];
const end = oneOf('done', 'failed', 'unknown');
const verdict = oneOf('done', 'notDone');

const OPERATION: Shape = {
  operationId: text,
  requestId: text,
  action: text,
  contract: text,
  revision: text,
  argsDigest: text,
  planDigest: text,
  effect: oneOf('Read', 'Write', 'Destructive'),
  idempotency: oneOf('None', 'Natural', 'Key'),
  plannedAtMs: time,
  expiresAtMs: time,
  plan: json,
};

const ENTRY: Shape = {
  record: object(OPERATION),
  phase: oneOf(...PHASES),
  approval: { optional: text },
  use: { optional: object({ approval: text, nth: whole }) },
  steps: list(object({ index: whole, state: oneOf(...STEP_STATES) })),
  endedAtMs: { optional: time },
  outcome: { optional: json },
  interrupted: { optional: (value) => value === true },
  resolution: { optional: object({ verdict, by: text, atMs: time }) },
};

const SHAPES: Readonly<Record<JournalRecord['kind'], Shape>> = {
  plan: { id: text, record: object(OPERATION) },
  begin: { id: text, approval: { optional: text } },
  again: { id: text },
  intent: { id: text, index: whole },
  step: { id: text, index: whole, state: oneOf('done', 'notDone', 'unknown') },
  end: { id: text, phase: end, atMs: time, outcome: { optional: json } },
  resolve: { id: text, verdict, by: text, atMs: time },
  restart: { id: text, phase: oneOf('planned', 'done', 'failed', 'unknown'), atMs: time },
  drop: { id: text },
  keep: { name: text, value: json },
  entry: { id: text, entry: object(ENTRY) },
  uses: { approval: text, count: whole },
};

function matches(members: Readonly<Record<string, unknown>>, shape: Shape, kind: string): void {
  const member = fault(members, shape);
  if (member !== undefined) throw unreadable(`a record of kind ${kind} whose member ${member}`);
}

/** The first member that is missing, wrong, or not known. */
function fault(value: Readonly<Record<string, unknown>>, shape: Shape): string | undefined {
  const unknown = Object.keys(value).find((member) => !Object.hasOwn(shape, member));
  if (unknown !== undefined) return unknown;
  return Object.keys(shape).find((member) => {
    const test = shape[member];
    if (typeof test === 'function') return !test(value[member]);
    return value[member] !== undefined && test?.optional(value[member]) !== true;
  });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw unreadable('a record that is not JSON in UTF-8', cause);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(what: string, cause?: unknown): PosternError {
  return new PosternError(
    'AUDIT_UNAVAILABLE',
    `The journal holds ${what} this release does not understand. Start the release that wrote it, or a newer one: skipping the record could repeat an effect.`,
    { cause },
  );
}
