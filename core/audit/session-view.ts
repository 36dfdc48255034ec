/**
 * What each session did: one row a chain, which is one pod or one standalone installation. A fold over records in the order of their chain,
 * without a clock. Memory: limits.auditViewListMax entries in each list of a row; what does not fit is counted.
 */
import { limits } from '#core/bounds/limits.ts';
import type { WrittenRecord } from './record.ts';
import { type ChainRecord, countIn, flagIn, memberOf, textIn, textsIn } from './record-members.ts';

export interface SessionRow {
  readonly chain: string;
  session?: string;
  pod?: string;
  service_account?: string;
  /** `name@sha256:...`, or the name alone. */
  image?: string;
  controller?: string;
  version?: string;
  /** RFC 3339. */
  started_at?: string;
  /** Of the last end in order; absent while it has gone on since, or never ended so. */
  ended_at?: string;
  /** Processes that took calls: more than one says that it was started again. */
  starts: number;
  bundles: number;
  /** As the last one says. */
  state?: string;
  /** Whether it was recorded on, where somebody turned that off or on. */
  recording?: boolean;
  readonly states: { readonly at: string; readonly state: string; readonly because?: string }[];
  readonly actions: ActionCounts[];
  incomplete_reads: number;
  warned_reads: number;
  /** Events of questions to a person. */
  readonly approvals: Record<ApprovalEvent, number>;
  /** Other requests, and what was counted instead of recorded one by one. */
  requests: number;
  counted: number;
  /** What did not fit into `states` and `actions`. */
  left_out: number;
  last_at: string;
  readonly first_sequence: number;
  last_sequence: number;
}

export interface ActionCounts {
  readonly action: string;
  effect?: string;
  /** Calls that were about to be sent, those that were refused, those that were answered from what was known. */
  sent: number;
  refused: number;
  replayed: number;
  ok: number;
  partial: number;
  failed: number;
  unknown: number;
}

const APPROVAL_EVENTS = ['asked', 'approved', 'denied', 'expired', 'void', 'used'] as const;
type ApprovalEvent = (typeof APPROVAL_EVENTS)[number];
const STATUSES = ['ok', 'partial', 'failed', 'unknown'] as const;

export class SessionView {
  readonly #rows = new Map<string, SessionRow>();

  take({ origin, sequence, record }: ChainRecord): void {
    const row = this.#rows.get(origin) ?? emptyRow(origin, sequence);
    this.#rows.set(origin, row);
    row.last_at = textIn(record, 'at') ?? row.last_at;
    row.last_sequence = sequence;
    FOLDS[record.record]?.(row, record);
  }

  /** One a chain, in the order in which chains were met. */
  rows(): readonly SessionRow[] {
    return [...this.#rows.values()];
  }
}

function emptyRow(chain: string, sequence: number): SessionRow {
  return {
    chain,
    starts: 0,
    bundles: 0,
    states: [],
    actions: [],
    incomplete_reads: 0,
    warned_reads: 0,
    approvals: { asked: 0, approved: 0, denied: 0, expired: 0, void: 0, used: 0 },
    requests: 0,
    counted: 0,
    left_out: 0,
    last_at: '',
    first_sequence: sequence,
    last_sequence: sequence,
  };
}

type Fold = (row: SessionRow, record: WrittenRecord) => void;

const FOLDS: Readonly<Record<WrittenRecord['record'], Fold>> = {
  session: (row, record) => EVENTS[textIn(record, 'event') ?? '']?.(row, record),
  intent: (row, record) => count(row, record, 'sent'),
  outcome: outcome,
  refused: (row, record) => count(row, record, 'refused'),
  replayed: (row, record) => count(row, record, 'replayed'),
  approval: (row, record) => {
    const event = APPROVAL_EVENTS.find((known) => known === memberOf(record, 'event'));
    if (event !== undefined) row.approvals[event] += 1;
  },
  request: (row) => {
    row.requests += 1;
  },
  counted: (row, record) => {
    const counts = memberOf(record, 'counts');
    if (!Array.isArray(counts)) return;
    for (const one of counts) row.counted += typeof one === 'object' && one !== null ? (countIn(one, 'count') ?? 0) : 0;
  },
};

const EVENTS: Readonly<Partial<Record<string, Fold>>> = {
  started: (row, record) => {
    row.starts += 1;
    row.started_at ??= textIn(record, 'at') ?? '';
    row.version = textIn(record, 'version') ?? row.version ?? '';
    delete row.ended_at;
  },
  requester: (row, record) => {
    for (const name of ['session', 'pod', 'service_account', 'image', 'controller'] as const) {
      const value = textIn(record, name);
      if (value !== undefined) row[name] = value;
    }
  },
  bundle: (row) => {
    row.bundles += 1;
  },
  state: (row, record) => {
    const [state, because] = [textIn(record, 'state'), textIn(record, 'because')];
    if (state === undefined) return;
    row.state = state;
    if (row.states.length >= limits.auditViewListMax) row.left_out += 1;
    else row.states.push({ at: textIn(record, 'at') ?? '', state, ...(because === undefined ? {} : { because }) });
  },
  recording: (row, record) => {
    const on = flagIn(record, 'on');
    if (on !== undefined) row.recording = on;
    delete row.ended_at;
  },
  ended: (row, record) => {
    row.ended_at = textIn(record, 'at') ?? '';
  },
};

function outcome(row: SessionRow, record: WrittenRecord): void {
  const status = STATUSES.find((known) => known === memberOf(record, 'status')) ?? 'unknown';
  count(row, record, status);
  if (memberOf(record, 'effect') !== 'Read') return;
  if (flagIn(record, 'complete') === false) row.incomplete_reads += 1;
  if (textsIn(record, 'warnings').length > 0) row.warned_reads += 1;
}

function count(row: SessionRow, record: WrittenRecord, what: Exclude<keyof ActionCounts, 'action' | 'effect'>): void {
  const action = textIn(record, 'action');
  if (action === undefined) return;
  let counts = row.actions.find((one) => one.action === action);
  if (counts === undefined && row.actions.length >= limits.auditViewListMax) {
    row.left_out += 1;
    return;
  }
  if (counts === undefined) {
    counts = { action, sent: 0, refused: 0, replayed: 0, ok: 0, partial: 0, failed: 0, unknown: 0 };
    row.actions.push(counts);
  }
  const effect = textIn(record, 'effect');
  if (effect !== undefined) counts.effect = effect;
  counts[what] += 1;
}
