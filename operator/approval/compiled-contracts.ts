/**
 * Contracts compiled as this replica knows them now, for the cards it renders. A few are kept: a card is rendered at its asking and again
 * for its intent, minutes apart.
 */
import { limits } from '#core/bounds/limits.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { asWritten, namedContracts, PRESETS, surroundings } from '#operator/contract/written.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ContractRecord } from '#operator/kube/records.ts';

export interface CompiledNow {
  readonly contract: CompiledContract;
  /** Bindings whose owner demands a person for each effect, whatever the contract says. */
  readonly eachUse: ReadonlySet<string>;
}

interface Kept {
  /** Versions of all it was made from. */
  readonly versions: string;
  readonly compiled: CompiledNow | undefined;
}

export class CompiledContracts {
  readonly #cluster: Cluster;
  readonly #kept = new Map<Key, Kept>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Undefined for one that does not compile, or whose bindings or reads are not there yet. */
  of(record: ContractRecord, nowMs: number): CompiledNow | undefined {
    const key = keyOf(record);
    const versions = this.#versionsOf(record);
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    const now = kept?.versions === versions ? kept : { versions, compiled: this.#compile(record, nowMs) };
    this.#kept.set(key, now);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > limits.approvalCompiledMax && oldest !== undefined) this.#kept.delete(oldest);
    return now.compiled;
  }

  #compile(record: ContractRecord, nowMs: number): CompiledNow | undefined {
    const { object } = asWritten('ActionContract', record);
    if (object === undefined) return undefined;
    const { contract } = compileContract({ contract: object, ...surroundings(record, this.#cluster), presets: PRESETS, nowMs });
    if (contract === undefined || contract.notReady !== undefined) return undefined;
    const demanding = this.#bindingsOf(record).filter(({ specJson }) => JSON.parse(specJson).approval === 'EachUse');
    return { contract, eachUse: new Set(demanding.map(({ name }) => name)) };
  }

  #bindingsOf({ namespace, credentials }: ContractRecord) {
    return credentials.flatMap((name) => this.#cluster.bindings.get(keyOf({ namespace, name })) ?? []);
  }

  #versionsOf(record: ContractRecord): string {
    const { namespace } = record;
    const named = namedContracts(record).flatMap((name) => this.#cluster.contracts.get(keyOf({ namespace, name })) ?? []);
    return JSON.stringify([record, ...this.#bindingsOf(record), ...named].map(({ uid, generation }) => [uid, generation]));
  }
}
