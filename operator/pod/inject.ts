/**
 * The sidecar put into a pod: pure, idempotent, and knowing nothing but its arguments, so that the answer takes no network call and a
 * dry run gets the same (failure cases INJ-14, INJ-20, INJ-27).
 *
 * - The sidecar is the first init container, so that those after it can call it; on reinvocation it is put first again (INJ-10).
 * - All else of the pod stays as it came.
 * - No user, group or UID is set anywhere (INJ-11).
 *
 * What other webhooks do to the pod afterwards is judged by the guard in the API server, which sees the final pod (INJ-09, INJ-21).
 */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { ANNOTATION } from '#core/resource/names.ts';
import type { SizeClass } from '#operator/settings.ts';
import { type AgentPod, findingText, type PodContainer, type PodVolume } from './agent-pod.ts';
import { decideInjection, type InjectionScope, type Refusal, type Skip } from './injection-decision.ts';
import { checkReservedNames } from './reserved-names.ts';
import { type SidecarRelease, sidecarContainer } from './sidecar-container.ts';
import { SIDECAR_VOLUMES, sidecarVolumes } from './sidecar-volumes.ts';

export interface InjectionFacts extends InjectionScope {
  /** First: what is injected now. Others may stand in a pod that another replica saw first, during a CA rotation. */
  readonly releases: readonly [SidecarRelease, ...SidecarRelease[]];
  /** Containers of that size which the guard allows, whoever wrote them: during an upgrade, those of a replica of the other release. */
  readonly allowed?: (size: SizeClass) => readonly unknown[];
  /** First: the default. */
  readonly sizes: readonly [SizeClass, ...SizeClass[]];
}

export type Injection = { readonly kind: 'inject'; readonly pod: AgentPod; readonly because: string } | Skip | Refusal;

export function injectPod(pod: AgentPod, facts: InjectionFacts): Injection {
  const decision = decideInjection(pod, facts);
  if (decision.kind !== 'wanted') return decision;
  const size = chosenSize(pod, facts.sizes);
  if (typeof size === 'string') return refuse([size]);
  if (facts.grants.secrets.length > limits.sidecarSecretsMax) return refuse([tooManySecrets(facts)]);
  const own = facts.releases.map((release) => sidecarContainer(release, size));
  const { findings, sidecarAt } = checkReservedNames(pod, [...own, ...(facts.allowed?.(size) ?? [])]);
  if (findings.length > 0) return refuse(findings.map(findingText));
  return { kind: 'inject', pod: withSidecar(pod, facts, size, sidecarAt), because: decision.because };
}

function refuse(sentences: readonly string[]): Injection {
  return { kind: 'refuse', message: sentences.slice(0, SENTENCES_MAX).join(' ') };
}

const SENTENCES_MAX = 16;

/** A wrong value is refused: ignoring it would leave a limit nobody asked for (failure case INJ-13). */
function chosenSize(pod: AgentPod, sizes: InjectionFacts['sizes']): SizeClass | string {
  const name = pod.metadata?.annotations?.[ANNOTATION.size];
  if (name === undefined) return sizes[0];
  const known = sizes.map((size) => size.name).join(', ');
  const shown = visibleText(name, { chars: 63 });
  return (
    sizes.find((size) => size.name === name) ?? `metadata.annotations[${ANNOTATION.size}]: "${shown}" is no size; use one of ${known}.`
  );
}

function tooManySecrets({ grants }: InjectionFacts): string {
  const count = `${grants.secrets.length} Secrets, more than ${limits.sidecarSecretsMax}`;
  return `spec.serviceAccountName: contracts give this ServiceAccount ${count}; give some contracts to another ServiceAccount.`;
}

function withSidecar(pod: AgentPod, facts: InjectionFacts, size: SizeClass, sidecarAt: number | undefined): AgentPod {
  const { spec, metadata } = pod;
  const others = (spec.initContainers ?? []).filter((_, index) => index !== sidecarAt);
  const sidecar = sidecarAt === undefined ? undefined : spec.initContainers?.[sidecarAt];
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...metadata?.annotations, [ANNOTATION.injection]: `injected, size ${size.name}` } },
    spec: {
      ...spec,
      initContainers: [sidecar ?? (sidecarContainer(facts.releases[0], size) as PodContainer), ...others],
      volumes: withVolumes(spec.volumes ?? [], sidecarVolumes(facts.grants.secrets)),
    },
  };
}

/** Ours are replaced where they stand and appended where they are missing: an order that changed would be a patch for nothing. */
function withVolumes(found: readonly PodVolume[], ours: readonly PodVolume[]): readonly PodVolume[] {
  const kept = found.map((volume) => ours.find(({ name }) => name === volume.name && SIDECAR_VOLUMES.includes(name)) ?? volume);
  return [...kept, ...ours.filter(({ name }) => !found.some((volume) => volume.name === name))];
}
