/**
 * The operator's metrics, `postern_operator_<noun>_<unit>`. Labels are names of objects people wrote, or closed words; the page is not
 * for agents, and still nothing of a call stands on it.
 */
import type { MetricEntry } from './metric-entry.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const OPERATOR_METRICS = {
  // cluster
  operator_leader_state: { type: 'gauge', unit: 'state', help: '1 while this replica leads.', labels: [] },
  operator_informer_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Time since the last event or bookmark of a watch; the API server sends one at least every minute.',
    labels: ['kind'],
  },
  operator_informer_synced_state: { type: 'gauge', unit: 'state', help: '1 while what is known of a kind is current.', labels: ['kind'] },
  operator_informer_relists_total: {
    type: 'counter',
    unit: 'total',
    help: 'Times a kind was listed anew, by cause.',
    labels: ['kind', 'cause'],
  },

  // controllers
  operator_reconciles_total: {
    type: 'counter',
    unit: 'total',
    help: 'Objects looked at, by controller and outcome (done, failed).',
    labels: ['controller', 'outcome'],
  },
  operator_reconcile_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time one object took.',
    labels: ['controller'],
    buckets: SECONDS,
  },
  operator_queue_length: { type: 'gauge', unit: 'length', help: 'Objects waiting to be looked at.', labels: ['controller'] },

  // admission
  operator_admissions_total: {
    type: 'counter',
    unit: 'total',
    help: 'Answers to the API server, by webhook and outcome (allowed, refused, failed).',
    labels: ['webhook', 'outcome'],
  },
  operator_admission_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time one admission took.',
    labels: ['webhook'],
    buckets: SECONDS,
  },

  // control streams
  operator_streams_open: { type: 'gauge', unit: 'open', help: 'Streams of sidecars that this replica holds.', labels: [] },
  operator_streams_refused_total: { type: 'counter', unit: 'total', help: 'Streams refused, by reason.', labels: ['reason'] },
  operator_push_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: "Time from a change seen to the sidecar's word that it took the bundle.",
    labels: [],
    buckets: SECONDS,
  },

  // objects
  operator_sessions: { type: 'gauge', unit: 'sessions', help: 'Sessions by state.', labels: ['state'] },
  operator_sessions_behind: {
    type: 'gauge',
    unit: 'behind',
    help: 'Active sessions that do not run the present revision of a contract of theirs.',
    labels: [],
  },
  operator_contracts: {
    type: 'gauge',
    unit: 'contracts',
    help: 'Contracts by whether they can be called (true, false).',
    labels: ['ready'],
  },
  operator_bindings: { type: 'gauge', unit: 'bindings', help: 'Bindings by whether they can be used (true, false).', labels: ['ready'] },
  operator_pods_unguarded: {
    type: 'gauge',
    unit: 'unguarded',
    help: 'Pods of enforced namespaces that should be guarded and are not, by reason.',
    labels: ['reason'],
  },
  operator_caller_refused_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 for a ServiceAccount that is a caller and gets no contract because of what else it may do.',
    labels: ['namespace', 'account'],
  },
  operator_warnings_expiry_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time at which a warning declared in a contract must have been renewed or removed.',
    labels: ['namespace', 'contract', 'code', 'owner'],
  },

  // approvals
  operator_approvals_waiting: {
    type: 'gauge',
    unit: 'waiting',
    help: 'Calls that wait for a person to approve or deny them.',
    labels: ['namespace'],
  },
  operator_approval_oldest_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'How long the call that waits longest for a person has waited; 0 when none waits.',
    labels: ['namespace'],
  },
  operator_unknown_operations: {
    type: 'gauge',
    unit: 'operations',
    help: 'Operations of unknown outcome that no person has resolved; equal calls are held.',
    labels: ['namespace'],
  },
  operator_approval_notices_total: {
    type: 'counter',
    unit: 'total',
    help: 'Notices of waiting approvals to the outgoing webhook, by outcome (sent, failed).',
    labels: ['outcome'],
  },

  operator_approval_changes_total: {
    type: 'counter',
    unit: 'total',
    help: 'Questions by what they became (waiting, approved, denied, expired, voided, used, underway, resolved) and purpose (call, resolve).',
    labels: ['purpose', 'state'],
  },
  operator_effects_refused_total: {
    type: 'counter',
    unit: 'total',
    help: 'Questions and intents of sidecars that were refused, by what (question, intent) and reason.',
    labels: ['what', 'reason'],
  },

  // audit
  operator_audit_sessions: {
    type: 'gauge',
    unit: 'sessions',
    help: 'Sessions that have not ended, by how they are recorded (off, local, shipped).',
    labels: ['mode'],
  },
  operator_audit_broken_sessions: {
    type: 'gauge',
    unit: 'sessions',
    help: 'Sessions whose sidecar has shown a head that does not fit the witnessed one.',
    labels: ['namespace'],
  },
  operator_audit_conflicts_total: {
    type: 'counter',
    unit: 'total',
    help: 'Heads that do not fit the witnessed one, by kind (fork, rollback); the first of each session.',
    labels: ['kind'],
  },
  operator_audit_refused_total: {
    type: 'counter',
    unit: 'total',
    help: 'What sidecars asked of the witness and did not get, by what (epoch, head, intent, upload) and reason.',
    labels: ['what', 'reason'],
  },
  operator_audit_intents_kept_total: { type: 'counter', unit: 'total', help: 'Intents of effects put into the store.', labels: [] },
  operator_audit_intents_kept_bytes_total: { type: 'counter', unit: 'total', help: 'Bytes of those.', labels: [] },
  operator_audit_segments_stored_total: {
    type: 'counter',
    unit: 'total',
    help: 'Segments found in the store after their upload.',
    labels: [],
  },
  operator_audit_segments_stored_bytes_total: { type: 'counter', unit: 'total', help: 'Bytes of those.', labels: [] },
  operator_audit_store_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 for what the store of the audit is (unprobed, safe, unsafe, unavailable, refused); nothing is stored unless safe.',
    labels: ['state'],
  },
  operator_audit_store_warning_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 for what the store of the audit allows and should not (deletable, hideable, overwritable).',
    labels: ['warning'],
  },
  operator_audit_heads_objects_total: {
    type: 'counter',
    unit: 'total',
    help: 'Objects with the heads of chains that moved, by outcome (written, failed).',
    labels: ['outcome'],
  },
  operator_audit_heads_written_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time of the last such object of this replica.',
    labels: [],
  },

  // rotation and certificates
  operator_rotations_total: {
    type: 'counter',
    unit: 'total',
    help: 'Announced new values of Secrets, by outcome (announced, failed).',
    labels: ['outcome'],
  },
  operator_certificate_expiry_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Unix time at which a certificate ends, by certificate (leaf, authority).',
    labels: ['certificate'],
  },
  operator_ca_bundle_contested_state: {
    type: 'gauge',
    unit: 'state',
    help: "1 while another writer keeps replacing the operator's CA in a webhook configuration of this kind.",
    labels: ['configuration'],
  },

  // guards
  operator_guards_broken: {
    type: 'gauge',
    unit: 'broken',
    help: '1 for a guard in the API server that does not hold, by what is wrong (missing, unbound, altered, unknown).',
    labels: ['policy', 'state'],
  },
} as const satisfies Readonly<Record<`operator_${string}`, MetricEntry>>;
