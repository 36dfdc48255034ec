/**
 * What the sidecar counts of effects; the names on the page are in effect-metric-catalogue.ts. Recording never throws and never waits:
 * a metric must not hold back an effect, nor its journal.
 */
import type { MetricRecorder } from './metric-recorder.ts';

/**
 * `partly_done`: of several targets some took effect, and of the others it is known that they did not. `refused`: the gate, a recheck or the
 * decider said no, and nothing was sent.
 */
export type EffectOutcome = 'done' | 'partly_done' | 'not_done' | 'unknown' | 'refused';
export type ApprovalOutcome = 'approved' | 'denied' | 'expired' | 'void';
/** Why an SSH command has no exit status. */
export type SshFailureKind = 'unreachable' | 'host_key' | 'denied' | 'egress' | 'protocol' | 'timed_out' | 'lost' | 'signal' | 'too_large';

export interface WaitingApprovals {
  readonly count: number;
  /** Of the one that waits longest; 0 when none waits. */
  readonly oldestMs: number;
}

export interface JournalState {
  /** On disk. */
  readonly bytes: number;
  /** Nothing can be kept at the moment. */
  readonly failed: boolean;
}

export class EffectMetrics {
  readonly #recorder: MetricRecorder;
  readonly #label: (action: string) => string;

  /** `label`: the action under the name it may have on the page. */
  constructor(recorder: MetricRecorder, label: (action: string) => string) {
    this.#recorder = recorder;
    this.#label = label;
  }

  /** Once for each operation of an effect; an operation of many targets is unknown where one of them is. */
  ended(action: string, outcome: EffectOutcome): void {
    this.#recorder.add('effects_total', { action: this.#label(action), outcome });
  }

  replayed(action: string): void {
    this.#recorder.add('replays_total', { action: this.#label(action) });
  }

  /** `code`: EVIDENCE_REQUIRED, EVIDENCE_INCOMPLETE or EVIDENCE_EXPIRED. Calls that fail so are counted by SidecarMetrics. */
  evidenceRefused(action: string, code: string): void {
    this.#recorder.add('evidence_refusals_total', { action: this.#label(action), code });
  }

  /** A question was asked; not when it is the same question again. */
  asked(action: string): void {
    this.#recorder.add('approvals_total', { action: this.#label(action), outcome: 'asked' });
  }

  decided(action: string, outcome: ApprovalOutcome, waitedMs: number): void {
    const label = this.#label(action);
    this.#recorder.add('approvals_total', { action: label, outcome });
    if (outcome === 'approved' || outcome === 'denied') this.#recorder.add('approval_wait_seconds', { action: label }, waitedMs / 1000);
  }

  /** Asked for at every scrape, like the two below. */
  waiting(read: () => WaitingApprovals): void {
    this.#recorder.gauge('approvals_waiting', () => [[{}, read().count]]);
    this.#recorder.gauge('approval_oldest_age_seconds', () => [[{}, read().oldestMs / 1000]]);
  }

  /** Operations of unknown outcome that nobody has resolved. */
  unknownOperations(read: () => number): void {
    this.#recorder.gauge('unknown_operations', () => [[{}, read()]]);
  }

  journal(read: () => JournalState): void {
    this.#recorder.gauge('journal_bytes', () => [[{}, read().bytes]]);
    this.#recorder.gauge('journal_failed_state', () => [[{}, Number(read().failed)]]);
  }

  /** One commit of the journal: how long its sync took, what was appended. */
  journalSynced(durationMs: number, bytes: number): void {
    this.#recorder.add('journal_sync_seconds', {}, durationMs / 1000);
    this.#recorder.add('journal_written_bytes_total', {}, bytes);
  }

  /** A host asked to open a channel to us. */
  sshChannelRefused(action: string): void {
    this.#recorder.add('ssh_channels_refused_total', { action: this.#label(action) });
  }

  sshFailed(action: string, kind: SshFailureKind): void {
    this.#recorder.add('ssh_failures_total', { action: this.#label(action), kind });
  }
}
