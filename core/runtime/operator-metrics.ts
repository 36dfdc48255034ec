/**
 * What the operator counts, in its own words; the names on the page are in operator-metric-catalogue.ts. Counts of objects are read
 * from the caches when somebody asks, so that no event pays for them.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { MetricRecorder } from './metric-recorder.ts';

export interface InformerState {
  readonly kind: string;
  readonly ageSeconds: number;
  readonly synced: boolean;
}

/** All that is read at a scrape; the leader alone knows some of it, and the others then answer with nothing. */
export interface OperatorReadings {
  leading(): boolean;
  informers(): readonly InformerState[];
  /** Objects waiting, by controller. */
  queues(): Readonly<Record<string, number>>;
  streams(): number;
  /** Sessions by state. */
  sessions(): Readonly<Record<string, number>>;
  sessionsBehind(): number;
  contracts(): Ready;
  bindings(): Ready;
  /** Pods by reason. */
  unguarded(): Readonly<Record<string, number>>;
  refusedCallers(): readonly { readonly namespace: string; readonly account: string }[];
  declaredWarnings(): readonly DeclaredExpiry[];
  /** Unix time in milliseconds, by certificate. */
  certificates(): Readonly<Record<string, number>>;
  /** By kind of webhook configuration. */
  contestedTrust(): Readonly<Record<string, boolean>>;
  brokenGuards(): readonly { readonly policy: string; readonly state: string }[];
  /** One for each namespace that has approvals, also when none waits: a gauge that goes away says nothing. */
  approvals(): readonly WaitingInNamespace[];
  /** Sessions by how they are recorded. */
  auditSessions(): Readonly<Record<string, number>>;
  /** By namespace. */
  auditBroken(): Readonly<Record<string, number>>;
  auditStore(): { readonly state: string; readonly warnings: readonly string[] };
  /** Unix time in milliseconds; undefined before the first. */
  headsWrittenMs(): number | undefined;
}

export interface WaitingInNamespace {
  readonly namespace: string;
  /** Calls that wait for a person. */
  readonly waiting: number;
  /** Of the one that waits longest; 0 when none waits. */
  readonly oldestMs: number;
  /** Operations of unknown outcome that nobody has resolved. */
  readonly unknown: number;
}

export interface Ready {
  readonly ready: number;
  readonly notReady: number;
}

export interface DeclaredExpiry {
  readonly namespace: string;
  readonly contract: string;
  readonly code: string;
  readonly owner: string;
  readonly expiresMs: number;
}

export class OperatorMetrics {
  readonly #recorder: MetricRecorder;

  constructor(clock: Clock, version = '0.0.0') {
    this.#recorder = new MetricRecorder({ wallMs: () => clock.wallMs(), version, process: 'operator' });
  }

  /** Adds readings; of two for the same thing the later holds. */
  read(readings: Partial<OperatorReadings>): void {
    const { leading, informers, queues, streams, certificates } = readings;
    const recorder = this.#recorder;
    if (leading !== undefined) recorder.gauge('operator_leader_state', () => [[{}, Number(leading())]]);
    if (informers !== undefined) {
      recorder.gauge('operator_informer_age_seconds', () => informers().map(({ kind, ageSeconds }) => [{ kind }, ageSeconds] as const));
      recorder.gauge('operator_informer_synced_state', () => informers().map(({ kind, synced }) => [{ kind }, Number(synced)] as const));
    }
    if (queues !== undefined)
      recorder.gauge('operator_queue_length', () => Object.entries(queues()).map(([controller, length]) => [{ controller }, length]));
    if (streams !== undefined) recorder.gauge('operator_streams_open', () => [[{}, streams()]]);
    if (certificates !== undefined) {
      recorder.gauge('operator_certificate_expiry_seconds', () =>
        Object.entries(certificates()).map(([certificate, ms]) => [{ certificate }, ms / 1000]),
      );
    }
    this.#readObjects(readings);
    this.#readGuards(readings);
    this.#readApprovals(readings);
    this.#readAudit(readings);
  }

