/**
 * What the sidecar counts, in its own words; the names on the page are in metric-catalogue.ts.
 *
 * Actions appear under their name only once `declare` has named them: an agent may call any word, and a label made of
 * it would be a series of its own.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { IncompleteCode, Reason, WarningCode } from '#core/error/reasons.ts';
import { AuditMetrics } from './audit-metrics.ts';
import { EffectMetrics } from './effect-metrics.ts';
import { MetricRecorder } from './metric-recorder.ts';
import type { GuardEvent } from './stream-guard.ts';
import { type ActiveWarning, WarningBoard } from './warning-board.ts';

/** The parts of a compiled contract that are counted by. */
export interface CountedContract {
  readonly action: string;
  readonly owner: string;
  readonly notReady?: string;
  readonly warnings: Readonly<
    Record<string, { readonly name: string; readonly code: string; readonly owner: string; readonly expires: string }>
  >;
  readonly completeness: { readonly notices: readonly { readonly when?: unknown; readonly warning: string }[] };
}

/** The parts of an envelope that are counted. */
export interface CountedEnvelope {
  readonly completeness: {
    readonly complete: boolean;
    readonly incomplete_reasons: readonly {
      readonly code: IncompleteCode;
      readonly origin: string;
      readonly limit?: Readonly<Record<string, number>>;
    }[];
    readonly continuation: { readonly kind: string; readonly cursor?: string };
    readonly page: { readonly returned: number };
    readonly budget: { readonly waited_ms: number };
  };
  readonly warnings: readonly {
    readonly code: WarningCode;
    readonly name?: string;
    readonly owner?: string;
    readonly expires_at?: string;
    readonly observed_age_ms?: number;
  }[];
}

const SESSION_STATES = ['Pending', 'Active', 'Suspended', 'Revoked', 'Ended'] as const;

/** What a sidecar knows of its operator. */
export interface ControlGauges {
  readonly connected: boolean;
  /** Left of the lease. */
  readonly leaseMs: number;
  readonly state: (typeof SESSION_STATES)[number];
  /** What is held is on disk. */
  readonly kept: boolean;
  /** Contracts of the bundle that are not served. */
  readonly refused: number;
  /** Keys that can be used, with the wall-clock time at which each got its value. */
  readonly credentials: readonly { readonly secret: string; readonly key: string; readonly sinceMs: number }[];
}

export class SidecarMetrics {
  /** What becomes of effects, and of the questions about them. */
  readonly effects: EffectMetrics;
  /** What becomes of the record of all this. */
  readonly audit: AuditMetrics;
  readonly #recorder: MetricRecorder;
  readonly #warnings: WarningBoard;
  readonly #contracts = new Map<string, CountedContract>();
  readonly #clock: Clock;
  #bundleMs = 0;

