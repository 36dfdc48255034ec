/**
 * Warnings about workload templates whose pods the guards will refuse: the person who applies a Deployment sees them at once, not in
 * the events of a ReplicaSet. Only warnings - the pods are judged again when they are made, by a guard that denies (failure case INJ-31).
 */
import { LABEL, SIDECAR } from '#core/resource/names.ts';
import { celLiteral } from './cel-text.ts';
import { conditionCel } from './condition.ts';
import { RESERVED_RULES, type Rule, SHAPE_RULES } from './pod-rules.ts';
import { type Guard, type GuardSettings, guard, guardedNamespaces, type NamedExpression, type Validation } from './policy.ts';

const WRITES = { operations: ['CREATE', 'UPDATE'], apiVersions: ['v1'] } as const;

export const TEMPLATES = [
  { ...WRITES, apiGroups: [''], resources: ['replicationcontrollers', 'podtemplates'] },
  { ...WRITES, apiGroups: ['apps'], resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'] },
  { ...WRITES, apiGroups: ['batch'], resources: ['jobs', 'cronjobs'] },
];

const template =
  `request.resource.resource == 'podtemplates' ? object.template : ` +
  `(request.resource.resource == 'cronjobs' ? object.spec.jobTemplate.spec.template : object.spec.template)`;

const VARIABLES: readonly NamedExpression[] = [
  { name: 'template', expression: template },
  { name: 'spec', expression: 'variables.template.spec' },
  { name: 'other', expression: 'variables.spec.containers + variables.spec.?initContainers.orValue([])' },
  { name: 'volume', expression: 'variables.spec.?volumes.orValue([])' },
  {
    name: 'asksForSidecar',
    expression: `variables.template.?metadata.?labels[?${celLiteral(LABEL.inject)}].orValue('') == 'true' && ${celLiteral(LABEL.enforce)} in namespaceObject.metadata.?labels.orValue({})`,
  },
];

export function templatePolicy(settings: GuardSettings): Guard {
  return guard({
    name: 'postern-template',
    about: 'Warns of workload templates whose pods will be refused.',
    namespaces: guardedNamespaces(settings),
    rules: TEMPLATES,
    // A template may be absent: an old ReplicationController needs none.
    matchConditions: [
      { name: 'has-a-template', expression: `request.resource.resource != 'replicationcontrollers' || has(object.spec.template)` },
    ],
    variables: VARIABLES,
    validations: [
      ...RESERVED_RULES.map((rule) => warning(rule)),
      {
        expression: `!variables.spec.?initContainers.orValue([]).exists(c, c.name == ${celLiteral(SIDECAR.container)})`,
        message: `pods of this template will be refused: the operator puts the init container ${SIDECAR.container} in by itself; leave it out and label the template ${LABEL.inject}=true.`,
      },
      ...SHAPE_RULES.filter(({ part }) => part !== 'ephemeral').map((rule) => warning(rule, 'variables.asksForSidecar')),
    ],
    action: 'Warn',
  });
}

function warning(rule: Rule, onlyWhen?: string): Omit<Validation, 'reason'> {
  const unless = onlyWhen === undefined ? '' : `!${onlyWhen} || `;
  const message = `pods of this template will be refused: ${rule.says}`;
  if (rule.part === 'pod') return { expression: `${unless}!(${conditionCel(rule.when, 'variables.spec')})`, message };
  // A template has no ephemeral containers, and no sidecar that would be an exception.
  const list = rule.part === 'volume' ? 'variables.volume' : 'variables.other';
  return { expression: `${unless}!${list}.exists(i, ${conditionCel(rule.when, 'i')})`, message };
}
