/**
 * Keeps the policy `postern-sidecar` and its binding as they must be: made when they are gone, put right when somebody edited them,
 * renewed when a release comes or goes.
 *
 * Every replica does this, not the leader alone: a new replica MUST be sure that its release is allowed before it injects it, and an
 * upgrade starts with replicas that do not lead. Two at once are kept apart by the resource version.
 *
 * Server-side apply alone would leave what others added - one more match condition that never holds would switch the policy off - so
 * what comes back is compared, and whatever is too much is taken out.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { FIELD_MANAGER } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import type { KubeObject, OwnerReference } from '#operator/kube/records.ts';
import { KINDS, type ResourceKind } from '#operator/kube/resource-kind.ts';
import {
  nextReleases,
  PAST_RELEASES_ANNOTATION,
  pastReleases,
  RELEASES_ANNOTATION,
  readReleases,
  releasesText,
  type SeenRelease,
} from './allowed-releases.ts';
import { type GuardObject, guardObjects } from './policies.ts';
import type { GuardSettings } from './policy.ts';
import { SIDECAR_POLICY, sidecarPolicy } from './sidecar-policy.ts';
import { type AllowedRelease, equal } from './sidecar-release.ts';

export interface OwnPolicyOptions {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch'>;
  readonly settings: GuardSettings;
  /** What this replica injects. */
  readonly release: AllowedRelease;
  readonly clock: Clock;
  /** ClusterRole that owns policy and binding, so that uninstalling removes both; default the chart's. */
  readonly owner?: string;
}

type Stored = KubeObject & { readonly spec?: unknown };

export class OwnPolicy {
  readonly #options: OwnPolicyOptions;
  #seen: readonly SeenRelease[] = [];
  #past: readonly SeenRelease[] = [];

  constructor(options: OwnPolicyOptions) {
    this.#options = options;
  }

  /** What the policy allows since the last pass; empty before the first, and a pod judged by it then is refused. */
  get releases(): readonly AllowedRelease[] {
    return this.#seen.map(({ release }) => release);
  }

  /** Those, and what was allowed before them: a pod that runs was made when its release was, and its sidecar cannot have changed since. */
  get known(): readonly AllowedRelease[] {
    return [...this.#seen, ...this.#past].map(({ release }) => release);
  }

  /** One pass, to be repeated every limits.guardCheckMs: resolves once policy and binding are stored as they must be, with whether something was wrong. Throws KubeError. */
  async keep(): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#pass();
      } catch (error) {
        if (!isKubeError(error, 409) || tries === limits.guardTriesMax) throw error;
      }
    }
  }

  async #pass(): Promise<boolean> {
    const { client, settings, release, clock } = this.#options;
    const stored = await client.get<Stored>(KINDS.policies, { name: SIDECAR_POLICY });
    const before = readReleases(stored?.metadata.annotations?.[RELEASES_ANNOTATION]);
    const seen = nextReleases(before, release, clock.wallMs());
    const releases = seen.map((entry) => entry.release);
    const pastBefore = readReleases(stored?.metadata.annotations?.[PAST_RELEASES_ANNOTATION], limits.guardPastReleasesMax);
    // Somebody who deletes the policy deletes its memory; what this replica remembers goes back into it.
    const past = pastReleases([...pastBefore, ...this.#seen, ...this.#past], before, seen);
    const owners = await this.#owners();
    const [policy, binding] = guardObjects(sidecarPolicy(settings, releases));
    const wrotePolicy = await this.#put(KINDS.policies, stored, withReleases(policy, { seen, past }, owners));
    const bound = await client.get<Stored>(KINDS.policyBindings, { name: SIDECAR_POLICY });
    const wroteBinding = await this.#put(KINDS.policyBindings, bound, {
      ...binding,
      metadata: { ...binding.metadata, ownerReferences: owners },
    });
    this.#seen = seen;
    this.#past = past;
    return wrotePolicy || wroteBinding;
  }

  async #owners(): Promise<readonly OwnerReference[]> {
    const { client, owner = FIELD_MANAGER.operator } = this.#options;
    const role = await client.get<KubeObject>(KINDS.clusterRoles, { name: owner });
    if (role === null) return []; // not installed by the chart
    return [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: owner, uid: role.metadata.uid }];
  }

  async #put(kind: ResourceKind, stored: Stored | null, wanted: GuardObject): Promise<boolean> {
    if (stored !== null && isAsWanted(stored, wanted)) return false;
    const { client } = this.#options;
    const resourceVersion = stored === null ? {} : { resourceVersion: stored.metadata.resourceVersion };
    const applied = await client.apply<Stored>(
      kind,
      { ...wanted, metadata: { ...wanted.metadata, ...resourceVersion } },
      { manager: FIELD_MANAGER.operator, force: true },
    );
    if (equal(applied.spec, wanted.spec)) return true;
    const spec = patchTo(applied.spec, wanted.spec);
    await client.patch(kind, { name: wanted.metadata.name }, { metadata: { resourceVersion: applied.metadata.resourceVersion }, spec });
    return true;
  }
}

interface Annotated {
  readonly seen: readonly SeenRelease[];
  readonly past: readonly SeenRelease[];
}

function withReleases(policy: GuardObject, { seen, past }: Annotated, ownerReferences: readonly OwnerReference[]): GuardObject {
  const annotations = {
    [RELEASES_ANNOTATION]: releasesText(seen),
    ...(past.length > 0 && { [PAST_RELEASES_ANNOTATION]: releasesText(past) }),
  };
  return { ...policy, metadata: { ...policy.metadata, annotations, ownerReferences } };
}

function isAsWanted({ spec, metadata }: Stored, wanted: GuardObject): boolean {
  const sameAnnotation = (name: string) => metadata.annotations?.[name] === wanted.metadata.annotations?.[name];
  return (
    equal(spec, wanted.spec) &&
    sameAnnotation(RELEASES_ANNOTATION) &&
    sameAnnotation(PAST_RELEASES_ANNOTATION) &&
    (wanted.metadata.ownerReferences ?? []).every((owner) =>
      (metadata.ownerReferences ?? []).some(({ uid }) => uid === (owner as OwnerReference).uid),
    )
  );
}

/** A JSON merge patch that makes `now` into `wanted`: lists as wholes, and null for members that are too much. */
function patchTo(now: unknown, wanted: unknown): unknown {
  if (!isMap(now) || !isMap(wanted)) return wanted;
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(now), ...Object.keys(wanted)])) {
    if (!equal(now[key], wanted[key])) patch[key] = key in wanted ? patchTo(now[key], wanted[key]) : null;
  }
  return patch;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
