/**
 * All one sidecar serves: compiled contracts by action, and what it needs to reach their remotes. Swapped whole,
 * pinned by each call at its start, so that one call never sees two configurations.
 */
import { isReviewed } from '#core/completeness/evidence-claim.ts';
import type { CompiledContract, JsonValue, SourceRules } from '#core/contract/compiled.ts';
import { nearestName } from '#core/contract/nearest.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Remote } from '#sidecar/execute/remote.ts';

export interface ServedAction {
  readonly contract: CompiledContract;
  /** The remote of one source with the credential `args` choose. Throws PosternError. */
  remote(args: Readonly<Record<string, JsonValue>>, source: SourceRules | undefined): Remote;
  /** A text without any credential of the bundle, for a record of the call. Default: there are none. */
  masked?(text: string): string;
  /** Bindings whose owner wants a person for every effect (`approval: EachUse`). Default none. */
  readonly eachUse?: ReadonlySet<string>;
  /** Some contract lets a person decide over an incomplete answer of this read. Filled in by the bundle. */
  readonly reviewed?: boolean;
}

export class Bundle {
  readonly #byAction: ReadonlyMap<string, ServedAction>;
  readonly #byContract: ReadonlyMap<string, ServedAction>;
  readonly #suspendedActions: ReadonlySet<string>;
  readonly #suspendedBindings: ReadonlySet<string>;

  /** `suspendedBindings`: names. */
  constructor(actions: readonly ServedAction[], suspendedBindings: ReadonlySet<string> = new Set()) {
    const contracts = actions.map(({ contract }) => contract);
    const served = actions.map((each) => (isReviewed(each.contract, contracts) ? { ...each, reviewed: true } : each));
    this.#byAction = new Map(served.map((each) => [each.contract.action, each]));
    this.#byContract = new Map(served.map((each) => [each.contract.name, each]));
    this.#suspendedActions = new Set(actions.flatMap(({ contract }) => (contract.suspended === undefined ? [] : [contract.action])));
    this.#suspendedBindings = suspendedBindings;
  }

  actions(): readonly ServedAction[] {
    return [...this.#byAction.values()];
  }

  has(name: string): boolean {
    return this.#byAction.has(name);
  }

  /** By metadata.name: how contracts name each other. */
  byContract(name: string): ServedAction | undefined {
    return this.#byContract.get(name);
  }

  /** What of this contract - which may be of an older bundle - its owner, or the owner of a credential it lists, has suspended here. */
  suspension({ action, credentials }: Pick<CompiledContract, 'action' | 'credentials'>): 'contract' | 'binding' | undefined {
    if (this.#suspendedActions.has(action)) return 'contract';
    if (this.#suspendedBindings.size === 0) return undefined;
    return credentials.some((name) => this.#suspendedBindings.has(name)) ? 'binding' : undefined;
  }

  /** Throws ACTION_UNKNOWN with the nearest name that exists. */
  action(name: string): ServedAction {
    const found = this.#byAction.get(name);
    if (found !== undefined) return found;
    const nearest = nearestName(name, [...this.#byAction.keys()]);
    throw new PosternError(
      'ACTION_UNKNOWN',
      nearest === undefined
        ? 'No action of this name is served here.'
        : `No action of this name is served here; the nearest is ${nearest}.`,
      {
        details: nearest === undefined ? {} : { nearest },
      },
    );
  }
}
