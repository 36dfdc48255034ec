/**
 * What a contract says about other contracts: the reads behind evidence, recheck, settle and prepare. One that is not there yet, or does
 * not name the same callers, makes the contract not ready: objects may be applied in any order, and a sidecar has only the contracts
 * its own ServiceAccount may call. One that is there and can never fit is an error.
 */

import { schemaAt } from './argument-path.ts';
import { checkArguments } from './arguments.ts';
import { compileArgumentsSchema } from './compile-schema.ts';
import type { JsonTemplate, JsonValue, Slot } from './compiled.ts';
import type { Draft } from './draft.ts';
import type { EffectRules, GivenRead } from './effect-rules.ts';
import { nearestName } from './nearest.ts';
import { plainText } from './plain-text.ts';
import { mergePresets } from './preset.ts';
import { Report } from './report.ts';
import type { ResourceObject } from './resource-object.ts';
import type { ArgumentSchema, ArgumentsSchema } from './schema.ts';
import { type Declared, isUnknown, kindOf, type SlotKind } from './slot-kind.ts';
import { SpecNode } from './spec-node.ts';

export interface Around {
  readonly contracts: readonly ResourceObject[];
  readonly presets: readonly ResourceObject[];
}

/** A read as far as who refers to it must know: its merged spec, and its arguments compiled without a word about their problems. */
interface Read {
  readonly name: string;
  readonly spec: SpecNode;
  readonly arguments: ArgumentsSchema;
}

/** Why the contract cannot be called yet. */
export function checkReferences(draft: Draft, declared: Declared, effects: EffectRules, around: Around): readonly string[] {
  const { spec } = draft;
  const notReady = new Set<string>();
  const given: readonly (readonly [SpecNode | undefined, GivenRead | undefined])[] = [
    [spec.maybe('recheck'), effects.recheck],
    [spec.maybe('prepare'), effects.prepare],
    [spec.at('idempotency').maybe('settle'), effects.idempotency.settle],
  ];
  for (const [node, rules] of given) {
    if (node === undefined || rules === undefined) continue;
    const read = readAt(draft, node.at('contract'), around, notReady);
    if (read === undefined) continue;
    checkGiven(node.at('arguments'), rules, read, declared);
    const approval = read.spec.at('approval').at('mode').value ?? 'None';
    if (approval !== 'None')
      node.at('contract').problem('reference-approval', `${read.name} waits for a person itself (${plainText(approval)}).`);
  }
  const evidence = spec.maybe('evidence');
  if (evidence !== undefined) {
    const read = readAt(draft, evidence.at('from'), around, notReady);
    checkOwnArguments(evidence, declared.arguments);
    if (read !== undefined) checkEvidence(evidence, read, declared.arguments);
  }
  return [...notReady];
}

function readAt(draft: Draft, node: SpecNode, { contracts, presets }: Around, notReady: Set<string>): Read | undefined {
  const found = contracts.find((each) => each.name === node.value && each.namespace === draft.object.namespace);
  if (found === undefined) {
    notReady.add(`The contract ${plainText(node.value)} is not there.`);
    return undefined;
  }
  const report = new Report((path) => ({ kind: found.kind, name: found.name, path }));
  const spec = new SpecNode(mergePresets(found, presets).spec, ['spec'], report);
  if (spec.at('effect').value !== 'Read') node.problem('reference-effect', `${found.name} is no Read.`);
  const strangers = namesOf(draft.spec).filter((caller) => !namesOf(spec).includes(caller));
  if (strangers.length > 0) {
    const sentence = `${strangers.join(', ')} may call this action and not ${found.name}, which it needs.`;
    node.problem('reference-caller', sentence);
    notReady.add(sentence);
  }
  return { name: found.name, spec, arguments: compileArgumentsSchema(spec.at('arguments')) };
}

function namesOf(spec: SpecNode): readonly string[] {
  return spec
    .at('callers')
    .list()
    .map((caller) => plainText(caller.at('serviceAccount').value));
}

function checkGiven(node: SpecNode, { arguments: templates }: GivenRead, read: Read, declared: Declared): void {
  const names = Object.keys(read.arguments.properties);
  for (const [name, template] of templates) {
    const schema = Object.hasOwn(read.arguments.properties, name) ? read.arguments.properties[name] : undefined;
    const place = node.at(name);
    if (schema === undefined) {
      place.problem('reference-arguments', `${read.name} takes no ${JSON.stringify(name)}.`, { nearest: nearestName(name, names) });
      continue;
    }
    const fault = templateFault(template, schema, { declared, required: read.arguments.required.includes(name) });
    if (fault !== undefined) place.problem('reference-arguments', `${JSON.stringify(name)} of ${read.name} ${fault}.`);
  }
  const missing = read.arguments.required.filter((name) => !templates.some(([given]) => given === name));
  if (missing.length > 0) node.problem('reference-arguments', `${read.name} also needs ${missing.join(', ')}.`);
}

