/**
 * The label that turns enforcement on cannot be taken off while bindings exist: their Secrets would be mounted by pods that nobody
 * judges as a whole (failure case INJ-28). The guard of Secret names does not depend on the label.
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
  const bindings = cluster.bindings
    .by('namespace', name)
    .map((binding) => binding.name)
    .sort();
  if (bindings.length === 0) return { allowed: true };
  const shown = bindings.slice(0, SHOWN).join(', ') + (bindings.length > SHOWN ? `, and ${bindings.length - SHOWN} more` : '');
  return {
    allowed: false,
    message: `metadata.labels[${LABEL.enforce}]: the label stays while the namespace has CredentialBindings (${shown}). Delete them first, then remove the label.`,
  };
}

const SHOWN = 5;

function isEnforced({ metadata }: KubeMap): boolean {
  return typeof metadata.labels === 'object' && metadata.labels !== null && LABEL.enforce in metadata.labels;
}
