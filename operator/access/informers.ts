/** Watches RBAC, for the replica that leads: the others do not review anybody. */
import type { Clock } from '#core/bounds/clock.ts';
import type { ApiTransport } from '#operator/kube/api-transport.ts';
import { Informer, type InformerObserver } from '#operator/kube/informer.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { grantRecord, type RbacCaches, roleRecord } from './grants.ts';

export interface RbacInformersOptions {
  readonly transport: ApiTransport;
  readonly rbac: RbacCaches;
  readonly clock: Clock;
  readonly observer?: InformerObserver;
}

/** Starts them; returns how to stop. A review does not wait for them: they tell only of changes. */
export function startRbacInformers({ rbac, ...common }: RbacInformersOptions): () => Promise<void> {
  const informers = [
    new Informer({ ...common, kind: KINDS.roles, cache: rbac.roles, record: roleRecord }),
    new Informer({ ...common, kind: KINDS.clusterRoles, cache: rbac.clusterRoles, record: roleRecord }),
    new Informer({ ...common, kind: KINDS.roleBindings, cache: rbac.roleBindings, record: grantRecord }),
    new Informer({ ...common, kind: KINDS.clusterRoleBindings, cache: rbac.clusterRoleBindings, record: grantRecord }),
  ];
  for (const informer of informers) informer.start();
  return async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
  };
}
