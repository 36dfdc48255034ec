/**
 * What the operator keeps of RBAC: who is named where, not what they may do - the authorizer says that. Enough to know whose rights a
 * change can concern.
 */
import { Cache, type Identified } from '#operator/kube/cache.ts';
import type { KubeObject } from '#operator/kube/records.ts';

/** A Role or ClusterRole; its resourceVersion is all that matters. */
export type RoleRecord = Identified;

/** A RoleBinding or ClusterRoleBinding. */
export interface GrantRecord extends Identified {
  /** `namespace/role` or `role` for a ClusterRole. */
  readonly role: string;
  /** Users and groups as a token carries them. */
  readonly subjects: readonly string[];
}

export interface RbacCaches {
  readonly roles: Cache<RoleRecord>;
  readonly clusterRoles: Cache<RoleRecord>;
  /** Index `role`. */
  readonly roleBindings: Cache<GrantRecord>;
  readonly clusterRoleBindings: Cache<GrantRecord>;
}

export function emptyRbac(): RbacCaches {
  const role = ({ role: name }: GrantRecord) => [name];
  return { roles: new Cache(), clusterRoles: new Cache(), roleBindings: new Cache({ role }), clusterRoleBindings: new Cache({ role }) };
}

interface BindingObject extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

export function roleRecord({ metadata }: KubeObject): RoleRecord {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion };
}

export function grantRecord(object: BindingObject): GrantRecord {
  const identity = roleRecord(object);
  const { kind, name } = object.roleRef;
  return {
    ...identity,
    role: kind === 'Role' ? `${identity.namespace}/${name}` : name,
    subjects: (object.subjects ?? []).map((subject) =>
      subject.kind === 'ServiceAccount' ? `system:serviceaccount:${subject.namespace ?? identity.namespace}:${subject.name}` : subject.name,
    ),
  };
}

/** Tells of the users and groups each change may concern. Returns how to stop. */
export function watchGrants(rbac: RbacCaches, note: (subjects: readonly string[]) => void): () => void {
  const grants = [rbac.roleBindings, rbac.clusterRoleBindings];
  const holders = (role: string) => grants.flatMap((cache) => cache.by('role', role)).flatMap(({ subjects }) => subjects);
  const stops = [
    ...grants.map((cache) =>
      cache.onChange((change) => {
        const before = change.kind === 'added' ? [] : change.was.subjects;
        const after = change.kind === 'deleted' ? [] : change.now.subjects;
        note([...before, ...after]);
      }),
    ),
    ...[rbac.roles, rbac.clusterRoles].map((cache) => cache.onChange(({ key }) => note(holders(key)))),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
