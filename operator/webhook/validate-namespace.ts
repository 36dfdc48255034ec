/**
 * The label that turns enforcement on cannot be taken off while bindings exist: their Secrets would be mounted by pods that nobody
 * judges as a whole (failure case INJ-28). Nor while a sidecar runs, which holds what it mounted whether its binding is still there or
 * not: without the label anybody who may debug or exec looks into it. The guard of Secret names does not depend on the label.
 *
 * `namespaces/status` and `namespaces/finalize` change labels too (measured), so the configuration sends those here as well.
 */
import { LABEL } from '#core/resource/names.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { AdmissionAnswer, AdmissionRequest, KubeMap } from './admission-review.ts';
import type { Webhook } from './server.ts';

export function validateNamespace(cluster: Cluster): Webhook {
  return { name: 'namespaces', path: '/validate/namespaces', fails: 'closed', answer: (request) => answer(request, cluster) };
}

function answer({ operation, resource, object, oldObject }: AdmissionRequest, cluster: Cluster): AdmissionAnswer {
  if (operation !== 'UPDATE' || resource !== 'namespaces' || object === null || oldObject === null) return { allowed: true };
  if (!isEnforced(oldObject) || isEnforced(object)) return { allowed: true };
  // A namespace that is being deleted loses everything; holding it up would help nobody.
  if (object.metadata.deletionTimestamp !== undefined) return { allowed: true };
  const name = String(object.metadata.name);
  const bindings = cluster.bindings.by('namespace', name);
  const sidecars = cluster.pods.by('namespace', name).filter(({ hasSidecar, phase }) => hasSidecar && !ENDED.includes(phase));
  const kept = [...named('CredentialBindings', bindings), ...named('pods with a sidecar', sidecars)];
  if (kept.length === 0) return { allowed: true };
  return {
    allowed: false,
    message: `metadata.labels[${LABEL.enforce}]: the label stays while the namespace has ${kept.join(' and ')}. Delete them first, then remove the label.`,
  };
}

function named(what: string, records: readonly { readonly name: string }[]): readonly string[] {
  if (records.length === 0) return [];
  const names = records.map(({ name }) => name).sort();
  const more = names.length > SHOWN ? `, and ${names.length - SHOWN} more` : '';
  return [`${what} (${names.slice(0, SHOWN).join(', ')}${more})`];
}

const ENDED = ['Succeeded', 'Failed'];
const SHOWN = 5;

function isEnforced({ metadata }: KubeMap): boolean {
  return typeof metadata.labels === 'object' && metadata.labels !== null && LABEL.enforce in metadata.labels;
}
