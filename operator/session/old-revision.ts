/**
 * The condition `OnOldRevision`: what was applied does not hold in this session. Absent while it does. A push under way is no news, so a
 * contract counts only once its revision has been the present one for limits.sessionBehindMs.
 */

import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Key } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { Finding } from '#operator/kube/conditions.ts';
import type { ContractRecord, SessionRecord } from '#operator/kube/records.ts';
import { type BehindContract, contractsBehind } from './behind.ts';

export interface OldRevision {
  readonly findings: readonly Finding[];
  /** Milliseconds until it may be another finding although nothing changes. */
  readonly againMs: number | undefined;
}

/** `ageMs`: how long the present revision of a contract has been known. */
export function oldRevision(session: SessionRecord, cluster: Pick<Cluster, 'contracts'>, ageMs: (contract: Key) => number): OldRevision {
  // The others are to run nothing, or have not run anything yet.
  if (session.status?.state !== 'Active') return { findings: [], againMs: undefined };
  const behind = contractsBehind(session, cluster);
  if (behind.length === 0) return { findings: [], againMs: undefined };
  const late = behind.filter(({ key }) => ageMs(key) >= limits.sessionBehindMs);
  const nextMs = Math.min(...behind.map(({ key }) => limits.sessionBehindMs - ageMs(key)).filter((ms) => ms > 0));
  const againMs = Number.isFinite(nextMs) ? nextMs : undefined;
  // Once said it stays until the session caught up: a new leader knows no ages, and would take it back and say it again.
  const said = (session.status.conditions ?? []).some(({ type, status }) => type === 'OnOldRevision' && status === 'True');
  if (late.length === 0 && !said) return { findings: [], againMs };
  return { findings: [finding(late.length === 0 ? behind : late)], againMs };
}

function finding(behind: readonly BehindContract[]): Finding {
  const names = behind.map(({ name, refused }) => (refused === undefined ? name : `${name} (refused: ${refused})`)).sort();
  const more = names.length > limits.conditionNamesMax ? ` and ${names.length - limits.conditionNamesMax} more` : '';
  const cure = behind.some(({ refused }) => refused !== undefined)
    ? 'Its sidecar knows less than the contract uses: restart the pod, so that it gets the present one.'
    : 'Its sidecar has not taken it: see the condition Connected, and the log of the container postern.';
  const message = `It does not run the present revision of ${names.slice(0, limits.conditionNamesMax).join(', ')}${more}. ${cure}`;
  const reason = behind.some(({ refused }) => refused !== undefined) ? 'Refused' : 'NotApplied';
  return { type: 'OnOldRevision', status: 'True', reason, message };
}

/** How long the present revisions of contracts have been known, counted from the start of this. */
export class RevisionAges {
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #sinceMs = new Map<Key, number>();
  readonly #stop: () => void;

  /** `changed`: sessions of these accounts (`namespace/account`) may soon lack something. */
  constructor(cluster: Pick<Cluster, 'contracts'>, clock: Clock, changed: (accounts: readonly Key[]) => void) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
    this.#stop = cluster.contracts.onChange((change) => {
      if (change.kind === 'deleted') {
        this.#sinceMs.delete(change.key);
        return;
      }
      if (change.kind === 'updated' && marks(change.was) === marks(change.now)) return;
      this.#sinceMs.set(change.key, clock.monotonicMs());
      changed(change.now.callers.map((account) => `${change.now.namespace}/${account}`));
    });
  }

  ageMs(contract: Key): number {
    return this.#clock.monotonicMs() - (this.#sinceMs.get(contract) ?? this.#startedMs);
  }

  stop(): void {
    this.#stop();
  }
}

/** What a sidecar is to run, and for whom. */
function marks({ status }: ContractRecord): string {
  const callers = (status?.callers ?? []).filter(({ refused }) => refused === undefined).map(({ serviceAccount }) => serviceAccount);
  return JSON.stringify([status?.revision, ...callers]);
}
