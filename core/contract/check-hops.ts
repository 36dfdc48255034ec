/**
 * The hops before a destination (`via`): each is a binding of its own, with its own key and its own pins, and listed in `spec.credentials`
 * like every other one the contract may use. So its digest is part of the revision, and whoever brings bindings and Secrets to a sidecar
 * needs to know nothing of hops. It need not grant itself to the contract (`contracts: []` is what a hop has): nothing is done there.
 *
 * A hop that is not listed leaves the contract not ready and is no error: the owner of a binding may put a hop before it at any time.
 */
import { limits } from '#core/bounds/limits.ts';
import type { HttpTarget, SshTarget } from './compiled.ts';
import type { CompiledBinding } from './compiled-binding.ts';
import type { Draft } from './draft.ts';

export interface Hops {
  /** Of listed bindings that are the hop of another one. */
  readonly names: ReadonlySet<string>;
  readonly notReady: readonly string[];
}

interface Way {
  readonly target: HttpTarget | SshTarget;
  /** Bindings the target names itself. */
  readonly uses: readonly string[];
  /** The listed ones that are there. */
  readonly bindings: ReadonlyMap<string, CompiledBinding>;
}

export function checkHops(draft: Draft, { target, uses, bindings }: Way): Hops {
  const names = new Set<string>();
  const notReady: string[] = [];
  for (const use of new Set(uses)) {
    const binding = bindings.get(use);
    if (binding === undefined) continue;
    const vias = viasOf(binding);
    // Its owner wants a hop in between; going there directly is not what was granted.
    if (target.kind === 'http' && vias.length > 0)
      notReady.push(`The binding ${use} goes through a hop (via), and HTTP goes through none; only commands over SSH do.`);
    for (const via of vias) follow(draft, { from: use, via, bindings, names, notReady });
  }
  return { names, notReady };
}

function viasOf({ spec }: CompiledBinding): readonly string[] {
  return [...new Set(spec.destinations.flatMap(({ via }) => (via === undefined ? [] : [via])))];
}

/** From one hop to the hop before it, as far as they are there. */
function follow(
  draft: Draft,
  start: {
    readonly from: string;
    readonly via: string;
    readonly bindings: Way['bindings'];
    readonly names: Set<string>;
    readonly notReady: string[];
  },
): void {
  const node = draft.spec.at('credentials');
  let { from, via }: { from: string; via: string | undefined } = start;
  for (let hosts = 2; via !== undefined; hosts += 1) {
    if (hosts > limits.sshHostsMax) {
      node.problem('binding-hop', `The way of ${start.from} has more than ${limits.sshHostsMax - 1} hops.`);
      return;
    }
    start.names.add(via);
    if (!node.list().some(({ value }) => value === via)) {
      start.notReady.push(`The binding ${via} is the hop before ${from}: list it in spec.credentials too.`);
      return;
    }
    const hop = start.bindings.get(via);
    if (hop === undefined) return;
    if (!Object.hasOwn(hop.spec.use, 'sshKey') || hop.spec.destinations.length !== 1) {
      node.problem('binding-hop', `${via} is the hop before ${from}, and not an sshKey with one destination.`);
      return;
    }
    from = via;
    via = viasOf(hop)[0];
  }
}
