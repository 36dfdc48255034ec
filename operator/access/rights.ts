/**
 * What a ServiceAccount must not be able to do if its pods are to get actions (design section 2.1, failure case LEAK-24). The agent has the
 * account's token: with one of these rights it could read the credential, become another pod, or change what it is allowed.
 *
 * Each row is one question to the API server's own authorizer, whatever that is made of. A right that RBAC gives on single names only is
 * asked for with those names that are known: the Secrets of its bindings, its contracts, its own account, its namespace - and with
 * every name that stands in a role it has, because `create` on `serviceaccounts/token` of one deployer, or `patch` of one Deployment, is
 * all it needs to become somebody else.
 */
import { RESERVED_PREFIX } from '#core/resource/names.ts';
import type { NamedRule } from './grants.ts';

export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** `cluster`: the question has no namespace. */
  readonly scope: 'namespace' | 'cluster';
  /** Which names it is also asked with. */
  readonly named?: 'secrets' | 'contracts' | 'account' | 'namespace';
  /** After "it may". */
  readonly why: string;
}

type Verbs = readonly string[];
type Extra = Pick<Right, 'subresource' | 'named'> & { readonly scope?: Right['scope'] };

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const POSTERN = 'postern.dev';
/** Changes an object, or makes one. */
const WRITE: Verbs = ['create', 'update', 'patch'];
const CHANGE: Verbs = [...WRITE, 'delete', 'deletecollection'];

export const RIGHTS: readonly Right[] = [
  // A patch or a deletion, also a dry run of one, answers with the Secret and its values (measured).
  ...rows(['get', 'list', 'watch', 'patch', 'delete', 'deletecollection'], '', 'secrets', 'read Secrets', { named: 'secrets' }),
  ...rows(['update'], '', 'secrets', 'change Secrets', { named: 'secrets' }),
  ...rows(['create'], '', 'pods', 'create pods'),
  ...rows(['update', 'patch'], '', 'pods', 'change pods'),
  ...rows(WRITE, 'apps', 'deployments', 'make pods by Deployments'),
  ...rows(WRITE, 'apps', 'replicasets', 'make pods by ReplicaSets'),
  ...rows(WRITE, 'apps', 'statefulsets', 'make pods by StatefulSets'),
  ...rows(WRITE, 'apps', 'daemonsets', 'make pods by DaemonSets'),
  ...rows(WRITE, 'batch', 'jobs', 'make pods by Jobs'),
  ...rows(WRITE, 'batch', 'cronjobs', 'make pods by CronJobs'),
  ...rows(WRITE, '', 'replicationcontrollers', 'make pods by ReplicationControllers'),
  // A WebSocket needs `get` alone (failure case INJ-30).
  ...rows(['get', 'create'], '', 'pods', 'run commands in containers (pods/exec)', { subresource: 'exec' }),
  ...rows(['get', 'create'], '', 'pods', 'attach to containers (pods/attach)', { subresource: 'attach' }),
  ...rows(['get', 'create'], '', 'pods', "reach pods' loopback ports (pods/portforward)", { subresource: 'portforward' }),
  ...rows(['update', 'patch'], '', 'pods', 'put containers into running pods (pods/ephemeralcontainers)', {
    subresource: 'ephemeralcontainers',
  }),
  ...rows(['create'], '', 'serviceaccounts', 'make tokens of other accounts (serviceaccounts/token)', {
    subresource: 'token',
    named: 'account',
  }),
  ...rows(['impersonate'], '', 'serviceaccounts', 'act as other accounts (impersonate)', { named: 'account' }),
  ...rows(['impersonate'], '', 'users', 'act as other users (impersonate)', { scope: 'cluster' }),
  ...rows(['impersonate'], '', 'groups', 'act as other groups (impersonate)', { scope: 'cluster' }),
  ...rows(['bind', 'escalate'], RBAC, 'roles', 'grant rights it does not have (bind, escalate)'),
  ...rows(['bind', 'escalate'], RBAC, 'clusterroles', 'grant rights it does not have (bind, escalate)', { scope: 'cluster' }),
  // A client certificate of any user, or of a node.
  ...rows(['approve', 'sign'], 'certificates.k8s.io', 'signers', 'issue certificates of other users (signers)', { scope: 'cluster' }),
  // Whoever serves our kinds, or their schemas, decides what they say.
  ...rows(CHANGE, 'apiextensions.k8s.io', 'customresourcedefinitions', 'change kinds (customresourcedefinitions)', { scope: 'cluster' }),
  ...rows(CHANGE, 'apiregistration.k8s.io', 'apiservices', 'serve kinds (apiservices)', { scope: 'cluster' }),
  // The kubelet runs commands for it, and no admission sees that (failure case INJ-30).
  ...rows(['get', 'create'], '', 'nodes', 'reach kubelets (nodes/proxy)', { subresource: 'proxy', scope: 'cluster' }),
  ...['actioncontracts', 'credentialbindings', 'agentsessions', 'actionapprovals'].flatMap((kind) => [
    ...rows(CHANGE, POSTERN, kind, `change ${kind}`, kind === 'actioncontracts' ? { named: 'contracts' } : {}),
    ...rows(['update', 'patch'], POSTERN, kind, `change ${kind}`, { subresource: 'status' }),
  ]),
  ...rows(['approve'], POSTERN, 'actioncontracts', 'approve its own calls', { named: 'contracts' }),
  ...rows(['admit'], POSTERN, 'agentsessions', 'admit its own sessions'),
  // Each of them changes labels too (measured).
  ...[undefined, 'status', 'finalize'].flatMap((subresource) =>
    rows(['update', 'patch'], '', 'namespaces', 'change its namespace', {
      named: 'namespace',
      ...(subresource === undefined ? {} : { subresource }),
    }),
  ),
  ...[
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ].flatMap((kind) => rows(CHANGE, ADMISSION, kind, `change admission (${kind})`, { scope: 'cluster' })),
];

