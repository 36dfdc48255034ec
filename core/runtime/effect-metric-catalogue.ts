/** The sidecar's metrics of effects: what became of them, who is waited for, whether the journal holds. */
import type { MetricEntry } from './metric-entry.ts';

/** A sync of a good disk takes a millisecond; past ten seconds the journal gives it up. */
const SYNC_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A person takes a minute or a quarter of an hour. */
const WAIT_SECONDS = [1, 5, 15, 60, 300, 600, 900, 1800, 3600];

export const EFFECT_METRICS = {
  effects_total: {
    type: 'counter',
    unit: 'total',
    help: 'Effects that ended, by action and outcome (done, partly_done, not_done, unknown, refused: nothing was sent).',
    labels: ['action', 'outcome'],
  },
  replays_total: {
    type: 'counter',
    unit: 'total',
    help: 'Calls answered with the recorded outcome of the operation they name; nothing was sent.',
    labels: ['action'],
  },
  evidence_refusals_total: {
    type: 'counter',
    unit: 'total',
    help: 'Effects refused for their evidence, by action and code.',
    labels: ['action', 'code'],
  },
  unknown_operations: {
    type: 'gauge',
    unit: 'operations',
    help: 'Operations of unknown outcome that nobody has resolved; equal calls are held.',
    labels: [],
  },

  // approvals
  approvals_waiting: { type: 'gauge', unit: 'waiting', help: 'Questions of this sidecar that wait for a person.', labels: [] },
  approval_oldest_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'How long the oldest of them has waited; 0 when none waits.',
    labels: [],
  },
  approvals_total: {
    type: 'counter',
    unit: 'total',
    help: 'Questions to a person, by action and what became of them (asked, approved, denied, expired, void).',
    labels: ['action', 'outcome'],
  },
  approval_wait_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time from question to decision.',
    labels: ['action'],
    buckets: WAIT_SECONDS,
  },

  // journal
  journal_sync_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time until what was appended to the journal was on disk.',
    labels: [],
    buckets: SYNC_SECONDS,
  },
  journal_written_bytes_total: { type: 'counter', unit: 'total', help: 'Bytes appended to the journal.', labels: [] },
  journal_bytes: { type: 'gauge', unit: 'bytes', help: 'Size of the journal on disk.', labels: [] },
  journal_failed_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 while the journal takes no records: every effect is answered AUDIT_UNAVAILABLE.',
    labels: [],
  },

  // ssh
  ssh_failures_total: {
    type: 'counter',
    unit: 'total',
    help: 'SSH commands without an exit status, by action and kind.',
    labels: ['action', 'kind'],
  },
  ssh_channels_refused_total: {
    type: 'counter',
    unit: 'total',
    help: 'Channels that SSH hosts asked to open to the sidecar, which it never allows, by action.',
    labels: ['action'],
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;
