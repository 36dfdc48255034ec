/** What the sidecar counts of its audit; the names on the page are in audit-metric-catalogue.ts. */
import type { MetricRecorder } from './metric-recorder.ts';

/** What is not known, or does not exist here, is absent. */
export interface AuditState {
  readonly fault: boolean;
  readonly bytes?: number;
  readonly unshippedBytes?: number;
  readonly lagMs?: number;
  readonly shippedSequence?: number;
  /** When the store last took a segment, milliseconds since 1970. */
  readonly shippedMs?: number;
  /** Segments that cannot be shipped for their own sake. */
  readonly poisoned?: number;
  /** Why nothing is shipped, as a closed word; empty while it is. */
  readonly shippingFault?: string;
  readonly headAgeMs?: number;
}

export class AuditMetrics {
  readonly #recorder: MetricRecorder;

  constructor(recorder: MetricRecorder) {
    this.#recorder = recorder;
  }

  /** `kind`: a kind of record. */
  recorded(kind: string): void {
    this.#recorder.add('audit_records_total', { kind });
  }

  counted(count: number): void {
    this.#recorder.add('audit_counted_total', {}, count);
  }

  synced(durationMs: number): void {
    this.#recorder.add('audit_sync_seconds', {}, durationMs / 1000);
  }

  /** Asked for at every scrape. */
  state(read: () => AuditState): void {
    const one = (value: (state: AuditState) => number | undefined) => () => {
      const found = value(read());
      return found === undefined ? [] : ([[{}, found]] as const);
    };
    const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);
    this.#recorder.gauge(
      'audit_fault_state',
      one(({ fault }) => Number(fault)),
    );
    this.#recorder.gauge(
      'audit_bytes',
      one(({ bytes }) => bytes),
    );
    this.#recorder.gauge(
      'audit_unshipped_bytes',
      one(({ unshippedBytes }) => unshippedBytes),
    );
    this.#recorder.gauge(
      'audit_lag_seconds',
      one(({ lagMs }) => seconds(lagMs)),
    );
    this.#recorder.gauge(
      'audit_shipped_sequence',
      one(({ shippedSequence }) => shippedSequence),
    );
    this.#recorder.gauge(
      'audit_last_shipped_seconds',
      one(({ shippedMs }) => seconds(shippedMs)),
    );
    this.#recorder.gauge(
      'audit_poisoned_segments',
      one(({ poisoned }) => poisoned),
    );
    this.#recorder.gauge('audit_shipping_fault_state', () => {
      const { shippingFault } = read();
      return shippingFault === undefined || shippingFault === '' ? [] : ([[{ fault: shippingFault }, 1]] as const);
    });
    this.#recorder.gauge(
      'audit_head_age_seconds',
      one(({ headAgeMs }) => seconds(headAgeMs)),
    );
  }
}