function rows(verbs: Verbs, group: string, resource: string, why: string, { scope = 'namespace', ...extra }: Extra = {}): readonly Right[] {
  return verbs.map((verb) => ({ verb, group, resource, scope, why, ...extra }));
}

/** Whose rights. */
export interface Caller {
  readonly namespace: string;
  readonly account: string;
  /** Secrets of the bindings its contracts list. */
  readonly secrets: readonly string[];
  readonly contracts: readonly string[];
  /** Rules of its roles that name single objects. */
  readonly granted: readonly NamedRule[];
}

/** `spec` of a SubjectAccessReview (authorization.k8s.io/v1). */
export interface AccessQuestion {
  readonly user: string;
  readonly groups: readonly string[];
  readonly resourceAttributes: {
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** Every question about one account, with what a yes means. The groups are those its token carries. */
export function questionsOf(caller: Caller): readonly { readonly ask: AccessQuestion; readonly why: string }[] {
  return RIGHTS.flatMap((right) => {
    const names = new Set([undefined, ...namesOf(right, caller), ...grantedNames(right, caller)]);
    return [...names].map((name) => ({ why: right.why, ask: questionOf(right, caller, name) }));
  });
}

export function userOf({ namespace, account }: Pick<Caller, 'namespace' | 'account'>): Pick<AccessQuestion, 'user' | 'groups'> {
  return {
    user: `system:serviceaccount:${namespace}:${account}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

function questionOf({ verb, group, resource, subresource, scope }: Right, caller: Caller, name: string | undefined): AccessQuestion {
  return {
    ...userOf(caller),
    resourceAttributes: {
      verb,
      group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(scope === 'cluster' ? {} : { namespace: caller.namespace }),
      ...(name === undefined ? {} : { name }),
    },
  };
}

function namesOf({ named }: Right, { namespace, account, secrets, contracts }: Caller): readonly string[] {
  if (named === undefined) return [];
  switch (named) {
    case 'secrets':
      return secrets;
    case 'contracts':
      return contracts;
    case 'account':
      return [account];
    case 'namespace':
      return [namespace];
  }
}

/** Whether the rule gives something the table asks about. */
export function isAskedAbout(rule: NamedRule): boolean {
  return RIGHTS.some((right) => namesIn(rule, right).length > 0);
}

function grantedNames(right: Right, { granted }: Caller): readonly string[] {
  return granted.flatMap((rule) => namesIn(rule, right));
}

/** Of Secrets only those that can be bound: an agent may read a Secret of its own by its name. */
function namesIn({ verbs, groups, resources, names }: NamedRule, { verb, group, resource, subresource }: Right): readonly string[] {
  const covering = subresource === undefined ? ['*', resource] : ['*', `${resource}/${subresource}`, `*/${subresource}`];
  const given = (one: string, list: readonly string[]) => list.includes(one) || list.includes('*');
  if (!given(verb, verbs) || !given(group, groups) || !covering.some((each) => resources.includes(each))) return [];
  return resource === 'secrets' ? names.filter((name) => name.startsWith(RESERVED_PREFIX)) : names;
}
