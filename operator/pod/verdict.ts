/**
 * A pod as it is, in words: has it the sidecar, why, which Secrets are mounted, what to do. The same decision as at its making, so that
 * the explanation cannot differ from what happened; whether its sidecar is intact is for the guard to say.
 */
import { SIDECAR } from '#core/resource/names.ts';
import type { AgentPod, PodVolume } from './agent-pod.ts';
import type { MountedSecret } from './caller-grants.ts';
import { decideInjection, type InjectionScope } from './injection-decision.ts';

export interface PodVerdict {
  readonly injected: boolean;
  /** Sentences. */
  readonly because: string;
  /** Keys by Secret in the sidecar's volume. */
  readonly mounted: readonly MountedSecret[];
  /** Keys that contracts grant and the volume lacks: mounts of a running pod cannot change. */
  readonly missing: readonly MountedSecret[];
  /** Keys in the volume that no contract grants any more; calls cannot use them. */
  readonly unused: readonly MountedSecret[];
  /** What to do; empty when all is well. */
  readonly cures: readonly string[];
}

export function podVerdict(pod: AgentPod, scope: InjectionScope): PodVerdict {
  const decision = decideInjection(pod, scope);
  const mounted = mountedIn(pod.spec.volumes ?? []);
  if (!(pod.spec.initContainers ?? []).some(({ name }) => name === SIDECAR.container)) {
    const without = { injected: false, mounted, missing: [], unused: [] };
    if (decision.kind === 'skip') return { ...without, because: decision.because, cures: decision.cure === '' ? [] : [decision.cure] };
    if (decision.kind === 'refuse') return { ...without, because: decision.message, cures: ['Correct it, and make the pod anew.'] };
    return { ...without, because: `${decision.because} ${TOO_OLD}`, missing: scope.grants.secrets, cures: [MAKE_ANEW] };
  }
  const missing = less(scope.grants.secrets, mounted);
  const because = decision.kind === 'wanted' ? decision.because : `It would not get the sidecar now. ${wordsOf(decision)}`;
  return {
    injected: true,
    because,
    mounted,
    missing,
    unused: less(mounted, scope.grants.secrets),
    cures: missing.length > 0 ? [MAKE_ANEW] : [],
  };
}

const TOO_OLD = 'The pod was made before that, or while the operator could not be asked.';
const MAKE_ANEW = 'Make the pod anew, with kubectl rollout restart of its workload: what a running pod mounts cannot change.';

function wordsOf(decision: Exclude<ReturnType<typeof decideInjection>, { kind: 'wanted' }>): string {
  return decision.kind === 'skip' ? decision.because : decision.message;
}

interface ProjectedVolume extends PodVolume {
  readonly projected?: {
    readonly sources?: readonly { readonly secret?: { readonly name?: string; readonly items?: readonly { readonly key: string }[] } }[];
  };
}

function mountedIn(volumes: readonly ProjectedVolume[]): readonly MountedSecret[] {
  const volume = volumes.find(({ name }) => name === SIDECAR.credentialsVolume);
  return (volume?.projected?.sources ?? []).flatMap(({ secret }) =>
    secret?.name === undefined ? [] : [{ secret: secret.name, keys: (secret.items ?? []).map(({ key }) => key) }],
  );
}

function less(these: readonly MountedSecret[], those: readonly MountedSecret[]): readonly MountedSecret[] {
  return these.flatMap(({ secret, keys }) => {
    const other = those.find((one) => one.secret === secret)?.keys ?? [];
    const left = keys.filter((key) => !other.includes(key));
    return left.length === 0 ? [] : [{ secret, keys: left }];
  });
}
