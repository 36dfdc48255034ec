/** The sidecar for pods that are made. Asks the caches only; a dry run gets the same answer, because nothing is ever created here. */

import type { AllowedRelease } from '#operator/guard/sidecar-release.ts';
import type { AgentPod } from '#operator/pod/agent-pod.ts';
import { injectPod } from '#operator/pod/inject.ts';
import { accountOf } from '#operator/pod/injection-decision.ts';
import type { InjectionFactsSource } from '#operator/pod/injection-facts.ts';
import { podPatch } from '#operator/pod/pod-patch.ts';
import type { SidecarRelease } from '#operator/pod/sidecar-container.ts';
import type { SizeClass } from '#operator/settings.ts';
import type { AdmissionAnswer, AdmissionRequest } from './admission-review.ts';
import type { Webhook } from './server.ts';

export interface MutatePodOptions {
  readonly facts: InjectionFactsSource;
  readonly sizes: readonly [SizeClass, ...SizeClass[]];
  /** What is injected now comes first; the pin may change while we run. */
  releases(): readonly [SidecarRelease, ...SidecarRelease[]];
  /** What the guard allows, also of another release: when an upgrade has replicas of both, either may be asked again about the other's pod. */
  allowed(): readonly AllowedRelease[];
}

export function mutatePod(options: MutatePodOptions): Webhook {
  return { name: 'pods', path: '/mutate/pods', fails: 'open', answer: (request) => answer(request, options) };
}

function answer(request: AdmissionRequest, { facts, sizes, releases, allowed }: MutatePodOptions): AdmissionAnswer {
  if (request.operation !== 'CREATE' || request.resource !== 'pods' || request.subresource !== '') return { allowed: true };
  const pod = asPod(request.object);
  if (pod === undefined) return { allowed: false, message: 'spec.containers: the pod has none.' };
  // The namespace of the request, because that of the object may still be empty (failure case INJ-14).
  const scope = facts.scopeOf(request.namespace, accountOf(pod));
  const outcome = injectPod(pod, { ...scope, releases: releases(), sizes, allowed: (size) => containersOf(allowed(), size) });
  switch (outcome.kind) {
    case 'inject':
      return { allowed: true, patch: podPatch(pod, outcome.pod) };
    case 'skip':
      return outcome.notable
        ? { allowed: true, warnings: [`postern: this pod gets no sidecar. ${outcome.because}`.slice(0, WARNING_CHARS)] }
        : { allowed: true };
    case 'refuse':
      return { allowed: false, message: outcome.message, ...(outcome.soon === true && { retryAfterSeconds: 1 }) };
  }
}

function containersOf(releases: readonly AllowedRelease[], { name }: SizeClass): readonly unknown[] {
  return releases.flatMap(({ container, sizes }) => (Object.hasOwn(sizes, name) ? [{ ...container, resources: sizes[name] }] : []));
}

/** What API servers keep of one warning. */
const WARNING_CHARS = 256;

function asPod(object: AdmissionRequest['object']): AgentPod | undefined {
  const spec = object?.spec;
  if (typeof spec !== 'object' || spec === null || !('containers' in spec) || !Array.isArray(spec.containers)) return undefined;
  return object as unknown as AgentPod;
}
