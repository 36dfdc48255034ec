/**
 * The structural check against the schemas generated from crds/: it finds fields that do not exist, which the API server would drop in
 * silence, and everything the compiler's own reading has not judged. It runs last and says nothing twice.
 */
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { isList, isObject, type JsonObject } from '#core/completeness/path.ts';
import { actionContractSpecSchema } from '#core/resource/gen/action-contract-schema.ts';
import { contractPresetSpecSchema } from '#core/resource/gen/contract-preset-schema.ts';
import { credentialBindingSpecSchema } from '#core/resource/gen/credential-binding-schema.ts';
import type { JsonValue } from './compiled.ts';
import { nearestName } from './nearest.ts';
import type { Report } from './report.ts';
import { typeName } from './spec-node.ts';
import type { SpecPath } from './spec-path.ts';

const SCHEMAS = {
  ActionContract: actionContractSpecSchema as Schema,
  CredentialBinding: credentialBindingSpecSchema as Schema,
  ContractPreset: contractPresetSpecSchema as Schema,
};
export type CheckedKind = keyof typeof SCHEMAS;

const validators = new Map<CheckedKind, Validator>();

/** Dereferencing a schema takes milliseconds, so it is done once per kind. */
function validatorOf(kind: CheckedKind): Validator {
  const known = validators.get(kind);
  if (known !== undefined) return known;
  const made = new Validator(SCHEMAS[kind], '2020-12', false);
  validators.set(kind, made);
  return made;
}

/** `spec` as written, without presets and defaults. */
export function checkStructure(kind: CheckedKind, spec: JsonObject, report: Report): void {
  for (const unit of validatorOf(kind).validate(spec).errors) {
    const found = {
      unit,
      keyword: unit.keyword,
      schema: schemaAt(SCHEMAS[kind], unit.keywordLocation),
      path: pathOf(spec, unit.instanceLocation),
    };
    // A choice's branches fail one by one; the choice itself is reported.
    const finding = /\/oneOf\/[0-9]+\//.test(unit.keywordLocation) ? undefined : findingOf(spec, found);
    if (finding !== undefined && !report.saidAbout(finding.path))
      report.add(finding.path, finding.code, finding.message, { nearest: finding.nearest });
  }
}

interface Found {
  readonly unit: OutputUnit;
  readonly keyword: string;
  /** The schema that holds the keyword. */
  readonly schema: JsonObject;
  readonly path: SpecPath;
}

const PROPERTY = /^(?:Instance does not have required property|Property) "(.*)"/s;

interface Finding {
  readonly path: SpecPath;
  readonly code:
    | 'missing-field'
    | 'unknown-field'
    | 'wrong-type'
    | 'unknown-value'
    | 'bad-name'
    | 'out-of-range'
    | 'exactly-one'
    | 'duplicate-name';
  readonly message: string;
  readonly nearest?: string | undefined;
}

function findingOf(spec: JsonObject, { keyword, unit, schema, path }: Found): Finding | undefined {
  const value = valueAt(spec, path);
  const name = PROPERTY.exec(unit.error)?.[1] ?? '';
  switch (keyword) {
    case 'required':
      return { path: [...path, name], code: 'missing-field', message: `${name} is required.` };
    case 'additionalProperties':
      return unknownField(schema, path, name, value);
    case 'oneOf':
      return { path, code: 'exactly-one', message: `Exactly one of ${alternatives(schema)} is needed.` };
    case 'type':
      return { path, code: 'wrong-type', message: `This is ${typeName(value)}, and ${String(schema.type)} is needed.` };
    case 'enum':
      return notInEnum(schema, path, value);
    case 'pattern':
      return { path, code: 'bad-name', message: 'The text does not have the form of this field.' };
    case 'uniqueItems':
      return { path, code: 'duplicate-name', message: 'The list repeats an entry.' };
    default:
      return BOUNDS.includes(keyword)
        ? { path, code: 'out-of-range', message: `${keyword} of this field is ${JSON.stringify(schema[keyword])}.` }
        : undefined;
  }
}

function alternatives(schema: JsonObject): string {
  const choice = schema['x-postern-exactly-one'];
  return isObject(choice) && isList(choice.names ?? null) ? (choice.names as readonly JsonValue[]).join(', ') : 'the alternatives';
}

function notInEnum(schema: JsonObject, path: SpecPath, value: JsonValue | undefined): Finding {
  const allowed = isList(schema.enum ?? null) ? (schema.enum as readonly JsonValue[]).map(String) : [];
  const nearest = typeof value === 'string' ? nearestName(value, allowed) : undefined;
  return { path, code: 'unknown-value', message: `${JSON.stringify(value)} is none of ${allowed.join(', ')}.`, nearest };
}

const BOUNDS: readonly string[] = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];

function unknownField(schema: JsonObject, path: SpecPath, name: string, value: JsonValue | undefined): Finding | undefined {
  // The keyword also fails where a map's values fail; then the value has its own finding.
  if (schema.additionalProperties !== false) return undefined;
  const known = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const unused = known.filter((each) => !isObject(value) || !Object.hasOwn(value, each));
  return {
    path: [...path, name],
    code: 'unknown-field',
    message: `There is no field ${JSON.stringify(name)} here.`,
    nearest: nearestName(name, unused),
  };
}

function pathOf(spec: JsonObject, pointer: string): SpecPath {
  let here: JsonValue | undefined = spec;
  const path: (string | number)[] = ['spec'];
  for (const token of pointer.split('/').slice(1)) {
    const name = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    const step: string | number = isList(here ?? null) ? Number(name) : name;
    path.push(step);
    here = stepInto(here, step);
  }
  return path;
}

function stepInto(value: JsonValue | undefined, step: string | number): JsonValue | undefined {
  if (typeof step === 'number') return isList(value ?? null) ? (value as readonly JsonValue[])[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function valueAt(spec: JsonObject, path: SpecPath): JsonValue | undefined {
  return path.slice(1).reduce<JsonValue | undefined>((value, step) => stepInto(value, step), spec);
}

/** Follows a keyword location such as `#/properties/http/$ref/required` to the schema that holds its last word. */
function schemaAt(root: Schema, location: string): JsonObject {
  let here: JsonValue | undefined = root as JsonObject;
  const tokens = location.split('/').slice(1, -1);
  for (const token of tokens) {
    const name = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    here = isList(here ?? null) ? stepInto(here, Number(name)) : stepInto(here, name);
    if (name === '$ref' && typeof here === 'string') {
      const definitions = (root as JsonObject).$defs;
      here = isObject(definitions) ? definitions[here.slice('#/$defs/'.length)] : undefined;
    }
  }
  return isObject(here) ? here : {};
}
