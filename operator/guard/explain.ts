/**
 * Which guards there are in the cluster and whether they hold: each policy and its binding, field by field against what this version
 * writes. For readiness of the operator and for a person who asks why a pod was refused - or why it was not.
 */
import { SIDECAR } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import type { KubeObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { RELEASES_ANNOTATION, readReleases } from './allowed-releases.ts';
import { type Finding, type JudgedPod, judgePod } from './judge.ts';
import { policies } from './policies.ts';
import type { Guard, GuardSettings } from './policy.ts';
import { SIDECAR_POLICY, sidecarPolicy } from './sidecar-policy.ts';
import { type AllowedRelease, equal } from './sidecar-release.ts';

export interface GuardReport {
  readonly name: string;
  /** What it refuses, in one sentence. */
  readonly about: string;
  /**
   * - `Holds`: policy and binding are what this version writes.
   * - `Missing`, `Unbound`: there is no policy, or no binding; nothing is refused.
   * - `Altered`: somebody changed it, or it is of another version.
   * - `Unknown`: it may not be read by whoever asks.
   */
  readonly state: 'Holds' | 'Missing' | 'Unbound' | 'Altered' | 'Unknown';
  /** The field that differs, or why it is not known; empty when it holds. */
  readonly detail: string;
}

export interface GuardsFound {
  readonly reports: readonly GuardReport[];
  /** What the operator's policy allows, by its own record; empty when it cannot be read, is missing or says none. */
  readonly releases: readonly AllowedRelease[];
}

/** Throws KubeError when the API server cannot be asked; a policy that may not be read is reported as unknown. */
export async function findGuards(client: Pick<KubeClient, 'get'>, settings: GuardSettings): Promise<GuardsFound> {
  const reports: GuardReport[] = [];
  for (const guard of policies(settings)) reports.push(await report(client, guard));
  const own = await read(client, 'policies', SIDECAR_POLICY);
  const releases = readReleases(typeof own === 'string' ? undefined : own?.metadata.annotations?.[RELEASES_ANNOTATION]).map(
    ({ release }) => release,
  );
  if (releases.length > 0) reports.push(await report(client, sidecarPolicy(settings, releases)));
  else reports.push(withoutReleases(own));
  return { reports, releases };
}

/** Whether every guard holds. */
export function guardsHold({ reports }: GuardsFound): boolean {
  return reports.every(({ state }) => state === 'Holds');
}

export interface PodExplanation {
  /** Why the pod would be refused if it were created now; empty when it would not. */
  readonly findings: readonly Finding[];
  /** Guards that do not hold: what they would refuse can run. */
  readonly broken: readonly GuardReport[];
  /** What was not judged, and why: no findings then do not mean that the pod would be taken. */
  readonly notCompared?: string;
}

/** Without releases nobody knows whether the sidecar is of one: said as it is, because the finding would send people after a webhook. */
export function explainPod(pod: JudgedPod, enforced: boolean, { releases, reports }: GuardsFound): PodExplanation {
  const releasesKnown = releases.length > 0;
  const hasSidecar = (pod.spec.initContainers ?? []).some(({ name }) => name === SIDECAR.container);
  return {
    findings: judgePod(pod, releases, { enforced, releasesKnown }),
    broken: reports.filter(({ state }) => state !== 'Holds'),
    ...(hasSidecar && !releasesKnown && { notCompared: NOT_COMPARED }),
  };
}

const NOT_COMPARED = `container ${SIDECAR.container} was not compared with the releases that are allowed: the policy ${SIDECAR_POLICY} lists them, and it may not be read, is missing or lists none (see the guards)`;

type Stored = KubeObject & { readonly spec?: unknown };

async function report(client: Pick<KubeClient, 'get'>, { name, about, policy, binding }: Guard): Promise<GuardReport> {
  const of = (state: GuardReport['state'], detail = ''): GuardReport => ({ name, about, state, detail });
  const stored = await read(client, 'policies', name);
  if (typeof stored === 'string') return of('Unknown', stored);
  if (stored === null) return of('Missing', 'no ValidatingAdmissionPolicy of that name; install the chart again');
  const bound = await read(client, 'policyBindings', name);
  if (typeof bound === 'string') return of('Unknown', bound);
  if (bound === null) return of('Unbound', 'no ValidatingAdmissionPolicyBinding of that name; install the chart again');
  const path = difference(stored.spec, policy, 'spec') ?? difference(bound.spec, binding, 'binding spec');
  return path === undefined ? of('Holds') : of('Altered', `${path} is not what this version of Postern writes`);
}

function withoutReleases(own: Stored | string | null): GuardReport {
  const about = 'An init container postern is the sidecar of an allowed release.';
  if (typeof own === 'string') return { name: SIDECAR_POLICY, about, state: 'Unknown', detail: own };
  const detail =
    own === null
      ? 'the operator writes it when it starts; look at the log of the operator'
      : `annotation ${RELEASES_ANNOTATION} cannot be read`;
  return { name: SIDECAR_POLICY, about, state: own === null ? 'Missing' : 'Altered', detail };
}

/** The object, null when there is none, or why it may not be read. */
async function read(client: Pick<KubeClient, 'get'>, kind: 'policies' | 'policyBindings', name: string): Promise<Stored | string | null> {
  try {
    return await client.get<Stored>(KINDS[kind], { name });
  } catch (error) {
    if (isKubeError(error, 403)) return `you may not get ${KINDS[kind].plural} ${name}`;
    throw error;
  }
}

/** Path of the first field that differs. */
function difference(now: unknown, wanted: unknown, path: string): string | undefined {
  if (equal(now, wanted)) return undefined;
  if (typeof now !== 'object' || typeof wanted !== 'object' || now === null || wanted === null) return path;
  if (Array.isArray(now) !== Array.isArray(wanted)) return path;
  const members = (value: object) => value as Readonly<Record<string, unknown>>;
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(now)])) {
    const at = Array.isArray(wanted) ? `${path}[${key}]` : `${path}.${key}`;
    const found = difference(members(now)[key], members(wanted)[key], at);
    if (found !== undefined) return found;
  }
  return path;
}