  constructor(clock: Clock, version = '0.0.0') {
    this.#clock = clock;
    this.#recorder = new MetricRecorder({ wallMs: () => clock.wallMs(), version, process: 'sidecar' });
    this.audit = new AuditMetrics(this.#recorder);
    this.effects = new EffectMetrics(this.#recorder, (action) => this.#label(action));
    this.#warnings = new WarningBoard(() => clock.wallMs());
    this.#recorder.gaugesFrom(() => this.#warnings.gauges());
    this.#recorder.gauge('loaded_contracts', () => {
      const ready = [...this.#contracts.values()].filter(({ notReady }) => notReady === undefined).length;
      return [
        [{ state: 'ready' }, ready],
        [{ state: 'not_ready' }, this.#contracts.size - ready],
      ];
    });
    this.#recorder.gauge('bundle_loaded_seconds', () => (this.#bundleMs === 0 ? [] : [[{}, this.#bundleMs / 1000]]));
  }

  /** Makes an action known; its calls are counted under its name from here on. */
  declare(contract: CountedContract): void {
    this.#contracts.set(contract.action, contract);
    this.#bundleMs = this.#clock.wallMs();
  }

  /** The contracts that are served from here on, in place of those before; calls of others are counted as `unknown`. */
  serve(contracts: readonly CountedContract[]): void {
    this.#contracts.clear();
    this.#bundleMs = this.#clock.wallMs();
    for (const contract of contracts) this.declare(contract);
  }

  /** What is known of the operator, asked for at every scrape. Only sidecars with one have these. */
  control(read: () => ControlGauges): void {
    const one = (value: (gauges: ControlGauges) => number | undefined) => () => {
      const found = value(read());
      return found === undefined ? [] : ([[{}, found]] as const);
    };
    this.#recorder.gauge(
      'control_connected_state',
      one(({ connected }) => Number(connected)),
    );
    this.#recorder.gauge(
      'control_lease_seconds',
      one(({ leaseMs }) => leaseMs / 1000),
    );
    this.#recorder.gauge(
      'bundle_kept_state',
      one(({ kept }) => Number(kept)),
    );
    this.#recorder.gauge(
      'refused_contracts',
      one(({ refused }) => refused),
    );
    this.#recorder.gauge(
      'bundle_age_seconds',
      one(() => (this.#bundleMs === 0 ? undefined : (this.#clock.wallMs() - this.#bundleMs) / 1000)),
    );
    this.#recorder.gauge('session_state', () => SESSION_STATES.map((state) => [{ state }, Number(read().state === state)] as const));
    this.#recorder.gauge('credential_age_seconds', () =>
      read().credentials.map(({ secret, key, sinceMs }) => [{ secret, key }, (this.#clock.wallMs() - sinceMs) / 1000] as const),
    );
  }

  /** `reason`: a closed word of the control stream. */
  controlEnded(reason: string): void {
    this.#recorder.add('control_ends_total', { reason });
  }

  /** Warnings raised in limits.warningActiveMs, in a steady order. */
  activeWarnings(): readonly ActiveWarning[] {
    return this.#warnings.active();
  }

  /** Calls running now, asked for at every scrape. */
  runningCalls(read: () => number): void {
    this.#recorder.gauge('running_calls', () => [[{}, read()]]);
  }

  /** Operations kept now. */
  keptOperations(read: () => number): void {
    this.#recorder.gauge('kept_operations', () => [[{}, read()]]);
  }

  /** Connections of all pools together. */
  pools(read: () => { readonly connected: number; readonly free: number; readonly running: number; readonly pending: number }): void {
    this.#recorder.gauge('pool_connections', () => Object.entries(read()).map(([state, count]) => [{ state }, count] as const));
  }

  callAnswered(action: string, envelope: CountedEnvelope, durationMs: number): void {
    const label = this.#label(action);
    const { completeness, warnings } = envelope;
    this.#ended(label, 'OK', durationMs);
    this.#recorder.add('results_total', { action: label, completeness: completeness.complete ? 'complete' : 'partial' });
    this.#recorder.add('result_rows', { action: label }, completeness.page.returned);
    this.#recorder.add('remote_wait_seconds_total', { action: label }, completeness.budget.waited_ms / 1000);
    if (completeness.continuation.cursor !== undefined) this.#recorder.add('cursors_issued_total', { action: label });
    for (const reason of completeness.incomplete_reasons) this.#incomplete(label, reason);
    for (const warning of warnings) this.#warned(label, warning);
  }

  callFailed(action: string, reason: Reason, durationMs: number): void {
    this.#ended(this.#label(action), reason, durationMs);
    if (reason.startsWith('EVIDENCE_')) this.effects.evidenceRefused(action, reason);
  }

  /** One request to a remote: what its answer was, how long it took, decoded bytes. */
  remoteAnswered(action: string, outcome: RemoteOutcome, durationMs: number, bytes: number): void {
    const label = this.#label(action);
    this.#recorder.add('remote_requests_total', { action: label, outcome });
    this.#recorder.add('remote_request_duration_seconds', { action: label }, durationMs / 1000);
    this.#recorder.add('remote_response_bytes_total', { action: label }, bytes);
  }

  cursorUsed(action: string, outcome: 'resumed' | 'invalid' | 'expired'): void {
    this.#recorder.add('cursors_used_total', { action: this.#label(action), outcome });
  }

  credentialRead(secret: string, outcome: 'loaded' | 'unreadable'): void {
    this.#recorder.add('credential_reloads_total', { secret, outcome });
  }

  /** State of all Secrets at the time of a scrape; `loadedMs` absent: never read. */
  credentials(read: () => readonly { readonly secret: string; readonly locked: boolean; readonly loadedMs?: number }[]): void {
    this.#recorder.gauge('credential_locked_state', () => read().map(({ secret, locked }) => [{ secret }, Number(locked)] as const));
    this.#recorder.gauge('credential_loaded_seconds', () =>
      read().flatMap(({ secret, loadedMs }) => (loadedMs === undefined ? [] : [[{ secret }, loadedMs / 1000] as const])),
    );
  }

  /** A caller sent a credential of ours as an argument. */
  credentialGuessed(): void {
    this.#recorder.add('credential_guesses_total', {});
  }

  streamRefused(event: GuardEvent): void {
    this.#recorder.add('grpc_refusals_total', { event });
  }

  /** A call came with metadata that looks like an identity. */
  claimsIgnored(): void {
    this.#recorder.add('grpc_claims_total', {});
  }

  /** Loads the client library ahead of the first scrape. */
  load(): Promise<void> {
    return this.#recorder.load();
  }

  exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    return this.#recorder.page();
  }

  #label(action: string): string {
    return this.#contracts.has(action) ? action : 'unknown';
  }

  #ended(action: string, code: string, durationMs: number): void {
    this.#recorder.add('calls_total', { action, code });
    this.#recorder.add('call_duration_seconds', { action }, durationMs / 1000);
  }

  #incomplete(action: string, { code, origin, limit }: CountedEnvelope['completeness']['incomplete_reasons'][number]): void {
    this.#recorder.add('incomplete_reasons_total', { action, reason: code });
    if (origin !== 'sidecar') return;
    for (const name of Object.keys(limit ?? {})) this.#recorder.add('limit_stops_total', { action, limit: name });
  }

  #warned(action: string, warning: CountedEnvelope['warnings'][number]): void {
    const contract = this.#contracts.get(action);
    const owner = warning.owner ?? contract?.owner ?? 'unknown';
    const permanent =
      contract?.completeness.notices.some((notice) => notice.warning === warning.name && notice.when === undefined) ?? false;
    this.#recorder.add('warnings_total', { action, code: warning.code, owner });
    if (warning.code === 'CREDENTIAL_REFLECTED') this.#recorder.add('credential_reflections_total', { action });
    this.#warnings.see({
      action,
      code: warning.code,
      owner,
      name: warning.name ?? '',
      permanent,
      ...(warning.expires_at === undefined ? {} : { expires: warning.expires_at }),
      ...(warning.observed_age_ms === undefined ? {} : { staleMs: warning.observed_age_ms }),
    });
  }
}

/** What the answer to one request was: its status class, or that none came. */
export type RemoteOutcome = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'no_reply';