interface Fit {
  readonly declared: Declared;
  readonly required: boolean;
}

/** What can be seen before any call: fixed values by the whole schema, slots by their type. The values themselves are checked at the call. */
function templateFault(template: JsonTemplate, schema: ArgumentSchema, fit: Fit): string | undefined {
  switch (template.kind) {
    case 'literal':
      return valueFault(template.value, schema);
    case 'text':
      return schema.type === 'string' ? undefined : `is ${TYPES[schema.type]}, and a text is given`;
    case 'slot':
      return slotFault(template.slot, schema, fit);
    case 'list':
      if (schema.type !== 'array') return `is ${TYPES[schema.type]}, and a list is given`;
      return template.items.map((item) => templateFault(item, schema.items, fit)).find((fault) => fault !== undefined);
    case 'object':
      return schema.type === 'object' ? undefined : `is ${TYPES[schema.type]}, and a map is given`;
  }
}

const TYPES = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
} as const;
const SHAPES: Readonly<Record<ArgumentSchema['type'], SlotKind['shape']>> = {
  object: 'object',
  array: 'list',
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
};

function valueFault(value: JsonValue, schema: ArgumentSchema): string | undefined {
  const checked = checkArguments({ type: 'object', properties: { value: schema }, required: [] }, { value });
  return checked.kind === 'arguments' ? undefined : `does not take the value that is given (${checked.violations[0]?.rule ?? 'type'})`;
}

function slotFault(slot: Slot, schema: ArgumentSchema, { declared, required }: Fit): string | undefined {
  const kind = kindOf(slot, declared);
  // A name nobody declared is told where the slots are judged.
  if (isUnknown(kind)) return undefined;
  if (kind.optional && required) return `is required, and ${slot.text} may be absent`;
  // A format makes text of whatever it is given.
  const shape = slot.format === undefined ? kind.shape : 'text';
  return shape === 'unknown' || shape === SHAPES[schema.type] ? undefined : `is ${TYPES[schema.type]}, and ${slot.text} is not`;
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
function checkEvidence(evidence: SpecNode, read: Read, args: ArgumentsSchema): void {
  const names = Object.keys(read.arguments.properties);
  const matched = evidence.at('match').list();
  for (const entry of matched) checkMatch(entry, read, args);
  const missing = names.filter((name) => !matched.some((entry) => entry.at('evidenceArgument').value === name));
  if (missing.length > 0)
    evidence.at('match').problem('evidence-match', `The arguments ${missing.join(', ')} of ${read.name} are not matched.`);
  const completeness = read.spec.at('completeness');
  if (evidence.at('claim').value === 'Absent' && completeness.at('scope').at('absence').value !== 'Provable') {
    evidence.at('claim').problem('evidence-absence', `${read.name} cannot prove that something is absent.`);
  }
  const from = evidence.at('from');
  const ids = read.spec.at('result').at('id').value;
  if (!Array.isArray(ids) || ids.length !== 1) from.problem('evidence-ids', `${read.name} does not name its items by one id.`);
  else if (completeness.at('sources').present)
    from.problem('evidence-ids', `${read.name} asks several sources, and an id alone does not say of which it is.`);
}

function checkMatch(entry: SpecNode, read: Read, args: ArgumentsSchema): void {
  const node = entry.at('evidenceArgument');
  const names = Object.keys(read.arguments.properties);
  const schema = names.includes(node.text()) ? read.arguments.properties[node.text()] : undefined;
  if (schema === undefined) {
    node.problem('evidence-match', `${read.name} takes no ${JSON.stringify(node.value)}.`, { nearest: nearestName(node.text(), names) });
    return;
  }
  const constant = entry.at('constant');
  const own = schemaAt([plainText(entry.at('argument').value)], args);
  const fault = constant.present ? valueFault(constant.value ?? null, schema) : undefined;
  if (fault !== undefined) constant.problem('evidence-match', `${JSON.stringify(node.value)} of ${read.name} ${fault}.`);
  else if (own !== undefined && SHAPES[own.type] !== SHAPES[schema.type])
    entry
      .at('argument')
      .problem('evidence-match', `${JSON.stringify(node.value)} of ${read.name} is ${TYPES[schema.type]}, so it is never equal.`);
}
