/**
 * Pieces of CEL that policies about pods share. A pod is judged whole when it is created, and later only in containers and volumes
 * that a request adds or changes: a guard that judged everything on UPDATE would keep old pods from getting rid of their finalizers
 * (measured: they hung in Terminating).
 */
import { SIDECAR } from '#core/resource/names.ts';
import { celLiteral } from './cel-text.ts';
import { conditionCel } from './condition.ts';
import type { Part, Rule } from './pod-rules.ts';
import type { NamedExpression, ResourceRule, Validation } from './policy.ts';

/** Requests that can change containers or volumes of a pod. */
export const POD_REQUESTS: Omit<ResourceRule, 'scope'> = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods', 'pods/ephemeralcontainers', 'pods/resize'],
};

const LISTS = ['containers', 'initContainers', 'ephemeralContainers', 'volumes'] as const;

/** True for a new pod, and for a request that changes containers or volumes. */
export const POD_CHANGES: NamedExpression = {
  name: 'containers-or-volumes-change',
  expression: `request.operation == 'CREATE' || ${LISTS.map((list) => `object.spec.?${list} != oldObject.spec.?${list}`).join(' || ')}`,
};

const NAME = celLiteral(SIDECAR.container);

/** Whether the pod has an init container of the sidecar's name. */
export const HAS_SIDECAR = `(has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.name == ${NAME}))`;

/** Lists that the parts of rules stand for; evaluated when first used. */
export const POD_VARIABLES: readonly NamedExpression[] = [
  { name: 'init', expression: judged('initContainers') },
  { name: 'agent', expression: `${judged('containers')} + ${judged('ephemeralContainers')}` },
  { name: 'ephemeral', expression: judged('ephemeralContainers') },
  { name: 'container', expression: 'variables.init + variables.agent' },
  { name: 'other', expression: `variables.init.filter(c, c.name != ${NAME}) + variables.agent` },
  { name: 'volume', expression: judged('volumes') },
];

function judged(list: (typeof LISTS)[number]): string {
  const field = `object.spec.${list}`;
  const old = `oldObject.spec.${list}`;
  return `(has(${field}) ? (oldObject == null || !has(${old}) ? ${field} : ${field}.filter(i, !(i in ${old}))) : [])`;
}

const SUBJECT: Readonly<Record<Exclude<Part, 'pod'>, string>> = {
  volume: 'volume',
  container: 'container',
  other: 'container',
  agent: 'container',
  ephemeral: 'container',
};

/**
 * The rule as a validation; `onlyWhen` is a CEL expression without which the rule does not hold.
 *
 * The message does not say which container or volume: the API server evaluates every messageExpression of every request, also of those
 * that pass, so a name costs as much again as the rule (measured: 0.3 ms a rule and pod). `kubectl postern explain-pod` names it.
 */
export function podValidation(rule: Rule, onlyWhen?: string): Omit<Validation, 'reason'> {
  const unless = onlyWhen === undefined ? '' : `!${onlyWhen} || `;
  if (rule.part === 'pod') {
    const refused = conditionCel(rule.when, 'object.spec');
    return { expression: `${unless}request.operation != 'CREATE' || !(${refused})`, message: `pod: ${rule.says}` };
  }
  return {
    expression: `${unless}!variables.${rule.part}.exists(i, ${conditionCel(rule.when, 'i')})`,
    message: `${SUBJECT[rule.part]}: ${rule.says}`,
  };
}
