/**
 * The credential's owner decides (design section 2.4): whoever writes a binding may read its Secret, whoever writes a contract may use
 * its bindings. The API server asks its own authorizer, so this holds with the operator down.
 *
 * One check of the authorizer costs 350,000 of the 1,000,000 an expression may spend and of the 10,000,000 of a policy: at most two an
 * expression, 28 a policy. Hence at most eight names, two an expression.
 */
import { limits } from '#core/bounds/limits.ts';
import { GROUP, VERB } from '#core/resource/names.ts';
import { celLiteral } from './cel-text.ts';
import { type Guard, guard, type NamedExpression, type Validation } from './policy.ts';

const CHECKS_PER_EXPRESSION = 2;
/** maxItems of spec.destinations in the CRD; a test compares. */
export const DESTINATIONS_MAX = 32;

/**
 * True when the author's word is needed: a new object, or a spec that changed in more than the brake. Suspending takes nothing from
 * anybody, so whoever may update the object may pull the brake; letting go of it is a change like any other. So is `secret.revision` of
 * a binding free: it announces a new value, and whoever rotates a Secret from elsewhere need not be able to read it.
 */
function authorityChanges(field: 'secret' | undefined): NamedExpression {
  const nested =
    field === undefined ? '' : ` || (k == '${field}' && ${sameBut(`object.spec.${field}`, `oldObject.spec.${field}`, 'revision')})`;
  return {
    name: 'spec-changes',
    expression:
      `request.operation == 'CREATE' || (has(oldObject.spec.suspended) && !has(object.spec.suspended)) || ` +
      `!object.spec.all(k, k == 'suspended'${nested} || (k in oldObject.spec && object.spec[k] == oldObject.spec[k])) || ` +
      `!oldObject.spec.all(k, k == 'suspended' || k in object.spec)`,
  };
}

function sameBut(now: string, was: string, key: string): string {
  return `${now}.all(s, s == '${key}' || (s in ${was} && ${now}[s] == ${was}[s])) && ${was}.all(s, s == '${key}' || s in ${now})`;
}

const rulesOf = (resource: string) => [{ apiGroups: [GROUP], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: [resource] }];

const mayUse = (name: string) =>
  `authorizer.group(${celLiteral(GROUP)}).resource('credentialbindings').namespace(request.namespace).name(${name}).check(${celLiteral(VERB.use)}).allowed()`;

/** `use` on each name of the list that the variable holds. */
function useOfEach(variable: string, field: string): readonly Omit<Validation, 'reason'>[] {
  const list = `variables.${variable}`;
  const most = limits.contractCredentialsMax;
  const validations: Omit<Validation, 'reason'>[] = [
    { expression: `${list}.size() <= ${most}`, message: `${field}: at most ${most} bindings, so that admission can check each; split it.` },
  ];
  for (let first = 0; first < most; first += CHECKS_PER_EXPRESSION) {
    const checks = Array.from({ length: CHECKS_PER_EXPRESSION }, (_, offset) => {
      const index = first + offset;
      return `(${list}.size() <= ${index} || ${mayUse(`${list}[${index}]`)})`;
    });
    const names = `${list}.filter(n, ${list}.indexOf(n) in [${first}, ${first + 1}]).join(', ')`;
    validations.push({
      expression: checks.join(' && '),
      messageExpression: `${celLiteral(`${field}: you may not use every one of `)} + ${names} + ${celLiteral(`; ask the owner of the binding for the verb ${VERB.use} on it.`)}`,
    });
  }
  return validations;
}

export function bindingPolicy(): Guard {
  const indexes = Array.from({ length: DESTINATIONS_MAX }, (_, index) => index);
  return guard({
    name: 'postern-binding',
    about: 'Whoever writes a binding may read the Secret it names and use the bindings it goes through.',
    rules: rulesOf('credentialbindings'),
    matchConditions: [authorityChanges('secret')],
    variables: [
      { name: 'hops', expression: `object.spec.destinations.filter(d, has(d.via)).map(d, d.via)` },
      // Many destinations may share a hop, and each check is dear. `distinct()` is newer than the oldest Kubernetes we run on.
      {
        name: 'via',
        expression: `${celLiteral(indexes)}.filter(i, i < variables.hops.size() && variables.hops.indexOf(variables.hops[i]) == i).map(i, variables.hops[i])`,
      },
    ],
    validations: [
      {
        expression: `authorizer.group('').resource('secrets').namespace(request.namespace).name(object.spec.secret.name).check('get').allowed()`,
        messageExpression: `'spec.secret.name: you may not read the Secret ' + object.spec.secret.name + '; a binding is written by somebody who has the verb get on its Secret.'`,
      },
      ...useOfEach('via', 'spec.destinations[].via'),
    ],
  });
}

export function contractPolicy(): Guard {
  return guard({
    name: 'postern-contract',
    about: 'Whoever writes a contract may use each binding it lists.',
    rules: rulesOf('actioncontracts'),
    matchConditions: [authorityChanges(undefined)],
    variables: [{ name: 'credentials', expression: 'object.spec.?credentials.orValue([])' }],
    validations: useOfEach('credentials', 'spec.credentials'),
  });
}
