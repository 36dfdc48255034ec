/**
 * A contract from what was written to what people and other replicas read of it: gather -> compile -> one status. On the leader only.
 *
 * Nothing compiled is kept: a cluster may hold 10,000 contracts, and the sidecars compile for themselves what they serve. The other
 * replicas learn from the status what may be called and by whom.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { compileContract } from '#core/contract/compile.ts';
import { filledDefaults } from '#core/contract/merged-spec.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import { CONDITION, FIELD_MANAGER } from '#core/resource/names.ts';
import type { Key } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { BindingRecord, ContractRecord, SessionRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { applyStatus, type StatusPart } from '#operator/kube/status.ts';
import { type CallerFacts, callerFacts, cloudIdentityRefusal } from './callers.ts';
import { type ShownWarning, sessionFacts } from './session-facts.ts';
import { type Compiled, type ContractFacts, type ContractStatus, contractStatus } from './status.ts';
import { asWritten, PRESETS, surroundings } from './written.ts';

export interface CallerRights {
  /** A verdict of the leader before, for an account that was not reviewed yet. `key` is `namespace/account`. */
  trust(key: Key, refused: string | null): void;
  /** `it may create pods`, or null; after the first review if there was none. Throws KubeError when that fails. */
  verdict(key: Key): Promise<string | null>;
}

export interface ContractMeans {
  readonly client: Pick<KubeClient, 'apply' | 'get'>;
  readonly cluster: Cluster;
  readonly rights: CallerRights;
  readonly clock: Clock;
  /** The compiler failed on a contract; a fault of ours. MUST not throw. */
  onFault(key: Key, thrown: unknown): void;
}

export const CONTRACT_STATUS: StatusPart = {
  kind: KINDS.contracts,
  manager: FIELD_MANAGER.operator,
  fields: ['observedGeneration', 'revision', 'best', 'defaults', 'callers', 'warnings', 'sessions'],
  conditions: CONDITION.ActionContract,
};

const UNREVIEWED = 'what else it may do could not be reviewed yet';

export class ContractReconciler {
  readonly #means: ContractMeans;
  /** When the warnings of a contract were last written; only contracts that have some. */
  readonly #warnedMs = new Map<Key, number>();

  constructor(means: ContractMeans) {
    this.#means = means;
  }

  /** One look at one contract (`namespace/name`). Throws what the API server refuses; the queue tries again. */
  async reconcile(key: Key): Promise<{ readonly afterMs: number } | undefined> {
    const { cluster, clock, client } = this.#means;
    const record = cluster.contracts.get(key);
    if (record === undefined) {
      this.#warnedMs.delete(key);
      return undefined;
    }
    const { callers, failure } = await this.#callersOf(record);
    const { status, afterMs } = this.#statusNow(key, record, callers);
    const { conditions, ...fields } = status;
    const observed = { observedGeneration: record.generation };
    const found = conditions.map((condition) => ({ ...condition, ...observed }));
    await applyStatus(client, CONTRACT_STATUS, seenOf(record, status), { fields, conditions: found }, clock);
    if (failure !== undefined) throw failure;
    return afterMs === undefined ? undefined : { afterMs };
  }

