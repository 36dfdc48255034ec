/** What the audits of all streams of a replica have in common. */
import type { SigningKey } from '#core/audit/signed-note.ts';
import type { Clock } from '#core/bounds/clock.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { Allowances } from '#operator/witness/allowances.ts';
import { ReadBack } from '#operator/witness/read-back.ts';
import type { StoreWatch } from '#operator/witness/store-watch.ts';

/** For metrics and the log; closed words. MUST not throw. */
export interface AuditObserver {
  /** `known` and `shown`: sequence and hash. */
  conflict?(session: SessionRecord, kind: 'fork' | 'rollback', known: string, shown: string): void;
  refused?(what: 'epoch' | 'head' | 'intent' | 'upload', because: string): void;
  kept?(bytes: number): void;
  stored?(bytes: number): void;
  /** A fault of this replica, while it worked on a message. */
  failed?(session: SessionRecord, error: unknown): void;
}

export interface AuditTerms {
  /** `age1...`; none: nothing is recorded. */
  readonly recipients: readonly string[];
  /** What an effect waits for, where there is a store. */
  readonly effects: 'Acknowledged' | 'Local';
}

export interface AuditOptions {
  readonly clock: Clock;
  /** Name of the cluster. */
  readonly cluster: string;
  readonly terms: AuditTerms;
  /** Undefined where nothing is shipped. */
  readonly watch: StoreWatch | undefined;
  /** The present key. */
  authority(): SigningKey;
  readonly observer?: AuditObserver;
}

export interface AuditMeans extends AuditOptions {
  readonly allowances: Allowances;
  readonly readBack: ReadBack | undefined;
}

export function auditMeans(options: AuditOptions): AuditMeans {
  const { clock, watch } = options;
  return { ...options, allowances: new Allowances(clock), readBack: watch === undefined ? undefined : new ReadBack(watch.store) };
}

/** Whether an effect waits until its intent is in the store. */
export function keepsIntents({ terms, watch }: Pick<AuditOptions, 'terms' | 'watch'>): boolean {
  return terms.recipients.length > 0 && watch !== undefined && terms.effects === 'Acknowledged';
}
