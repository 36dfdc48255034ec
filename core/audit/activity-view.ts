/**
 * What became of each operation: its records put together, one row an operation. A fold over records in the order of their chain, without a
 * clock.
 *
 * Memory: limits.auditViewRowsMax rows; past that the oldest leaves, and what comes of it later is a row of its own. So nothing is left out,
 * whatever the length of a log (AUD-22).
 */
import { limits } from '#core/bounds/limits.ts';
import type { WrittenRecord } from './record.ts';
import { type ChainRecord, countIn, flagIn, jsonIn, memberOf, textIn, textsIn } from './record-members.ts';

/**
 * `unsettled`: it was about to be sent, and the chain does not say what became of it - a crash, a call that runs, or an end that is missing.
 * `asked`: a question to a person, and no call so far. `replayed`: asked again about an operation whose records are not here.
 */
export type ActivityOutcome = 'ok' | 'partial' | 'failed' | 'unknown' | 'refused' | 'unsettled' | 'asked' | 'replayed';

export interface ActivityRow {
  readonly chain: string;
  /** `op_…`; absent for a call that was refused before it was one. */
  readonly operation?: string;
  outcome: ActivityOutcome;
  action?: string;
  effect?: string;
  contract?: string;
  namespace?: string;
  revision?: string;
  /** Absent where it is longer than limits.auditViewJsonCharsMax; the record has it. */
  arguments?: unknown;
  arguments_digest?: string;
  credentials?: readonly string[];
  destinations?: readonly string[];
  approval?: string;
  /** What became of the question: `asked`, `approved`, ... */
  decision?: string;
  approver?: string;
  /** Words of whoever decided. */
  reason?: string;
  /** Code of what failed, is unknown or was refused. */
  code?: string;
  complete?: boolean;
  incomplete_reasons?: readonly string[];
  warnings?: readonly string[];
  rows?: number;
  bytes?: number;
  targets?: unknown;
  /** How often the remote answered with which status. */
  remote?: unknown;
  duration_ms?: number;
  /** How the outcome came to be known later: `start`, `read`, `person`; and by whom. */
  found?: string;
  by?: string;
  /** Requests that were about to leave. */
  intents: number;
  /** Answers from what was known. */
  replays: number;
  /** RFC 3339, of its first record, of its first intent, of its outcome. */
  readonly began_at: string;
  sent_at?: string;
  ended_at?: string;
  last_at: string;
  readonly first_sequence: number;
  last_sequence: number;
}

export class ActivityView {
  readonly #rows = new Map<string, ActivityRow>();

  /** The rows that leave. */
  take({ origin, sequence, record }: ChainRecord): readonly ActivityRow[] {
    const merge = MERGES[record.record];
    if (merge === undefined) return [];
    const operation = textIn(record, 'operation_id');
    // A question may be decided after its call has been forgotten, and a refusal may have no operation: then it stands for itself.
    const key = `${origin} ${operation ?? sequence}`;
    const row = this.#rows.get(key) ?? rowOf(origin, operation, sequence, record);
    merge(row, record);
    row.last_at = textIn(record, 'at') ?? row.last_at;
    row.last_sequence = sequence;
    this.#rows.set(key, row);
    return this.#rows.size > limits.auditViewRowsMax ? this.#oldest() : [];
  }

  /** What is left, in the order of its beginning. */
  rest(): readonly ActivityRow[] {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    return rows;
  }

  #oldest(): readonly ActivityRow[] {
    for (const [key, row] of this.#rows) {
      this.#rows.delete(key);
      return [row];
    }
    return [];
  }
}

function rowOf(chain: string, operation: string | undefined, sequence: number, record: WrittenRecord): ActivityRow {
  const at = textIn(record, 'at') ?? '';
  return {
    chain,
    ...(operation === undefined ? {} : { operation }),
    outcome: 'asked',
    intents: 0,
    replays: 0,
    began_at: at,
    last_at: at,
    first_sequence: sequence,
    last_sequence: sequence,
  };
}

type Merge = (row: ActivityRow, record: WrittenRecord) => void;

const MERGES: Readonly<Partial<Record<string, Merge>>> = {
  intent: (row, record) => {
    row.intents += 1;
    row.sent_at ??= textIn(record, 'at') ?? '';
    // Once more, or the next of several: whatever was known before, something is on its way now.
    row.outcome = 'unsettled';
    delete row.code;
    setTexts(row, record, ['action', 'effect', 'contract', 'namespace', 'revision', 'arguments_digest', 'approval', 'approver']);
    set(row, 'arguments', jsonIn(record, 'arguments'));
    set(row, 'credentials', listIn(record, 'credentials'));
    set(row, 'destinations', listIn(record, 'destinations'));
  },
  outcome: (row, record) => {
    row.outcome = OUTCOMES.find((known) => known === memberOf(record, 'status')) ?? 'unknown';
    set(row, 'ended_at', textIn(record, 'at'));
    delete row.code;
    setTexts(row, record, ['action', 'effect', 'revision', 'code', 'found', 'by']);
    for (const name of ['rows', 'bytes', 'duration_ms'] as const) set(row, name, countIn(record, name));
    set(row, 'complete', flagIn(record, 'complete'));
    set(row, 'incomplete_reasons', listIn(record, 'incomplete_reasons'));
    set(row, 'warnings', listIn(record, 'warnings'));
    set(row, 'targets', jsonIn(record, 'targets'));
    set(row, 'remote', jsonIn(record, 'remote'));
  },
  refused: (row, record) => {
    setTexts(row, record, ['action']);
    // A second caller of one operation may be refused while the first one's call runs.
    if (row.intents > 0) return;
    row.outcome = 'refused';
    set(row, 'ended_at', textIn(record, 'at'));
    setTexts(row, record, ['code']);
    set(row, 'duration_ms', countIn(record, 'duration_ms'));
  },
  replayed: (row, record) => {
    row.replays += 1;
    setTexts(row, record, ['action']);
    if (row.outcome === 'asked' && row.decision === undefined) row.outcome = 'replayed';
  },
  approval: (row, record) => {
    setTexts(row, record, ['action', 'contract', 'revision', 'arguments_digest', 'approval', 'approver', 'reason']);
    set(row, 'decision', textIn(record, 'event'));
  },
};

const OUTCOMES = ['ok', 'partial', 'failed', 'unknown'] as const;

type Texts =
  | 'action'
  | 'effect'
  | 'contract'
  | 'namespace'
  | 'revision'
  | 'arguments_digest'
  | 'approval'
  | 'approver'
  | 'reason'
  | 'code'
  | 'found'
  | 'by';

function setTexts(row: ActivityRow, record: WrittenRecord, names: readonly Texts[]): void {
  for (const name of names) set(row, name, textIn(record, name));
}

function listIn(record: WrittenRecord, name: string): readonly string[] | undefined {
  const list = textsIn(record, name);
  return list.length === 0 ? undefined : list;
}

/** What a later record does not say is kept. */
function set<Name extends keyof ActivityRow>(row: ActivityRow, name: Name, value: ActivityRow[Name] | undefined): void {
  if (value !== undefined) row[name] = value;
}
