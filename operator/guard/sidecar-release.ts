/**
 * What an init container `postern` must be: the sidecar of a release, field by field, with the volumes that belong to it. Literals, so
 * that image, arguments, environment, mounts, probes and security context cannot differ in anything (failure cases INJ-09, INJ-15,
 * INJ-21): a field nobody has heard of yet is a difference too.
 *
 * Two things may differ, because the platform sets them on each container. `securityContext.runAsUser`, any but root: platforms with UID
 * ranges (failure case INJ-11). And requests and limits of the node's own resources that the sidecar does not name, such as
 * `ephemeral-storage`: a LimitRange's defaults (failure case INJ-12). Not those of device plugins, `example.com/name`: with the device
 * a plugin hands the container mounts and environment. The pod's API token stays out, because a mount of the sidecar's own stands where ServiceAccount admission would put it.
 *
 * Pod-level settings are free here: what they can do to the sidecar, its own security context overrides or the shape rules refuse.
 */
import { RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { type SidecarRelease, sidecarContainer } from '#operator/pod/sidecar-container.ts';
import { sidecarVolumes } from '#operator/pod/sidecar-volumes.ts';
import type { SizeClass } from '#operator/settings.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface AllowedRelease {
  /** Without `resources`. */
  readonly container: Fields;
  /** `resources` by size class. */
  readonly sizes: Readonly<Record<string, Fields>>;
  /** Identity and state; the credentials volume differs from pod to pod. */
  readonly volumes: readonly Fields[];
}

/** As the API server stores it, quantities in canonical form. */
export function allowedRelease(release: SidecarRelease, classes: readonly SizeClass[]): AllowedRelease {
  const sizes: Record<string, Fields> = {};
  for (const size of classes) {
    sizes[size.name] = { requests: quantities(size.requests), limits: quantities(size.limits) };
  }
  const [first] = classes;
  if (first === undefined) throw new TypeError('a release has at least one size class');
  const { resources: _resources, ...container } = sidecarContainer(release, first);
  return { container, sizes, volumes: sidecarVolumes([]).filter(({ name }) => name !== SIDECAR.credentialsVolume) };
}

function quantities({ cpu, memory }: SizeClass['requests']): Fields {
  return { cpu: canonical(cpu, 'm', 1000, ['']), memory: canonical(memory, 'Mi', 1024, ['Gi', 'Ti']) };
}

/** 1000m is stored as 1, 1024Mi as 1Gi. */
function canonical(quantity: string, unit: string, step: number, larger: readonly string[]): string {
  let amount = Number(quantity.slice(0, -unit.length));
  let suffix = unit;
  for (const next of larger) {
    if (amount === 0 || amount % step !== 0) break;
    amount /= step;
    suffix = next;
  }
  return amount === 0 ? '0' : `${amount}${suffix}`;
}

/** Names of the fields in which the container is not the sidecar of this release; empty when it is. */
export function containerDifferences(container: Fields, release: AllowedRelease): readonly string[] {
  const fields = new Set([...Object.keys(release.container), 'resources', ...Object.keys(container)]);
  return [...fields].filter((field) => {
    const value = container[field];
    if (field === 'resources') return !Object.values(release.sizes).some((size) => sameResources(value, size));
    if (field === 'securityContext') return !sameSecurity(value, release.container[field] as Fields);
    return !equal(value, release.container[field]);
  });
}

/** The differences from the release it resembles most. */
export function closestDifferences(container: Fields, releases: readonly AllowedRelease[]): readonly string[] {
  const all = releases.map((release) => containerDifferences(container, release));
  return all.reduce((least, next) => (next.length < least.length ? next : least), all[0] ?? Object.keys(container));
}

/** All that the size class says, and beside it only resources of the node. */
function sameResources(value: unknown, size: Fields): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const found = value as Fields;
  const lists = new Set([...Object.keys(size), ...Object.keys(found)]);
  return [...lists].every((list) => {
    const wanted = size[list] as Fields | undefined;
    const given = found[list] as Fields | undefined;
    if (wanted === undefined || typeof given !== 'object' || given === null) return false;
    return Object.keys({ ...wanted, ...given }).every((name) => (name in wanted ? given[name] === wanted[name] : !name.includes('/')));
  });
}

function sameSecurity(value: unknown, allowed: Fields): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { runAsUser, ...rest } = value as Fields;
  return runAsUser !== 0 && equal(rest, allowed);
}

/** Whether a volume of the sidecar's name is what a release makes it. */
export function volumeAllowed(volume: Fields, releases: readonly AllowedRelease[]): boolean {
  if (volume.name !== SIDECAR.credentialsVolume) return releases.some(({ volumes }) => volumes.some((allowed) => equal(allowed, volume)));
  const projected = volume.projected as { readonly sources?: readonly Fields[] | null; readonly defaultMode?: number } | undefined;
  const sources = projected?.sources ?? [];
  const shape = { name: volume.name, projected: { sources: projected?.sources, defaultMode: CREDENTIALS_MODE } };
  return equal(volume, shape) && sources.every(isNamedKeys);
}

/** Mode of the credential files, 0444. */
export const CREDENTIALS_MODE = 0o444;

/** `{secret: {name: postern-*, optional: true, items: [{key: K, path: NAME/K}]}}`, nothing else. */
function isNamedKeys(source: Fields): boolean {
  const secret = source.secret as { readonly name?: unknown; readonly items?: readonly { readonly key?: string }[] } | undefined;
  if (typeof secret?.name !== 'string' || !secret.name.startsWith(RESERVED_PREFIX) || !Array.isArray(secret.items)) return false;
  const items = secret.items.map(({ key }) => ({ key, path: `${secret.name}/${key}` }));
  return items.length > 0 && equal(source, { secret: { name: secret.name, optional: true, items } });
}

/** Deep equality of JSON values; an undefined member is an absent one, and the order of keys says nothing. */
export function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => equal(item, other[index]));
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => equal((one as Fields)[key], (other as Fields)[key]));
}
