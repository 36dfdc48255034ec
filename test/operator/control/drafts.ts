/** A guarded pod and a contract, as they are written. */
import { sidecarContainer } from '#operator/pod/sidecar-container.ts';
import { sidecarVolumes } from '#operator/pod/sidecar-volumes.ts';
import { RELEASE, SIZES } from '#test/operator/pod/pods.ts';

export interface PodDraft {
  metadata: Record<string, unknown> & { name: string; namespace: string };
  spec: Record<string, unknown> & { initContainers: Record<string, unknown>[]; containers: Record<string, unknown>[] };
}

export function podDraft(namespace: string, name: string, account: string): PodDraft {
  const [size] = SIZES;
  if (size === undefined) throw new TypeError('there is a size class');
  return {
    metadata: { name, namespace },
    spec: {
      serviceAccountName: account,
      automountServiceAccountToken: false,
      nodeName: 'node-1',
      initContainers: [{ ...sidecarContainer(RELEASE, size) }],
      containers: [{ name: 'agent', image: `registry.example/${name}:1` }],
      volumes: sidecarVolumes([]),
    },
  };
}

export function contractSpec(name: string, callers: readonly string[], change: Record<string, unknown> = {}): object {
  return {
    action: name.replaceAll('-', '_'),
    summary: 'List open issues',
    owner: 'triage-team',
    effect: 'Read',
    callers: callers.map((serviceAccount) => ({ serviceAccount })),
    credentials: ['github-triage'],
    arguments: { type: 'object', additionalProperties: false, properties: {} },
    http: { credential: 'github-triage', method: 'GET', url: 'https://api.example.com/issues' },
    result: { items: ['/'], as: 'issues', fields: [{ name: 'number' }] },
    completeness: { scope: { resource: 'open issues', visibility: 'all', absence: 'Never' } },
    ...change,
  };
}
