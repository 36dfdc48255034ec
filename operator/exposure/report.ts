/**
 * Tells of unguarded pods, one namespace at a time, on the leader: an Event on the namespace, counts for the metric, and the condition
 * `Exposed` on the sessions of the same ServiceAccounts - what such a pod does looks like them to every remote.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { Key } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { Finding } from '#operator/kube/conditions.ts';
import type { EventTeller } from '#operator/kube/events.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { applyStatus, type StatusPart } from '#operator/kube/status.ts';
import { EXPOSURES, type Exposure, exposureNote, type NamespaceExposure, namespaceExposure, some } from './exposure.ts';

export interface ExposureMeans {
  readonly client: Pick<KubeClient, 'apply' | 'get'>;
  readonly cluster: Cluster;
  readonly events: Pick<EventTeller, 'tell'>;
  readonly clock: Clock;
}

/** A manager of its own: the other conditions of a session belong to others. */
export const EXPOSED_STATUS: StatusPart = { kind: KINDS.sessions, manager: 'postern-exposure', fields: [], conditions: ['Exposed'] };

export class ExposureReport {
  readonly #means: ExposureMeans;
  readonly #found = new Map<string, NamespaceExposure>();

  constructor(means: ExposureMeans) {
    this.#means = means;
  }

  /** Pods by reason over all namespaces, for the metric. */
  counts(): Readonly<Record<Exposure, number>> {
    const counts: Record<Exposure, number> = { reserved_secret: 0, mirror: 0, labelled_without_sidecar: 0, caller_without_sidecar: 0 };
    for (const { pods } of this.#found.values()) {
      for (const reason of Object.keys(EXPOSURES) as Exposure[]) counts[reason] += pods[reason].length;
    }
    return counts;
  }

  /** One look at one namespace. Throws what the API server refuses; the queue tries again. */
  async reconcile(name: Key): Promise<undefined> {
    const { cluster } = this.#means;
    const before = this.#found.get(name);
    const now = namespaceExposure(name, cluster);
    const note = exposureNote(now);
    if (note === '') this.#found.delete(name);
    else this.#found.set(name, now);
    if (note !== '' && (before === undefined || exposureNote(before) !== note)) this.#tell(name, note);
    for (const session of sessionsIn(name, cluster)) await this.#mark(session, now.accounts.get(session.spec.serviceAccount) ?? []);
  }

  /** What another leader finds is its to say. */
  forget(): void {
    this.#found.clear();
  }

  #tell(name: string, note: string): void {
    const namespace = this.#means.cluster.namespaces.get(name);
    if (namespace === undefined) return;
    const about = { kind: KINDS.namespaces, namespace: '', name, uid: namespace.uid };
    this.#means.events.tell(about, { type: 'Warning', reason: 'PodsUnguarded', action: 'Report', note });
  }

  async #mark(session: SessionRecord, pods: readonly string[]): Promise<void> {
    const { client, clock } = this.#means;
    await applyStatus(client, EXPOSED_STATUS, session, { fields: {}, conditions: exposed(pods) }, clock);
  }
}

/** Absent while nothing is exposed. */
function exposed(pods: readonly string[]): readonly Finding[] {
  if (pods.length === 0) return [];
  const message = `Pods of the same ServiceAccount run unguarded: ${some(pods)}.`;
  return [{ type: 'Exposed', status: 'True', reason: 'PodsUnguarded', message }];
}

/** Those that still run. The cache has no index by namespace; accounts lead there. */
function sessionsIn(namespace: string, cluster: Cluster): readonly SessionRecord[] {
  const accounts = new Set(cluster.contracts.by('namespace', namespace).flatMap(({ callers }) => callers));
  for (const { serviceAccount } of cluster.pods.by('namespace', namespace)) accounts.add(serviceAccount);
  const sessions = [...accounts].flatMap((account) => cluster.sessions.by('account', `${namespace}/${account}`));
  return sessions.filter(({ status }) => status?.state !== 'Ended' && status?.state !== 'Revoked');
}

/** Namespaces whose exposure a change may concern. Returns how to stop. */
export function watchExposure(cluster: Cluster, note: (namespace: Key) => void): () => void {
  const stops = [
    cluster.pods.onChange((change) => note((change.kind === 'deleted' ? change.was : change.now).namespace)),
    cluster.contracts.onChange((change) => note((change.kind === 'deleted' ? change.was : change.now).namespace)),
    cluster.namespaces.onChange(({ key }) => note(key)),
    cluster.sessions.onChange((change) => {
      if (change.kind === 'added') note(change.now.namespace);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
