/**
 * Every metric Postern has. Names are `postern_<noun>_<unit>`; label values come from closed sets or from the names of
 * contracts, bindings and owners, never from arguments, ids or answers: the agent can read this page too.
 */
import { AUDIT_METRICS } from './audit-metric-catalogue.ts';
import { EFFECT_METRICS } from './effect-metric-catalogue.ts';
import type { MetricEntry } from './metric-entry.ts';
import { OPERATOR_METRICS } from './operator-metric-catalogue.ts';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Of both processes. */
const PROCESS_METRICS = {
  build_info: { type: 'gauge', unit: 'info', help: '1, with the version.', labels: ['version', 'node'] },
  resident_memory_bytes: { type: 'gauge', unit: 'bytes', help: 'Resident memory of the process.', labels: [] },
  heap_used_bytes: { type: 'gauge', unit: 'bytes', help: 'Heap in use.', labels: [] },
  event_loop_delay_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: '99th percentile of the delay of the event loop since the last scrape.',
    labels: [],
  },
  process_start_seconds: { type: 'gauge', unit: 'seconds', help: 'Unix time at which the process started.', labels: [] },
} as const satisfies Readonly<Record<string, MetricEntry>>;

const SIDECAR_METRICS = {
  // calls (RED)
  calls_total: {
    type: 'counter',
    unit: 'total',
    help: 'Calls that ended, by action and code; OK for any result.',
    labels: ['action', 'code'],
  },
  call_duration_seconds: { type: 'histogram', unit: 'seconds', help: 'Time from request to answer.', labels: ['action'], buckets: SECONDS },
  running_calls: { type: 'gauge', unit: 'calls', help: 'Calls running now.', labels: [] },
  kept_operations: { type: 'gauge', unit: 'operations', help: 'Operations remembered in memory.', labels: [] },

  // completeness
  results_total: {
    type: 'counter',
    unit: 'total',
    help: 'Results by action and completeness (complete, partial).',
    labels: ['action', 'completeness'],
  },
  incomplete_reasons_total: {
    type: 'counter',
    unit: 'total',
    help: 'Reasons in partial results and in errors of begun reads.',
    labels: ['action', 'reason'],
  },
  limit_stops_total: {
    type: 'counter',
    unit: 'total',
    help: "Walks ended by a limit of Postern's own, by limit.",
    labels: ['action', 'limit'],
  },
  result_rows: {
    type: 'histogram',
    unit: 'rows',
    help: 'Rows of one result.',
    labels: ['action'],
    buckets: [0, 1, 10, 100, 1000, 10_000, 100_000],
  },
  cursors_issued_total: { type: 'counter', unit: 'total', help: 'Cursors handed out.', labels: ['action'] },
  cursors_used_total: {
    type: 'counter',
    unit: 'total',
    help: 'Cursors given back, by what became of them (resumed, invalid, expired).',
    labels: ['action', 'outcome'],
  },

  // warnings
  warnings_total: { type: 'counter', unit: 'total', help: 'Warnings raised.', labels: ['action', 'code', 'owner'] },
  warning_first_seen_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time at which an active warning was first raised.',
    labels: ['action', 'code', 'owner'],
  },
  warning_last_seen_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time at which an active warning was last raised.',
    labels: ['action', 'code', 'owner'],
  },
  warning_stale_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the stale source behind an active warning, where it is known.',
    labels: ['action', 'code', 'owner'],
  },
  warning_expiry_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time at which an active warning must have been renewed or removed; absent when it has no expiry.',
    labels: ['action', 'code', 'owner'],
  },
  warning_permanent_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 when every call raises the warning.',
    labels: ['action', 'code', 'owner'],
  },

  // remote
  remote_requests_total: {
    type: 'counter',
    unit: 'total',
    help: 'Requests to remotes by action and status class of the answer (no_reply where none came).',
    labels: ['action', 'outcome'],
  },
  remote_request_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time from request to whole answer.',
    labels: ['action'],
    buckets: SECONDS,
  },
  remote_wait_seconds_total: { type: 'counter', unit: 'total', help: 'Time waited because the remote asked for it.', labels: ['action'] },
  remote_response_bytes_total: { type: 'counter', unit: 'total', help: 'Decoded bytes read.', labels: ['action'] },
  pool_connections: {
    type: 'gauge',
    unit: 'connections',
    help: 'Connections to remotes by state (connected, free, running, pending).',
    labels: ['state'],
  },

  // credentials
  credential_reloads_total: {
    type: 'counter',
    unit: 'total',
    help: 'Reads of credential files by outcome (loaded, unreadable).',
    labels: ['secret', 'outcome'],
  },
  credential_loaded_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time at which the present value was first read.',
    labels: ['secret'],
  },
  credential_locked_state: { type: 'gauge', unit: 'state', help: '1 while a credential cannot be read.', labels: ['secret'] },
  credential_guesses_total: { type: 'counter', unit: 'total', help: 'Calls whose arguments held a credential of a binding.', labels: [] },
  credential_reflections_total: {
    type: 'counter',
    unit: 'total',
    help: 'Answers that held a credential, which was masked.',
    labels: ['action'],
  },

  // contracts
  loaded_contracts: { type: 'gauge', unit: 'contracts', help: 'Contracts by state (ready, not_ready).', labels: ['state'] },
  bundle_loaded_seconds: { type: 'gauge', unit: 'seconds', help: 'Unix time at which the contracts in use were loaded.', labels: [] },

  // control
  control_connected_state: { type: 'gauge', unit: 'state', help: '1 while a stream to the operator stands.', labels: [] },
  control_lease_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Left of the lease; at 0 calls with a binding answer CONTROL_STALE.',
    labels: [],
  },
  control_ends_total: {
    type: 'counter',
    unit: 'total',
    help: 'Control streams that ended or did not come to be, by why.',
    labels: ['reason'],
  },
  session_state: { type: 'gauge', unit: 'state', help: '1 for the state of the session, 0 for the others.', labels: ['state'] },
  bundle_age_seconds: { type: 'gauge', unit: 'seconds', help: 'Since the bundle in use is served.', labels: [] },
  bundle_kept_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 while a restart would find the last words of the operator on disk.',
    labels: [],
  },
  refused_contracts: {
    type: 'gauge',
    unit: 'contracts',
    help: 'Contracts of the bundle that this sidecar does not understand.',
    labels: [],
  },
  credential_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Since a mounted key of a Secret has its present value.',
    labels: ['secret', 'key'],
  },

  // grpc
  grpc_refusals_total: {
    type: 'counter',
    unit: 'total',
    help: 'Streams and connections refused or cut by a limit, by event.',
    labels: ['event'],
  },
  grpc_claims_total: { type: 'counter', unit: 'total', help: 'Calls with identity-like metadata, which is ignored.', labels: [] },
} as const satisfies Readonly<Record<string, MetricEntry>>;

export const METRICS = { ...SIDECAR_METRICS, ...EFFECT_METRICS, ...AUDIT_METRICS, ...OPERATOR_METRICS, ...PROCESS_METRICS } as const;

export type MetricName = keyof typeof METRICS;

/** The metrics of one of the two processes: neither page shows counters of the other. */
export const METRICS_OF: Readonly<Record<'sidecar' | 'operator', readonly MetricName[]>> = {
  sidecar: [...namesOf(SIDECAR_METRICS), ...namesOf(EFFECT_METRICS), ...namesOf(AUDIT_METRICS), ...namesOf(PROCESS_METRICS)],
  operator: [...namesOf(OPERATOR_METRICS), ...namesOf(PROCESS_METRICS)],
};

function namesOf<Table extends object>(table: Table): readonly (keyof Table)[] {
  return Object.keys(table) as (keyof Table)[];
}

export type LabelsOf<Name extends MetricName> = { readonly [Label in (typeof METRICS)[Name]['labels'][number]]: string };
