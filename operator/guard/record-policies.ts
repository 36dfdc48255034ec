/**
 * AgentSession and ActionApproval are the operator's records with one field each for people. Four ways to cheat are closed here and in
 * the rules of the CRDs (write-once, one-way): making one by hand, deleting one to take a revocation back, pointing its owner reference
 * at nothing so that the garbage collector deletes it, and writing what only the operator may say.
 *
 * - An agent never decides about itself. Another ServiceAccount of its namespace may only where a Role names the object in
 *   `resourceNames`: a blanket grant, as administrators of a namespace have it, does not count. The authorizer cannot be asked whom a
 *   RoleBinding names, but whether the right holds without a name.
 * - Everything else of `metadata` passes, so that finalizers and labels never get stuck.
 */
import { GROUP, VERB } from '#core/resource/names.ts';
import { celLiteral } from './cel-text.ts';
import { type Guard, type GuardSettings, guard, type NamedExpression, operatorUser, type Validation } from './policy.ts';

/** With and without credentials of its own for each controller. */
const COLLECTORS = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
];

type Check = Omit<Validation, 'reason'>;

/** Variables of both policies. `record` is the object, or what is deleted. */
function actors(settings: GuardSettings): readonly NamedExpression[] {
  return [
    { name: 'record', expression: 'object == null ? oldObject : object' },
    { name: 'operator', expression: `request.userInfo.username == ${celLiteral(operatorUser(settings))}` },
    { name: 'collector', expression: `request.userInfo.username in ${celLiteral(COLLECTORS)}` },
    { name: 'neighbour', expression: `request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':')` },
    {
      name: 'self',
      expression: `request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':' + variables.record.spec.serviceAccount`,
    },
  ];
}

/** Made, deleted and owned by nobody else. `noun` begins a sentence; `unless` is true for an update that may take the owner away. */
function ownership(noun: string, unless?: string): readonly Check[] {
  const but = unless === undefined ? '' : ` || (${unless})`;
  return [
    { expression: `request.operation != 'CREATE' || variables.operator`, message: `${noun} is made by the operator alone.` },
    {
      expression: `request.operation != 'DELETE' || variables.operator || variables.collector`,
      message: `${noun} is deleted by the operator, or with its owner or namespace: deleting it would take back what was decided.`,
    },
    {
      expression: `request.operation != 'UPDATE' || variables.operator || variables.collector || object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences${but}`,
      message: `metadata.ownerReferences: written by the operator alone; another owner would have the record collected.`,
    },
  ];
}

/** Expressions that are true when the maps are equal but for these keys; null and absent maps are empty. */
function sameBut(now: string, was: string, keys: readonly string[]): string {
  const but = celLiteral(keys);
  return `${now}.all(k, k in ${but} || (k in ${was} && ${now}[k] == ${was}[k])) && ${was}.all(k, k in ${but} || k in ${now})`;
}

/** The verb, held by this user for this very name where he is a ServiceAccount of the namespace, and never for himself. */
function personal(resource: string, name: string, verb: string, when: string, field: string, on: string): readonly Check[] {
  const may = (object: string) =>
    `authorizer.group(${celLiteral(GROUP)}).resource(${celLiteral(resource)}).namespace(request.namespace)${object}.check(${celLiteral(verb)}).allowed()`;
  return [
    { expression: `!(${when}) || !variables.self`, message: `${field}: an agent never decides about itself; a person does.` },
    {
      expression: `!(${when}) || ${may(`.name(${name})`)}`,
      message: `${field}: needs the verb ${verb} on ${on}; ask who administers the namespace.`,
    },
    {
      expression: `!(${when}) || !variables.neighbour || !${may('')}`,
      message: `${field}: a ServiceAccount of this namespace needs the verb ${verb} by name (resourceNames of a Role), not for every object.`,
    },
  ];
}

const requests = (resource: string) => [
  { apiGroups: [GROUP], apiVersions: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: [resource, `${resource}/status`] },
];

/** A write of the object itself, not of its status. */
const WRITES_OBJECT = `request.operation == 'UPDATE' && request.?subResource.orValue('') == ''`;
const WRITES_STATUS = `request.operation == 'UPDATE' && request.?subResource.orValue('') == 'status'`;

