/** Who asks, as cards name it: from the session, which the operator made from token and pod. */
import type { Requester } from '#core/approval/card-facts.ts';
import type { SessionRecord } from '#operator/kube/records.ts';

type PodRequester = Extract<Requester, { kind: 'pod' }>;

/** The newest first. An image digest comes once the agent runs; a card made before it stays true. */
export function requestersOf({ name, spec, status }: SessionRecord): readonly [PodRequester, ...PodRequester[]] {
  const [image = ''] = spec.image.split('@');
  const controller = spec.controller === undefined ? '' : `${spec.controller.kind}/${spec.controller.name}`;
  const without: PodRequester = {
    kind: 'pod',
    session: name,
    serviceAccount: spec.serviceAccount,
    pod: spec.pod.name,
    image: spec.image,
    controller,
  };
  const digest = status?.imageDigest;
  return digest === undefined ? [without] : [{ ...without, image: `${image}@${digest}` }, without];
}
