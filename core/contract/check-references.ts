/**
 * What a contract says about other contracts: the reads behind evidence, recheck, settle and prepare. One that is not there yet is no
 * error, since objects may be applied in any order; one that is there and does not fit is.
 */
import { isObject, memberOf } from '#core/completeness/path.ts';
import type { Draft } from './draft.ts';
import { nearestName } from './nearest.ts';
import { plainText } from './plain-text.ts';
import type { ResourceObject } from './resource-object.ts';
import type { ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Why the contract cannot be called yet. */
export function checkReferences(draft: Draft, args: ArgumentsSchema, contracts: readonly ResourceObject[]): readonly string[] {
  const { spec } = draft;
  const notReady: string[] = [];
  const find = (node: SpecNode): ResourceObject | undefined => {
    const found = contracts.find((each) => each.name === node.value && each.namespace === draft.object.namespace);
    if (found === undefined) notReady.push(`The contract ${plainText(node.value)} is not there.`);
    else if (memberOf(found.spec, 'effect') !== 'Read') node.problem('reference-effect', `${found.name} is no Read.`);
    return found;
  };
  for (const node of [spec.maybe('recheck'), spec.maybe('prepare'), spec.at('idempotency').maybe('settle')]) {
    if (node === undefined) continue;
    const read = find(node.at('contract'));
    if (read !== undefined) checkGiven(node.at('arguments'), read);
  }
  const evidence = spec.maybe('evidence');
  if (evidence !== undefined) {
    const read = find(evidence.at('from'));
    checkOwnArguments(evidence, args);
    if (read !== undefined) checkEvidence(evidence, read);
  }
  return notReady;
}

function declaredBy(read: ResourceObject): { readonly names: readonly string[]; readonly required: readonly string[] } {
  const schema = memberOf(read.spec, 'arguments');
  const properties = isObject(schema) ? memberOf(schema, 'properties') : undefined;
  const required = isObject(schema) ? memberOf(schema, 'required') : undefined;
  return { names: isObject(properties) ? Object.keys(properties) : [], required: Array.isArray(required) ? required.map(String) : [] };
}

function checkGiven(node: SpecNode, read: ResourceObject): void {
  const { names, required } = declaredBy(read);
  const given = node.entries().map(([name]) => name);
  for (const [name, value] of node.entries()) {
    if (!names.includes(name))
      value.problem('reference-arguments', `${read.name} takes no ${JSON.stringify(name)}.`, { nearest: nearestName(name, names) });
  }
  const missing = required.filter((name) => !given.includes(name));
  if (missing.length > 0) node.problem('reference-arguments', `${read.name} also needs ${missing.join(', ')}.`);
}

function checkOwnArguments(evidence: SpecNode, args: ArgumentsSchema): void {
  const own = Object.keys(args.properties);
  for (const entry of evidence.at('match').list()) {
    const argument = entry.at('argument');
    if (argument.present === entry.at('constant').present)
      entry.problem('exactly-one', 'A match has exactly one of argument and constant.');
    else if (argument.present && !own.includes(argument.text())) {
      argument.problem('argument-unknown', `There is no argument ${JSON.stringify(argument.value)}.`, {
        nearest: nearestName(argument.text(), own),
      });
    }
  }
}

/** Every argument of the read must be fixed by this call, else the agent would choose the question the evidence answers. */
function checkEvidence(evidence: SpecNode, read: ResourceObject): void {
  const { names } = declaredBy(read);
  const matched = evidence
    .at('match')
    .list()
    .map((entry) => entry.at('evidenceArgument'));
  for (const node of matched) {
    if (!names.includes(node.text()))
      node.problem('evidence-match', `${read.name} takes no ${JSON.stringify(node.value)}.`, { nearest: nearestName(node.text(), names) });
  }
  const missing = names.filter((name) => !matched.some((node) => node.value === name));
  if (missing.length > 0)
    evidence.at('match').problem('evidence-match', `The arguments ${missing.join(', ')} of ${read.name} are not matched.`);
  if (evidence.at('claim').value === 'Absent' && absenceOf(read) !== 'Provable') {
    evidence.at('claim').problem('evidence-absence', `${read.name} cannot prove that something is absent.`);
  }
}

function absenceOf(read: ResourceObject): unknown {
  const completeness = memberOf(read.spec, 'completeness');
  const scope = isObject(completeness) ? memberOf(completeness, 'scope') : undefined;
  return isObject(scope) ? memberOf(scope, 'absence') : undefined;
}