export function sessionPolicy(settings: GuardSettings): Guard {
  const admits = `(${WRITES_OBJECT} && object.spec.?admitted.orValue(false) && !oldObject.spec.?admitted.orValue(false))`;
  return guard({
    name: 'postern-session',
    about: "Sessions are the operator's; people revoke them, and admit them where they may.",
    rules: requests('agentsessions'),
    variables: actors(settings),
    validations: [
      // Whoever revokes and then deletes the pod, which is the advice while the operator is down, would have the session collected with it, and
      // with the session what keeps the next pod suspended. Without an owner it stays until the operator has seen its end.
      ...ownership('an AgentSession', `object.spec.?revoked.orValue(false) && object.metadata.?ownerReferences.orValue([]).size() == 0`),
      {
        expression: `!(${WRITES_OBJECT}) || ${sameBut('object.spec', 'oldObject.spec', ['revoked', 'admitted'])}`,
        message: 'spec: only revoked and admitted may change.',
      },
      {
        expression: `!(${WRITES_OBJECT}) || object.spec.?revoked.orValue(false) || !oldObject.spec.?revoked.orValue(false)`,
        message: 'spec.revoked: a revoked session stays revoked; its successor is a new pod.',
      },
      ...personal('agentsessions', 'oldObject.metadata.name', VERB.admit, admits, 'spec.admitted', 'this AgentSession'),
      { expression: `!(${WRITES_STATUS}) || variables.operator`, message: 'status: written by the operator alone.' },
    ],
  });
}

export function approvalPolicy(settings: GuardSettings): Guard {
  const decides = `(${WRITES_STATUS} && object.?status.?decision.hasValue() && object.?status.?decision != oldObject.?status.?decision)`;
  const shown =
    `!object.status.decision.?alternative.hasValue() ? object.status.decision.cardDigest == object.spec.cardDigest : ` +
    `object.spec.?alternatives.orValue([]).exists(a, a.name == object.status.decision.alternative && a.cardDigest == object.status.decision.cardDigest)`;
  return guard({
    name: 'postern-approval',
    about: 'An approval is decided once, by a person who may, under his own name, on the card he saw.',
    rules: requests('actionapprovals'),
    variables: [
      ...actors(settings),
      { name: 'status', expression: 'object.?status.orValue({})' },
      { name: 'oldStatus', expression: 'oldObject.?status.orValue({})' },
    ],
    validations: [
      ...ownership('an ActionApproval'),
      {
        expression: `!(${WRITES_OBJECT}) || object.spec == oldObject.spec`,
        message: 'spec: an approval asks one question and never changes.',
      },
      {
        expression: `!(${WRITES_STATUS}) || variables.operator || (${sameBut('variables.status', 'variables.oldStatus', ['decision'])})`,
        message: "status: you may write decision alone; the rest is the operator's.",
      },
      {
        expression: `!${decides} || object.status.decision.approver == request.userInfo.username`,
        messageExpression: `'status.decision.approver: must be your own user name, ' + request.userInfo.username + '.'`,
      },
      {
        expression: `!${decides} || (${shown})`,
        message: 'status.decision.cardDigest: must be the digest of the card that is decided on.',
      },
      ...personal('actioncontracts', 'object.spec.contract', VERB.approve, decides, 'status.decision', 'the contract of this approval'),
    ],
  });
}

/**
 * What the operator found of contracts and bindings is what it acts on: whether a contract is accepted, which of its callers are refused,
 * what was announced. Whoever may write everything of the group, as administrators of a namespace often may, writes specs and not verdicts.
 */
export function statusPolicy(settings: GuardSettings): Guard {
  return guard({
    name: 'postern-status',
    about: 'The status of contracts and bindings is written by the operator alone.',
    rules: [
      {
        apiGroups: [GROUP],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['actioncontracts/status', 'credentialbindings/status'],
      },
    ],
    validations: [
      {
        expression: `request.userInfo.username == ${celLiteral(operatorUser(settings))}`,
        message: 'status: written by the operator alone; change the spec, and read here what becomes of it.',
      },
    ],
  });
}

/**
 * The operator may patch every pod by RBAC, which knows no fields: of pods it may change one annotation. Only requests that RBAC lets it
 * make are looked at - it may neither create nor delete pods nor write their status - because each request a policy looks at costs, and
 * kubelets write statuses all the time.
 */
export function operatorPodsPolicy(settings: GuardSettings, annotation: string): Guard {
  const touched = sameBut('variables.annotations', 'variables.oldAnnotations', [annotation]);
  const metadata = ['annotations', 'managedFields', 'resourceVersion', 'generation'];
  return guard({
    name: 'postern-operator-pods',
    about: 'The operator changes one annotation of pods and nothing else.',
    rules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods', 'pods/ephemeralcontainers', 'pods/resize'] },
    ],
    matchConditions: [{ name: 'is-the-operator', expression: `request.userInfo.username == ${celLiteral(operatorUser(settings))}` }],
    variables: [
      { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
      { name: 'oldAnnotations', expression: 'oldObject.metadata.?annotations.orValue({})' },
    ],
    validations: [
      {
        expression:
          `request.operation == 'UPDATE' && request.?subResource.orValue('') == '' && object.spec == oldObject.spec && ` +
          `${sameBut('object.metadata', 'oldObject.metadata', metadata)} && ${touched}`,
        message: `the operator may change of pods only the annotation ${annotation}.`,
      },
    ],
  });
}
