/**
 * All one sidecar serves: compiled contracts by action, and what it needs to reach their remotes. Swapped whole,
 * pinned by each call at its start, so that one call never sees two configurations.
 */
import type { CompiledContract, JsonValue, SourceRules } from '#core/contract/compiled.ts';
import { nearestName } from '#core/contract/nearest.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Remote } from '#sidecar/execute/remote.ts';

export interface ServedAction {
  readonly contract: CompiledContract;
  /** The remote of one source with the credential `args` choose. Throws PosternError. */
  remote(args: Readonly<Record<string, JsonValue>>, source: SourceRules | undefined): Remote;
}

export class Bundle {
  readonly #byAction: ReadonlyMap<string, ServedAction>;
  readonly #suspendedActions: ReadonlySet<string>;
  readonly #suspendedBindings: ReadonlySet<string>;

  /** `suspendedBindings`: names. */
  constructor(actions: readonly ServedAction[], suspendedBindings: ReadonlySet<string> = new Set()) {
    this.#byAction = new Map(actions.map((served) => [served.contract.action, served]));
    this.#suspendedActions = new Set(actions.flatMap(({ contract }) => (contract.suspended === undefined ? [] : [contract.action])));
    this.#suspendedBindings = suspendedBindings;
  }

  actions(): readonly ServedAction[] {
    return [...this.#byAction.values()];
  }

  has(name: string): boolean {
    return this.#byAction.has(name);
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