  #readAudit({ auditSessions, auditBroken, auditStore, headsWrittenMs }: Partial<OperatorReadings>) {
    const recorder = this.#recorder;
    if (auditSessions !== undefined)
      recorder.gauge('operator_audit_sessions', () => Object.entries(auditSessions()).map(([mode, count]) => [{ mode }, count]));
    if (auditBroken !== undefined)
      recorder.gauge('operator_audit_broken_sessions', () =>
        Object.entries(auditBroken()).map(([namespace, count]) => [{ namespace }, count]),
      );
    if (auditStore !== undefined) {
      recorder.gauge('operator_audit_store_state', () => [[{ state: auditStore().state }, 1]]);
      recorder.gauge('operator_audit_store_warning_state', () => auditStore().warnings.map((warning) => [{ warning }, 1] as const));
    }
    if (headsWrittenMs !== undefined)
      recorder.gauge('operator_audit_heads_written_seconds', () => {
        const ms = headsWrittenMs();
        return ms === undefined ? [] : [[{}, ms / 1000]];
      });
  }

  #readApprovals({ approvals }: Partial<OperatorReadings>) {
    if (approvals === undefined) return;
    const each = (value: (of: WaitingInNamespace) => number) => () =>
      approvals().map((of) => [{ namespace: of.namespace }, value(of)] as const);
    this.#recorder.gauge(
      'operator_approvals_waiting',
      each(({ waiting }) => waiting),
    );
    this.#recorder.gauge(
      'operator_approval_oldest_age_seconds',
      each(({ oldestMs }) => oldestMs / 1000),
    );
    this.#recorder.gauge(
      'operator_unknown_operations',
      each(({ unknown }) => unknown),
    );
  }

  #readGuards({ contestedTrust, brokenGuards }: Partial<OperatorReadings>) {
    const recorder = this.#recorder;
    if (contestedTrust !== undefined) {
      recorder.gauge('operator_ca_bundle_contested_state', () =>
        Object.entries(contestedTrust()).map(([configuration, contested]) => [{ configuration }, Number(contested)] as const),
      );
    }
    if (brokenGuards !== undefined)
      recorder.gauge('operator_guards_broken', () => brokenGuards().map(({ policy, state }) => [{ policy, state }, 1] as const));
  }

  #readObjects({ sessions, sessionsBehind, contracts, bindings, unguarded, refusedCallers, declaredWarnings }: Partial<OperatorReadings>) {
    const recorder = this.#recorder;
    if (sessions !== undefined)
      recorder.gauge('operator_sessions', () => Object.entries(sessions()).map(([state, count]) => [{ state }, count]));
    if (sessionsBehind !== undefined) recorder.gauge('operator_sessions_behind', () => [[{}, sessionsBehind()]]);
    if (contracts !== undefined) recorder.gauge('operator_contracts', () => byReady(contracts()));
    if (bindings !== undefined) recorder.gauge('operator_bindings', () => byReady(bindings()));
    if (unguarded !== undefined)
      recorder.gauge('operator_pods_unguarded', () => Object.entries(unguarded()).map(([reason, count]) => [{ reason }, count]));
    if (refusedCallers !== undefined)
      recorder.gauge('operator_caller_refused_state', () =>
        refusedCallers().map(({ namespace, account }) => [{ namespace, account }, 1] as const),
      );
    if (declaredWarnings !== undefined) {
      recorder.gauge('operator_warnings_expiry_seconds', () =>
        declaredWarnings().map(({ expiresMs, ...labels }) => [labels, expiresMs / 1000] as const),
      );
    }
  }

  relisted(kind: string, cause: string): void {
    this.#recorder.add('operator_informer_relists_total', { kind, cause });
  }

  reconciled(controller: string, outcome: string, durationMs: number): void {
    this.#recorder.add('operator_reconciles_total', { controller, outcome });
    this.#recorder.add('operator_reconcile_duration_seconds', { controller }, durationMs / 1000);
  }

  admitted(webhook: string, outcome: 'allowed' | 'refused' | 'failed', durationMs: number): void {
    this.#recorder.add('operator_admissions_total', { webhook, outcome });
    this.#recorder.add('operator_admission_duration_seconds', { webhook }, durationMs / 1000);
  }

  streamRefused(reason: string): void {
    this.#recorder.add('operator_streams_refused_total', { reason });
  }

  /** From a change seen to the sidecar's word. */
  pushed(durationMs: number): void {
    this.#recorder.add('operator_push_duration_seconds', {}, durationMs / 1000);
  }

  rotated(outcome: 'announced' | 'failed'): void {
    this.#recorder.add('operator_rotations_total', { outcome });
  }

  /** A notice of a waiting approval to the outgoing webhook, after its last try. */
  noticed(outcome: 'sent' | 'failed'): void {
    this.#recorder.add('operator_approval_notices_total', { outcome });
  }

  approvalBecame(purpose: string, state: string): void {
    this.#recorder.add('operator_approval_changes_total', { purpose, state });
  }

  effectRefused(what: string, reason: string): void {
    this.#recorder.add('operator_effects_refused_total', { what, reason });
  }

  /** The first of a session. */
  headConflict(kind: 'fork' | 'rollback'): void {
    this.#recorder.add('operator_audit_conflicts_total', { kind });
  }

  auditRefused(what: string, reason: string): void {
    this.#recorder.add('operator_audit_refused_total', { what, reason });
  }

  intentKept(bytes: number): void {
    this.#recorder.add('operator_audit_intents_kept_total', {});
    this.#recorder.add('operator_audit_intents_kept_bytes_total', {}, bytes);
  }

  segmentStored(bytes: number): void {
    this.#recorder.add('operator_audit_segments_stored_total', {});
    this.#recorder.add('operator_audit_segments_stored_bytes_total', {}, bytes);
  }

  headsObject(outcome: 'written' | 'failed'): void {
    this.#recorder.add('operator_audit_heads_objects_total', { outcome });
  }

  /** Loads the client library ahead of the first scrape. */
  load(): Promise<void> {
    return this.#recorder.load();
  }

  exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    return this.#recorder.page();
  }
}

function byReady({ ready, notReady }: Ready): readonly (readonly [{ readonly ready: string }, number])[] {
  return [
    [{ ready: 'true' }, ready],
    [{ ready: 'false' }, notReady],
  ];
}
