/** The sidecar's metrics of its audit: what is recorded, whether the chain takes records, how far it is shipped and witnessed. */
import type { MetricEntry } from './metric-entry.ts';

/** A sync of a good disk takes a millisecond; past ten seconds the log gives it up. */
const SYNC_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const AUDIT_METRICS = {
  audit_records_total: { type: 'counter', unit: 'total', help: 'Records of the audit that are durable, by kind.', labels: ['kind'] },
  audit_counted_total: {
    type: 'counter',
    unit: 'total',
    help: 'Refusals and requests that came too often and were counted in the audit instead of recorded one by one.',
    labels: [],
  },
  audit_fault_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 while the audit takes no records: every call is answered AUDIT_UNAVAILABLE.',
    labels: [],
  },
  audit_bytes: { type: 'gauge', unit: 'bytes', help: 'Size of the chain of the audit on this disk.', labels: [] },
  audit_unshipped_bytes: { type: 'gauge', unit: 'bytes', help: 'Of the chain, what is not in the store yet.', labels: [] },
  audit_lag_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the oldest record that is not in the store; 0 without one.',
    labels: [],
  },
  audit_shipped_sequence: { type: 'gauge', unit: 'sequence', help: 'Sequence of the last record that is in the store.', labels: [] },
  audit_last_shipped_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'When the store last took a segment of this process, Unix time; absent before the first.',
    labels: [],
  },
  audit_poisoned_segments: {
    type: 'gauge',
    unit: 'segments',
    help: 'Segments that cannot be shipped for their own sake: damaged on this disk, or refused by the store, or their name is taken. Later ones are shipped.',
    labels: [],
  },
  audit_shipping_fault_state: {
    type: 'gauge',
    unit: 'state',
    help: '1 while nothing is shipped, by fault: unavailable, refused, unreadable, or unsafe for a store that replaces what it has.',
    labels: ['fault'],
  },
  audit_head_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Time since the newest checkpoint that the operator has seen; absent where nobody watches.',
    labels: [],
  },
  audit_sync_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time until what was appended to the chain was on disk.',
    labels: [],
    buckets: SYNC_SECONDS,
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;
