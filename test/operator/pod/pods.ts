/** Pods and facts for the tests of injection. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { AgentPod } from '#operator/pod/agent-pod.ts';
import type { CallerGrants } from '#operator/pod/caller-grants.ts';
import type { InjectionFacts } from '#operator/pod/inject.ts';
import { sizeClasses } from '#operator/settings.ts';

export const RELEASE = {
  image: `registry.example/postern@sha256:${'1'.repeat(64)}`,
  pullPolicy: 'IfNotPresent',
  control: 'postern-operator.postern-system.svc:7720',
  pin: `sha256:${'2'.repeat(64)}`,
};

export const SIZES = sizeClasses('small=20m/500m/96Mi/192Mi,large=100m/1000m/192Mi/1024Mi') as unknown as InjectionFacts['sizes'];

interface FactsDocument {
  readonly enforced?: boolean;
  readonly contracts?: readonly string[];
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  readonly refused?: CallerGrants['refused'];
  readonly waiting?: readonly string[];
}

export function factsOf({ enforced = true, contracts, secrets, refused = [], waiting = [] }: FactsDocument = {}): InjectionFacts {
  const mounted = Object.entries(secrets ?? { 'postern-github-triage-app': ['private-key'] });
  return {
    namespace: 'triage',
    enforced,
    grants: {
      contracts: contracts ?? ['list-open-issues'],
      undecided: [],
      refused,
      secrets: mounted.map(([secret, keys]) => ({ secret, keys })),
    },
    waiting,
    releases: [RELEASE],
    sizes: SIZES,
  };
}

export const GOLDEN = join(import.meta.dirname, 'golden');

export interface GoldenPod {
  readonly facts: InjectionFacts;
  readonly pod: AgentPod;
}

/** A file of facts and a pod; its first document is the comment that says what it shows. */
export function readGolden(name: string): GoldenPod {
  const documents = parseAllDocuments(readFileSync(join(GOLDEN, `${name}.yaml`), 'utf8')).map((document) => document.toJS());
  const [facts, pod] = documents.slice(-2);
  return { facts: factsOf(facts), pod };
}

/** RFC 6902 `add` and `replace` of whole members, which is all that is emitted. */
export function applyPatch<T>(target: T, patch: readonly { readonly op: string; readonly path: string; readonly value: unknown }[]): T {
  const result = structuredClone(target) as Record<string, unknown>;
  for (const { op, path, value } of patch) {
    const [, parent = '', member = ''] = path.split('/');
    const at = result[parent] as Record<string, unknown>;
    if (op === 'replace' && !(member in at)) throw new Error(`${path} is not there to be replaced`);
    at[member] = structuredClone(value);
  }
  return result as T;
}
