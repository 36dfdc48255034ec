/**
 * The JSON Patch (RFC 6902) from a pod to the injected one. Three places change, and each is written whole: two patches of one list by
 * position would depend on what stands there, and a reader of the golden files sees the outcome.
 */
import type { AgentPod } from './agent-pod.ts';
import { firstDifference } from './json-difference.ts';

export interface PatchStep {
  readonly op: 'add' | 'replace';
  readonly path: '/metadata/annotations' | '/spec/initContainers' | '/spec/volumes';
  readonly value: unknown;
}

/** Empty when nothing changes: a second look at our own output adds nothing (failure case INJ-20). */
export function podPatch(before: AgentPod, after: AgentPod): readonly PatchStep[] {
  return [
    ...step('/metadata/annotations', before.metadata?.annotations, after.metadata?.annotations),
    ...step('/spec/initContainers', before.spec.initContainers, after.spec.initContainers),
    ...step('/spec/volumes', before.spec.volumes, after.spec.volumes),
  ];
}

function step(path: PatchStep['path'], before: unknown, after: unknown): readonly PatchStep[] {
  if (firstDifference(before ?? undefined, after) === undefined) return [];
  // `add` on a member that is there replaces it; saying `replace` tells a reader which it was.
  return [{ op: before === undefined ? 'add' : 'replace', path, value: after }];
}
