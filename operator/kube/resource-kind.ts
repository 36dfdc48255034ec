/** The kinds of the Kubernetes API that Postern reads or writes, and their paths. What is not here, no part of it can ask for. */
import { GROUP } from '#core/resource/names.ts';

export interface ResourceKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower case, as in paths. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';

export const KINDS = {
  contracts: namespaced(GROUP, 'v1alpha1', 'actioncontracts', 'ActionContract'),
  bindings: namespaced(GROUP, 'v1alpha1', 'credentialbindings', 'CredentialBinding'),
  sessions: namespaced(GROUP, 'v1alpha1', 'agentsessions', 'AgentSession'),
  approvals: namespaced(GROUP, 'v1alpha1', 'actionapprovals', 'ActionApproval'),
  pods: namespaced('', 'v1', 'pods', 'Pod'),
  namespaces: clusterWide('', 'v1', 'namespaces', 'Namespace'),
  accounts: namespaced('', 'v1', 'serviceaccounts', 'ServiceAccount'),
  /** For the subcommands that run as a person or as the authority's own account; the operator itself has no verb on it. */
  secrets: namespaced('', 'v1', 'secrets', 'Secret'),
  configMaps: namespaced('', 'v1', 'configmaps', 'ConfigMap'),
  services: namespaced('', 'v1', 'services', 'Service'),
  deployments: namespaced('apps', 'v1', 'deployments', 'Deployment'),
  replicaSets: namespaced('apps', 'v1', 'replicasets', 'ReplicaSet'),
  statefulSets: namespaced('apps', 'v1', 'statefulsets', 'StatefulSet'),
  daemonSets: namespaced('apps', 'v1', 'daemonsets', 'DaemonSet'),
  jobs: namespaced('batch', 'v1', 'jobs', 'Job'),
  cronJobs: namespaced('batch', 'v1', 'cronjobs', 'CronJob'),
  leases: namespaced('coordination.k8s.io', 'v1', 'leases', 'Lease'),
  events: namespaced('events.k8s.io', 'v1', 'events', 'Event'),
  policies: clusterWide(ADMISSION, 'v1', 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy'),
  policyBindings: clusterWide(ADMISSION, 'v1', 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding'),
  mutatingWebhooks: clusterWide(ADMISSION, 'v1', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration'),
  validatingWebhooks: clusterWide(ADMISSION, 'v1', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration'),
  customResources: clusterWide('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition'),
  roles: namespaced(RBAC, 'v1', 'roles', 'Role'),
  roleBindings: namespaced(RBAC, 'v1', 'rolebindings', 'RoleBinding'),
  clusterRoles: clusterWide(RBAC, 'v1', 'clusterroles', 'ClusterRole'),
  clusterRoleBindings: clusterWide(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding'),
  tokenReviews: clusterWide(AUTHENTICATION, 'v1', 'tokenreviews', 'TokenReview'),
  selfSubjectReviews: clusterWide(AUTHENTICATION, 'v1', 'selfsubjectreviews', 'SelfSubjectReview'),
  subjectAccessReviews: clusterWide(AUTHORIZATION, 'v1', 'subjectaccessreviews', 'SubjectAccessReview'),
  selfSubjectAccessReviews: clusterWide(AUTHORIZATION, 'v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
} as const satisfies Readonly<Record<string, ResourceKind>>;

/** Where an object is. `namespace` is left out for kinds without one. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** `v1`, or `group/version`. */
export function apiVersionOf({ group, version }: Pick<ResourceKind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** For messages: `a Pod`, `an ActionContract`. */
export function one({ kind }: Pick<ResourceKind, 'kind'>): string {
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Path of a collection: of one namespace, or without `namespace` of the whole cluster. */
export function collectionPath(kind: ResourceKind, namespace?: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const within = kind.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${root}${within}/${kind.plural}`;
}

/** Path of one object; throws TypeError when a kind with namespaces is asked for without one. */
export function objectPath(kind: ResourceKind, { namespace, name }: ObjectRef, subresource?: string): string {
  if (kind.namespaced && namespace === undefined) throw new TypeError(`${one(kind)} is in a namespace`);
  const path = `${collectionPath(kind, namespace)}/${segment(name)}`;
  return subresource === undefined ? path : `${path}/${segment(subresource)}`;
}

/** Names may come from an agent's pod: one that is no path segment would reach another object. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new TypeError('an empty name, "." and ".." name no object');
  return encodeURIComponent(text);
}

function namespaced(group: string, version: string, plural: string, kind: string): ResourceKind {
  return { group, version, plural, kind, namespaced: true };
}

function clusterWide(group: string, version: string, plural: string, kind: string): ResourceKind {
  return { group, version, plural, kind, namespaced: false };
}
