/** What comes back: decoder, outcomes, the rows and what of them may leave. */
import type { Path } from '#core/completeness/path.ts';
import { ANSWER_VARIABLES, ITEM_VARIABLES } from '#core/completeness/rule.ts';
import type { AggregateRule, FieldRule, OrderRule, OutcomeRule, ResultRules, WayOn } from './compiled.ts';
import { groupsOf } from './pattern.ts';
import type { SpecNode } from './spec-node.ts';

export const WAYS_ON = [
  'None',
  'NextCursor',
  'RetryAfter',
  'NarrowQuery',
  'RetryWithDeadline',
  'Restart',
] as const satisfies readonly WayOn[];
const OUTCOMES = [
  'Ok',
  'Empty',
  'Pending',
  'RateLimited',
  'CursorExpired',
  'Denied',
  'NotFound',
  'CapReached',
  'TimedOut',
  'Unavailable',
  'Rejected',
] as const;

export function compileResult(node: SpecNode): ResultRules {
  const decoder = node.at('decoder').choice(['JSON', 'XML', 'NDJSON', 'Lines']);
  const lines = linesAt(node.maybe('lines'), decoder);
  const where = node.maybe('where')?.rule(ITEM_VARIABLES);
  const order = orderAt(node.maybe('order'));
  const aggregate = aggregateAt(node);
  return {
    decoder,
    contentTypes: node.at('contentTypes').list().map(contentTypeAt),
    ...(lines === undefined ? {} : { lines }),
    outcomes: node.at('outcomes').list().map(outcomeAt),
    shape: shapeAt(node),
    absentItems: node.maybe('absentItems')?.choice(['Error', 'Empty']) ?? 'Error',
    as: nameAt(node.at('as')),
    id: node
      .at('id')
      .list()
      .map((path) => path.pointer()),
    ...(where === undefined ? {} : { where }),
    ...(order === undefined ? {} : { order }),
    fields: fieldsAt(node),
    ...(aggregate === undefined ? {} : { aggregate }),
  };
}

/** The optional `then` of a rule. */
export function wayOnAt(node: SpecNode): { readonly then?: WayOn } {
  const then = node.maybe('then')?.choice(WAYS_ON);
  return then === undefined ? {} : { then };
}

function contentTypeAt(node: SpecNode): string {
  const type = node.text();
  if (type !== 'none' && type !== '' && !/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type)) {
    node.problem('body-content-type', `${JSON.stringify(type)} is not a media type in lower case, without parameters.`);
  }
  return type;
}

function linesAt(node: SpecNode | undefined, decoder: string): ResultRules['lines'] {
  if (node === undefined) return undefined;
  if (decoder !== 'Lines') node.problem('result-lines', `The decoder is ${decoder}.`);
  const match = node.maybeText('match');
  if (match !== undefined && groupsOf(match) === undefined)
    node.at('match').problem('schema-pattern', 'The pattern is not in the linear RE2 dialect.');
  return { unmatched: node.at('unmatched').choice(['Keep', 'Drop', 'Error']), ...(match === undefined ? {} : { match }) };
}

function outcomeAt(node: SpecNode): OutcomeRule {
  return {
    name: nameAt(node.at('name')),
    when: node.at('when').rule(ANSWER_VARIABLES),
    is: node.at('is').choice(OUTCOMES),
    ...wayOnAt(node),
  };
}

function shapeAt(node: SpecNode): ResultRules['shape'] {
  const items = node.maybe('items');
  if (items === undefined) return { kind: 'object', path: node.at('object').pointer() };
  if (node.at('object').present) node.problem('result-shape', 'A result is a list (items) or one value (object), not both.');
  const paths: readonly Path[] = items.list().map((path) => path.pointer());
  if (paths.length === 0) items.problem('result-shape', 'items lists no path.');
  return { kind: 'items', paths };
}

function orderAt(node: SpecNode | undefined): OrderRule | undefined {
  if (node === undefined) return undefined;
  return {
    by: node.at('by').pointer(),
    direction: node.at('direction').choice(['Ascending', 'Descending']),
    compare: node.at('compare').choice(['Text', 'Number', 'Time']),
  };
}

function fieldsAt(node: SpecNode): ResultRules['fields'] {
  const fields = node.maybe('fields');
  const all = node.maybe('allFields');
  if (all !== undefined) {
    if (all.at('because').text().trim() === '')
      all.at('because').problem('effect-because', 'allFields needs a reason: everything the remote sends passes.');
    if (fields !== undefined) node.problem('exactly-one', 'A result has fields or allFields, not both.');
    return 'All';
  }
  // A result that is only counted lets no row pass.
  if (fields === undefined && node.at('aggregate').present) return [];
  if (fields === undefined) node.problem('result-fields', 'Nothing says which fields may leave.');
  return (fields?.list() ?? []).map(fieldAt);
}

function fieldAt(node: SpecNode): FieldRule {
  return {
    name: fieldNameAt(node.at('name')),
    path: node.at('path').pointer(),
    presence: node.at('presence').choice(['Required', 'Optional', 'Restricted']),
  };
}

function aggregateAt(node: SpecNode): readonly AggregateRule[] | undefined {
  const list = node.maybe('aggregate');
  if (list === undefined) return undefined;
  if (!node.at('items').present) list.problem('result-aggregate', 'Only a list can be counted or summed.');
  return list.list().map((entry) => {
    const op = entry.at('op').choice(['Count', 'Sum', 'Min', 'Max']);
    const path = entry.maybe('path')?.pointer();
    if (path === undefined && op !== 'Count') entry.problem('result-aggregate', `${op} needs a path.`);
    return { name: fieldNameAt(entry.at('name')), op, ...(path === undefined ? {} : { path }) };
  });
}

/** Names of rules and of members of the result. */
export function nameAt(node: SpecNode): string {
  const name = node.text();
  if (name !== '' && !/^[A-Za-z0-9](?:[-_A-Za-z0-9]{0,61}[A-Za-z0-9])?$/.test(name)) {
    node.problem('bad-name', `${JSON.stringify(name)} is not a name.`, { cure: 'Use letters, digits, - and _, at most 63.' });
  }
  return name;
}

/** A member of a row: any visible text, since rows mirror the remote's. */
function fieldNameAt(node: SpecNode): string {
  const name = node.text();
  if (name !== '' && (name === '__proto__' || name.length > 63 || /[\p{C}]/u.test(name))) {
    node.problem('bad-name', 'This cannot be the name of a member.', { cure: 'Use visible characters, at most 63.' });
  }
  return name;
}
