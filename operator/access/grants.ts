/**
 * What the operator keeps of RBAC: who is named where, not what they may do - the authorizer says that. Enough to know whose rights a
 * change can concern, and which single names the authorizer must be asked about: a right on one name answers no question without it.
 */
import { Cache, type Identified } from '#operator/kube/cache.ts';
import type { KubeObject, ObjectMeta } from '#operator/kube/records.ts';

/** A rule of a role with `resourceNames`. */
export interface NamedRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  /** `pods`, `pods/exec`, `*`, or any resource's `exec`. */
  readonly resources: readonly string[];
  readonly names: readonly string[];
}

/** A Role or ClusterRole. */
export interface RoleRecord extends Identified {
  readonly named: readonly NamedRule[];
}

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
  /** Indexes `role` and `subject`, as the next one. */
  readonly roleBindings: Cache<GrantRecord>;
  readonly clusterRoleBindings: Cache<GrantRecord>;
}

export function emptyRbac(): RbacCaches {
  const indexes = { role: ({ role }: GrantRecord) => [role], subject: ({ subjects }: GrantRecord) => subjects };
  return { roles: new Cache(), clusterRoles: new Cache(), roleBindings: new Cache(indexes), clusterRoleBindings: new Cache(indexes) };
}

/** Rules with names of every role that the namespace's or the cluster's bindings give to one of these users and groups. */
export function namedRules(rbac: RbacCaches, namespace: string, subjects: readonly string[]): readonly NamedRule[] {
  const inNamespace = subjects
    .flatMap((subject) => rbac.roleBindings.by('subject', subject))
    .filter((grant) => grant.namespace === namespace);
  const everywhere = subjects.flatMap((subject) => rbac.clusterRoleBindings.by('subject', subject));
  const roles = new Set([...inNamespace, ...everywhere].map(({ role }) => role));
  return [...roles].sort().flatMap((role) => (rbac.roles.get(role) ?? rbac.clusterRoles.get(role))?.named ?? []);
}

interface BindingObject extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

interface RoleObject extends KubeObject {
  readonly rules?:
    | readonly {
        readonly verbs?: readonly string[];
        readonly apiGroups?: readonly string[];
        readonly resources?: readonly string[];
        readonly resourceNames?: readonly string[];
      }[]
    | null;
}

export function roleRecord({ metadata, rules }: RoleObject): RoleRecord {
  const named = (rules ?? []).flatMap(({ verbs = [], apiGroups = [], resources = [], resourceNames = [] }) =>
    resourceNames.length === 0 ? [] : [{ verbs, groups: apiGroups, resources, names: resourceNames }],
  );
  return { ...identityOf(metadata), named };
}

function identityOf({ namespace = '', name, uid, resourceVersion }: ObjectMeta): Identified {
  return { namespace, name, uid, resourceVersion };
}

export function grantRecord(object: BindingObject): GrantRecord {
  const identity = identityOf(object.metadata);
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
