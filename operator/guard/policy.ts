/**
 * A guard: one ValidatingAdmissionPolicy and its binding, with every field the API server would fill in, so that what is in the
 * cluster can be compared with it and a diff of the chart stays empty. No paramKind: params cost a second a pod at a thousand
 * bindings and refuse pods for half a minute after a restart of the API server (measured).
 */
import { LABEL } from '#core/resource/names.ts';

export const POLICY_API_VERSION = 'admissionregistration.k8s.io/v1';

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

/** Exactly one of message and messageExpression. The message is a sentence for the person who is refused: field, rule, cure. */
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason: 'Forbidden';
}

export interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: '*';
}

export interface PolicySpec {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchConstraints: {
    readonly matchPolicy: 'Equivalent';
    readonly namespaceSelector: { readonly matchExpressions?: readonly object[] };
    readonly objectSelector: Readonly<Record<string, never>>;
    readonly resourceRules: readonly ResourceRule[];
  };
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly validations: readonly Validation[];
}

export interface BindingSpec {
  readonly policyName: string;
  readonly validationActions: readonly ('Deny' | 'Warn')[];
}

export interface Guard {
  /** Of policy and binding. */
  readonly name: string;
  /** What it refuses, in one sentence. */
  readonly about: string;
  readonly policy: PolicySpec;
  readonly binding: BindingSpec;
}

export interface GuardSettings {
  /** Namespace the operator runs in. */
  readonly namespace: string;
  /** ServiceAccount the operator runs as. */
  readonly serviceAccount: string;
}

/** `system:serviceaccount:<namespace>:<name>`, as the API server names the operator. */
export function operatorUser({ namespace, serviceAccount }: GuardSettings): string {
  return `system:serviceaccount:${namespace}:${serviceAccount}`;
}

/** Never the system's namespaces nor our own: a cluster must be able to start without us (failure case INJ-02). */
export function guardedNamespaces({ namespace }: GuardSettings): readonly object[] {
  return [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', namespace] }];
}

export function enforcedNamespaces(settings: GuardSettings): readonly object[] {
  return [...guardedNamespaces(settings), { key: LABEL.enforce, operator: 'Exists' }];
}

export interface GuardParts {
  readonly name: string;
  readonly about: string;
  /** Expressions of a namespace selector; none takes every namespace. */
  readonly namespaces?: readonly object[];
  readonly rules: readonly Pick<ResourceRule, 'apiGroups' | 'apiVersions' | 'operations' | 'resources'>[];
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly validations: readonly Omit<Validation, 'reason'>[];
  /** Warnings never stop a request, not even when the rule itself fails. */
  readonly action?: 'Deny' | 'Warn';
}

export function guard({
  name,
  about,
  namespaces = [],
  rules,
  matchConditions,
  variables,
  validations,
  action = 'Deny',
}: GuardParts): Guard {
  return {
    name,
    about,
    policy: {
      failurePolicy: action === 'Deny' ? 'Fail' : 'Ignore',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: namespaces.length === 0 ? {} : { matchExpressions: namespaces },
        objectSelector: {},
        resourceRules: rules.map((rule) => ({ ...rule, scope: '*' })),
      },
      ...(matchConditions !== undefined && { matchConditions }),
      ...(variables !== undefined && { variables }),
      validations: validations.map((validation) => ({ ...validation, reason: 'Forbidden' })),
    },
    binding: { policyName: name, validationActions: [action] },
  };
}