  #statusNow(key: Key, record: ContractRecord, callers: readonly CallerFacts[]): { status: ContractStatus; afterMs: number | undefined } {
    const { cluster, clock } = this.#means;
    const nowMs = clock.wallMs();
    const { compiled, ...written } = this.#compile(key, record, nowMs);
    const revision = compiled.kind === 'compiled' ? compiled.contract.revision : undefined;
    const facts = sessionFacts({ name: record.name, revision }, sessionsOf(record, callers, cluster));
    const warnings = this.#paced(key, record.status?.warnings ?? [], facts.warnings);
    const status = contractStatus({
      name: record.name,
      generation: record.generation,
      compiled,
      ...written,
      callers,
      sessions: { ...facts, warnings: warnings.shown },
      nowMs,
    });
    const expires = compiled.kind === 'compiled' && Object.keys(compiled.contract.warnings).length > 0;
    return { status, afterMs: warnings.afterMs ?? (expires ? limits.contractRecheckMs : undefined) };
  }

  /** A contract that makes the compiler throw is set apart with a condition; the others go on (failure case OPR-11). */
  #compile(
    key: Key,
    record: ContractRecord,
    nowMs: number,
  ): Pick<ContractFacts, 'compiled' | 'defaults' | 'suspended' | 'suspendedBindings'> {
    const { cluster, onFault } = this.#means;
    try {
      const suspended = specOf(record).suspended?.because;
      const suspendedBindings = suspendedAmong(bindingsOf(record, cluster));
      const { object, report } = asWritten('ActionContract', record);
      if (object === undefined)
        return { compiled: { kind: 'problems', problems: report.problems }, defaults: {}, suspended, suspendedBindings };
      const compiled = compiledOf(object, surroundings(record, cluster), nowMs);
      const defaults = compiled.kind === 'compiled' ? filledDefaults(object, PRESETS, limits.statusDefaultsMax) : {};
      return { compiled, defaults, suspended, suspendedBindings };
    } catch (thrown) {
      onFault(key, thrown);
      return { compiled: { kind: 'fault' }, defaults: {}, suspended: undefined, suspendedBindings: [] };
    }
  }

  /** Every caller with its verdict. An account nobody could review is refused, and that is written before the failure is told. */
  async #callersOf(record: ContractRecord): Promise<{ callers: readonly CallerFacts[]; failure: unknown }> {
    const { cluster } = this.#means;
    const bindings = bindingsOf(record, cluster);
    let failure: unknown;
    const callers = await Promise.all(
      record.callers.map(async (serviceAccount) => {
        const account = `${record.namespace}/${serviceAccount}`;
        const before = record.status?.callers?.find((caller) => caller.serviceAccount === serviceAccount);
        const found = await this.#rightsOf(account, before).catch((thrown: unknown) => {
          failure ??= thrown;
          return UNREVIEWED;
        });
        const refused = cloudIdentityRefusal(cluster.accounts.get(account), bindings) ?? found ?? undefined;
        return callerFacts(serviceAccount, refused, cluster.pods.by('account', account));
      }),
    );
    return { callers, failure };
  }

  /**
   * A new leader has reviewed nobody yet, and trusts what the status says until the account's turn comes: else every bundle of the cluster
   * would wait for thousands of reviews. A verdict that turns out otherwise makes the queue look again.
   */
  #rightsOf(account: Key, before: { readonly refused?: string } | undefined): Promise<string | null> {
    const { rights } = this.#means;
    if (before !== undefined && before.refused !== UNREVIEWED) rights.trust(account, before.refused ?? null);
    return rights.verdict(account);
  }

  /** Times of warnings move with every call; they are written at most once in limits.statusWarningsMs, a new or ended one at once. */
  #paced(key: Key, before: readonly ShownWarning[], now: ShownWarning[]): { shown: ShownWarning[]; afterMs: number | undefined } {
    const nowMs = this.#means.clock.monotonicMs();
    const sameOnes = namesOf(before) === namesOf(now);
    if (now.length === 0) this.#warnedMs.delete(key);
    if (JSON.stringify(before) === JSON.stringify(now)) return { shown: now, afterMs: undefined };
    const dueMs = (this.#warnedMs.get(key) ?? Number.NEGATIVE_INFINITY) + limits.statusWarningsMs;
    if (sameOnes && nowMs < dueMs) return { shown: [...before], afterMs: dueMs - nowMs };
    if (now.length > 0) this.#warnedMs.set(key, nowMs);
    return { shown: now, afterMs: undefined };
  }
}

function namesOf(warnings: readonly ShownWarning[]): string {
  return JSON.stringify(warnings.map(({ code, owner }) => [code, owner]));
}

/** Beside what is there now; when that fails, alone, to tell whose problem it is. */
function compiledOf(contract: ResourceObject, beside: ReturnType<typeof surroundings>, nowMs: number): Compiled {
  const result = compileContract({ contract, ...beside, presets: PRESETS, nowMs });
  if (result.contract !== undefined) return { kind: 'compiled', contract: result.contract, problems: result.problems };
  const alone = compileContract({ contract, bindings: [], presets: PRESETS, contracts: [], nowMs });
  return { kind: alone.contract === undefined ? 'problems' : 'misfit', problems: result.problems };
}

function bindingsOf({ namespace, credentials }: ContractRecord, cluster: Cluster): readonly BindingRecord[] {
  return credentials.flatMap((name) => cluster.bindings.get(`${namespace}/${name}`) ?? []);
}

function suspendedAmong(bindings: readonly BindingRecord[]): readonly string[] {
  return bindings.filter(({ specJson }) => 'suspended' in JSON.parse(specJson)).map(({ name }) => name);
}

function specOf({ specJson }: ContractRecord): Partial<ActionContract['spec']> {
  return JSON.parse(specJson);
}

/** Sessions of callers that get the contract. */
function sessionsOf({ namespace }: ContractRecord, callers: readonly CallerFacts[], cluster: Cluster): readonly SessionRecord[] {
  return callers.flatMap(({ shown: { serviceAccount, refused } }) =>
    refused === undefined ? cluster.sessions.by('account', `${namespace}/${serviceAccount}`) : [],
  );
}

/**
 * The object as last seen, with the defaults the records leave out: they follow from the revision, and kept for 10,000 contracts they
 * would be the largest thing in memory.
 */
function seenOf(record: ContractRecord, { revision, defaults }: ContractStatus) {
  const same = record.status?.revision === revision && record.status?.observedGeneration === record.generation;
  return same && defaults !== undefined ? { ...record, status: { ...record.status, defaults } } : record;
}
