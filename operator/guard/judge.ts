/**
 * The guards' verdict about a pod, without an API server: for a pod that asks for its bundle, for a person who asks why, and for the
 * report about pods that are older than the guards. The same rules as the policies read, judged as on CREATE in an enforced namespace;
 * a test holds the two together.
 */
import { ANNOTATION, LABEL, RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { SIDECAR_VOLUMES } from '#operator/pod/sidecar-volumes.ts';
import { metAt } from './condition.ts';
import { SAYS } from './pod-policies.ts';
import { NAME_RULE, type Part, RESERVED_RULES, type Rule, SHAPE_RULES } from './pod-rules.ts';
import { SAYS_SIDECAR } from './sidecar-policy.ts';
import { type AllowedRelease, closestDifferences, volumeAllowed } from './sidecar-release.ts';

export interface Finding {
  /** Name of the rule, for tests and metrics. */
  readonly rule: string;
  /** As in the API: `spec.containers[0].securityContext.privileged`. */
  readonly path: string;
  /** One sentence without the path: rule and cure. */
  readonly message: string;
}

interface Named {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** The parts of a pod that are read here; whatever else there is, the rules find by path. */
export interface JudgedPod {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>> | null;
    readonly annotations?: Readonly<Record<string, string>> | null;
  };
  readonly spec: {
    readonly containers: readonly Named[];
    readonly initContainers?: readonly Named[] | null;
    readonly ephemeralContainers?: readonly Named[] | null;
    readonly volumes?: readonly Named[] | null;
  };
}

export interface JudgeOptions {
  /** Whether the namespace has the label postern.dev/enforce; default true. */
  readonly enforced?: boolean;
  /** False where a person's rights or a missing policy hide them: what compares with releases is left out. Default true. */
  readonly releasesKnown?: boolean;
}

/** Every finding, in the order of the policies; empty for a pod that may run. `releases` as the policy postern-sidecar lists them. */
export function judgePod(pod: JudgedPod, releases: readonly AllowedRelease[], options: JudgeOptions = {}): readonly Finding[] {
  const { enforced = true, releasesKnown = true } = options;
  const { spec } = pod;
  const position = (spec.initContainers ?? []).findIndex(({ name }) => name === SIDECAR.container);
  const hasSidecar = position >= 0;
  const found = RESERVED_RULES.flatMap((rule) => brokenBy(pod, rule));
  const reserved = (spec.volumes ?? []).findIndex(({ name }) => name.startsWith(RESERVED_PREFIX));
  if (reserved >= 0 && !enforced) found.push({ rule: 'not-enforced', path: `spec.volumes[${reserved}]`, message: SAYS.notEnforced });
  if (reserved >= 0 && !hasSidecar) found.push({ rule: 'no-sidecar', path: `spec.volumes[${reserved}]`, message: SAYS.noSidecar });
  if (enforced) found.push(...inEnforced(pod, position));
  if (reserved >= 0 && hasSidecar) found.push(...ofSidecar(pod, position, releasesKnown ? releases : undefined));
  return found;
}

function inEnforced(pod: JudgedPod, position: number): readonly Finding[] {
  const { metadata, spec } = pod;
  const found: Finding[] = [];
  if (position < 0 && metadata?.labels?.[LABEL.inject] === 'true') {
    found.push({ rule: 'sidecar-demanded', path: `metadata.labels[${LABEL.inject}]`, message: SAYS.sidecarDemanded });
  }
  if (position > 0) found.push({ rule: 'sidecar-not-first', path: `spec.initContainers[${position}]`, message: SAYS.sidecarNotFirst });
  if (position >= 0 && !SIDECAR_VOLUMES.every((wanted) => (spec.volumes ?? []).some(({ name }) => name === wanted))) {
    found.push({ rule: 'volumes-missing', path: 'spec.volumes', message: SAYS.volumesMissing });
  }
  const rules = position >= 0 ? [NAME_RULE, ...SHAPE_RULES] : [NAME_RULE];
  return [...found, ...rules.flatMap((rule) => brokenBy(pod, rule))];
}

/** Without releases: the volume of the credentials alone, whose shape is of no release. */
function ofSidecar(pod: JudgedPod, position: number, releases: readonly AllowedRelease[] | undefined): readonly Finding[] {
  if (releases === undefined) return ofVolumes(pod, [SIDECAR.credentialsVolume], []);
  const found: Finding[] = [];
  const differences = closestDifferences(pod.spec.initContainers?.[position] ?? {}, releases);
  if (differences.length > 0 || releases.length === 0) {
    const message = `${SAYS_SIDECAR.container} ${differences.join(', ')}.`;
    found.push({ rule: 'sidecar-spec', path: `spec.initContainers[${position}]`, message });
  }
  found.push(...ofVolumes(pod, SIDECAR_VOLUMES, releases));
  const sizes = [...new Set(releases.flatMap((release) => Object.keys(release.sizes)))];
  const size = pod.metadata?.annotations?.[ANNOTATION.size];
  if (size !== undefined && !sizes.includes(size)) {
    const message = `${SAYS_SIDECAR.size}; there are ${sizes.join(', ')}.`;
    found.push({ rule: 'sidecar-size', path: `metadata.annotations[${ANNOTATION.size}]`, message });
  }
  return found;
}

function ofVolumes({ spec }: JudgedPod, names: readonly string[], releases: readonly AllowedRelease[]): readonly Finding[] {
  return (spec.volumes ?? []).flatMap((volume, index) => {
    if (!names.includes(volume.name) || volumeAllowed(volume, releases)) return [];
    return [{ rule: 'sidecar-volume', path: `spec.volumes[${index}]`, message: SAYS_SIDECAR.volume }];
  });
}

function brokenBy(pod: JudgedPod, rule: Rule): Finding[] {
  return partsOf(pod, rule.part).flatMap(({ path, value }) => {
    const at = metAt(rule.when, value);
    return at === undefined ? [] : [{ rule: rule.name, path: at === '' ? path : `${path}.${at}`, message: rule.says }];
  });
}

interface Placed {
  readonly path: string;
  readonly value: unknown;
}

const LISTS: Readonly<Record<Exclude<Part, 'pod'>, readonly ('initContainers' | 'containers' | 'ephemeralContainers' | 'volumes')[]>> = {
  volume: ['volumes'],
  container: ['initContainers', 'containers', 'ephemeralContainers'],
  other: ['initContainers', 'containers', 'ephemeralContainers'],
  agent: ['containers', 'ephemeralContainers'],
  ephemeral: ['ephemeralContainers'],
};

function partsOf({ spec }: JudgedPod, part: Part): readonly Placed[] {
  if (part === 'pod') return [{ path: 'spec', value: spec }];
  return LISTS[part].flatMap((list) => {
    const placed = (spec[list] ?? []).map((value, index) => ({ path: `spec.${list}[${index}]`, value }));
    return part === 'other' && list === 'initContainers' ? placed.filter(({ value }) => value.name !== SIDECAR.container) : placed;
  });
}
