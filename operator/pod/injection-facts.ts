/**
 * What the caches of a replica say about a pod that is about to be made. No network call: a mutating webhook adds to the time of every
 * pod (failure case INJ-27).
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ContractRecord } from '#operator/kube/records.ts';
import { callerGrants } from './caller-grants.ts';
import type { InjectionScope } from './injection-decision.ts';

/** Knows how long a contract has been undecided; one a replica. */
export class InjectionFactsSource {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  /** By UID and generation: when this replica first saw it undecided. Emptied as contracts are decided, change or go. */
  readonly #undecidedSince = new Map<string, { readonly generation: number; readonly ms: number }>();

  constructor(cluster: Cluster, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
    cluster.contracts.onChange((change) => {
      if (change.kind === 'deleted') this.#undecidedSince.delete(change.was.uid);
      else this.#note(change.now);
    });
    for (const contract of cluster.contracts.values()) this.#note(contract);
  }

  scopeOf(namespace: string, account: string): InjectionScope {
    const { contracts, bindings, namespaces } = this.#cluster;
    const grants = callerGrants(contracts.by('caller', `${namespace}/${account}`), account, (name) => bindings.get(`${namespace}/${name}`));
    return {
      namespace,
      enforced: namespaces.get(namespace)?.enforced ?? false,
      grants,
      waiting: grants.undecided.filter((contract) => this.#isNew(contract)).map(({ name }) => name),
    };
  }

  #note({ uid, generation, status }: ContractRecord): void {
    if (status?.observedGeneration === generation) {
      this.#undecidedSince.delete(uid);
      return;
    }
    if (this.#undecidedSince.get(uid)?.generation === generation) return;
    this.#undecidedSince.set(uid, { generation, ms: this.#clock.monotonicMs() });
  }

  /** Only for so long: with the leader away pods of a new contract's callers start, without what it grants (promise P6). */
  #isNew({ uid, generation }: ContractRecord): boolean {
    const since = this.#undecidedSince.get(uid);
    return since?.generation === generation && this.#clock.monotonicMs() - since.ms < limits.contractDecisionMsMax;
  }
}
