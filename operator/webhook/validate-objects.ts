/** Contracts and bindings as somebody writes them, judged by the compiler the sidecar itself runs. */
import type { Clock } from '#core/bounds/clock.ts';
import type { Verdict } from '#core/contract/verdict.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { admitBinding } from '#operator/binding/admit.ts';
import { admitContract } from '#operator/contract/admit.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { KubeObject } from '#operator/kube/records.ts';
import type { AdmissionAnswer, AdmissionRequest, KubeMap } from './admission-review.ts';
import type { Webhook } from './server.ts';

export function validateContract(cluster: Cluster, clock: Clock): Webhook {
  const judge = (object: KubeMap, old: KubeMap | null) =>
    admitContract(
      object as unknown as ActionContract & KubeObject,
      old as unknown as (ActionContract & KubeObject) | null,
      cluster,
      clock.wallMs(),
    );
  return {
    name: 'contracts',
    path: '/validate/contracts',
    fails: 'closed',
    answer: (request) => answer(request, 'actioncontracts', judge),
  };
}

export function validateBinding(cluster: Cluster): Webhook {
  const judge = (object: KubeMap, old: KubeMap | null) =>
    admitBinding(object as unknown as CredentialBinding & KubeObject, old as unknown as (CredentialBinding & KubeObject) | null, cluster);
  return {
    name: 'bindings',
    path: '/validate/bindings',
    fails: 'closed',
    answer: (request) => answer(request, 'credentialbindings', judge),
  };
}

function answer(
  { operation, resource, subresource, object, oldObject, namespace }: AdmissionRequest,
  plural: string,
  judge: (object: KubeMap, old: KubeMap | null) => Verdict,
): AdmissionAnswer {
  const written = operation === 'CREATE' || operation === 'UPDATE';
  if (!written || resource !== plural || subresource !== '' || object === null) return { allowed: true };
  const within = (one: KubeMap): KubeMap => ({ ...one, metadata: { ...one.metadata, namespace } });
  const { allowed, message, warnings } = judge(within(object), oldObject === null ? null : within(oldObject));
  return allowed ? { allowed, warnings } : { allowed: false, message, warnings };
}
