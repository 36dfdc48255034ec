/**
 * From a CRD's structural schema to a JSON Schema that takes nothing unknown.
 *
 * The API server drops unknown fields in silence, and a misspelled rule is then no rule at all. The compiler
 * checks with these schemas instead, so a file on disk and an object in the cluster are judged alike.
 *
 * - Objects with `properties` take no others, unless they preserve unknown fields.
 * - A CEL rule `[has(self.a), has(self.b)].exists_one(x, x)`, and a `oneOf` over `required`, becomes a `oneOf` that
 *   carries its names and a sentence as `x-postern-exactly-one`.
 * - YAML anchors become `$defs`. Other CEL rules stay as data; the compiler has rules of its own for them.
 *
 * Runs at generation time only.
 */
export type Schema = { [key: string]: unknown };

export interface AnchoredSchema {
  readonly root: Schema;
  /** Objects that stand in several places, by identity, with the anchor's name. */
  readonly anchors: ReadonlyMap<object, string>;
}

/** The strict schema of `root`, with its shared parts under `$defs`. */
export function strictSchema({ root, anchors }: AnchoredSchema): Schema {
  const definitions: Record<string, Schema> = {};
  const convert = (node: Schema, isRoot = false): Schema => {
    const name = isRoot ? undefined : anchors.get(node);
    if (name === undefined) return convertNode(node, convert);
    if (!(name in definitions)) {
      definitions[name] = {};
      definitions[name] = convertNode(node, convert);
    }
    return { $ref: `#/$defs/${name}` };
  };
  const schema = convert(root, true);
  return { ...schema, $defs: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Facts for the API server only. */
const DROPPED = new Set(['format', 'oneOf', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-list-type', 'x-kubernetes-validations']);

function convertNode(node: Schema, convert: (child: Schema) => Schema): Schema {
  const strict: Schema = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (!DROPPED.has(keyword)) strict[keyword] = convertKeyword(keyword, value, convert);
  }
  if (node.properties !== undefined && node['x-kubernetes-preserve-unknown-fields'] !== true) strict.additionalProperties = false;
  if (node['x-kubernetes-list-type'] === 'set') strict.uniqueItems = true;
  if (node.format === 'date-time') strict.format = 'date-time';
  const choices = exactlyOneRules(node);
  if (choices.length > 0) {
    strict.allOf = choices.map(({ names, message }) => ({
      'x-postern-exactly-one': { names, message },
      oneOf: names.map((name) => ({ required: [name] })),
    }));
  }
  return strict;
}

function convertKeyword(keyword: string, value: unknown, convert: (child: Schema) => Schema): unknown {
  if (keyword === 'properties')
    return Object.fromEntries(Object.entries(value as Schema).map(([name, child]) => [name, convert(child as Schema)]));
  if ((keyword === 'items' || keyword === 'additionalProperties') && typeof value === 'object') return convert(value as Schema);
  return value;
}

const EXACTLY_ONE = /^\[(has\(self\.\w+\)(?:, has\(self\.\w+\))*)\]\.exists_one\(x, x\)$/;

interface Choice {
  readonly names: readonly string[];
  readonly message: string;
}

function exactlyOneRules(node: Schema): Choice[] {
  const rules = (node['x-kubernetes-validations'] ?? []) as readonly { rule: string; message: string }[];
  const found = rules.flatMap(({ rule, message }): Choice[] => {
    const list = EXACTLY_ONE.exec(rule)?.[1];
    return list === undefined ? [] : [{ names: list.split(', ').map((has) => has.slice('has(self.'.length, -1)), message }];
  });
  const plain = (node.oneOf ?? []) as readonly { required: readonly [string] }[];
  const names = plain.map(({ required: [name] }) => name);
  return names.length === 0 ? found : [...found, { names, message: `exactly one of ${names.join(', ')} is needed` }];
}
