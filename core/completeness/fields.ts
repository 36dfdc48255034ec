/**
 * From a raw item to the row the agent sees: only declared fields, and an honest word for each that is missing.
 */
import type { FieldRule, JsonValue, ResultRules } from '#core/contract/compiled.ts';
import type { OmittedField } from './envelope.ts';
import { isObject, readPath } from './path.ts';
import type { Row } from './source-walk.ts';

export interface Projected {
  readonly row: Row;
  /** Required fields the item lacks, by name. */
  readonly missing: readonly string[];
  readonly omitted: readonly OmittedField[];
}

const NOTHING: readonly never[] = [];

export function project(fields: ResultRules['fields'], item: JsonValue): Projected {
  if (fields === 'All') return { row: isObject(item) ? item : { value: item }, missing: NOTHING, omitted: NOTHING };
  // With a prototype, because without one every row is a hash table and its text costs twice; the compiler refuses `__proto__`.
  const row: Record<string, JsonValue> = {};
  let missing: string[] | undefined;
  let omitted: OmittedField[] | undefined;
  for (const field of fields) {
    const reading = readPath(item, field.path);
    if (reading.kind === 'value') {
      row[field.name] = reading.value;
      continue;
    }
    const omission = omissionOf(field);
    if (omission === undefined) continue;
    omitted = [...(omitted ?? []), omission];
    if (field.presence === 'Required') missing = [...(missing ?? []), field.name];
  }
  return { row, missing: missing ?? NOTHING, omitted: omitted ?? NOTHING };
}

function omissionOf(field: FieldRule): OmittedField | undefined {
  if (field.presence === 'Optional') return undefined;
  return { path: `/${field.name}`, cause: field.presence === 'Restricted' ? 'NOT_PERMITTED' : 'ABSENT' };
}
