/**
 * The frame every object has: apiVersion, kind, metadata.name, metadata.namespace, spec. What is inside of `spec` is the kind's own concern.
 */

import { isList, isObject, type JsonObject, memberOf } from '#core/completeness/path.ts';
import { API_VERSION } from '#core/resource/names.ts';
import type { JsonValue } from './compiled.ts';
import { nearestName } from './nearest.ts';
import type { Report } from './report.ts';
import { KINDS, type Kind, type ObjectSource, type ResourceObject } from './resource-object.ts';
import type { SpecPath } from './spec-path.ts';

/** The object, or nothing when its frame is broken; then the report says how. */
export function readObject(value: JsonValue, source: ObjectSource | undefined, report: Report): ResourceObject | undefined {
  if (!isObject(value)) {
    report.add([], 'object-shape', 'The document is not a map.');
    return undefined;
  }
  checkTexts(value, [], report);
  if (memberOf(value, 'apiVersion') === undefined && memberOf(value, 'kind') === undefined) {
    report.add([], 'object-shape', "There is neither apiVersion nor kind, so this is no object of Postern's.");
    return undefined;
  }
  const kind = kindOf(value, report);
  if (memberOf(value, 'apiVersion') !== API_VERSION) report.add(['apiVersion'], 'object-shape', `apiVersion is not ${API_VERSION}.`);
  for (const field of Object.keys(value)) {
    if (!['apiVersion', 'kind', 'metadata', 'spec', 'status'].includes(field)) {
      report.add([field], 'unknown-field', `${JSON.stringify(field)} is no field of an object.`, {
        nearest: nearestName(field, ['metadata', 'spec', 'kind', 'apiVersion']),
      });
    }
  }
  const metadata = memberOf(value, 'metadata');
  const named = isObject(metadata) ? metadata : {};
  const name = nameAt(named, 'name', report);
  const namespace = memberOf(named, 'namespace') === undefined ? 'default' : nameAt(named, 'namespace', report);
  const spec = memberOf(value, 'spec');
  if (!isObject(spec)) report.add(['spec'], 'object-shape', 'spec is not a map.');
  if (kind === undefined || name === undefined || namespace === undefined || !isObject(spec) || report.failed) return undefined;
  return { kind, name, namespace, spec, ...(source === undefined ? {} : { source }) };
}

/** Half of a surrogate pair has no bytes, so no digest and no request could carry it (failure case JSON-09). */
function checkTexts(value: JsonValue, path: SpecPath, report: Report): void {
  if (typeof value === 'string' && !value.isWellFormed()) report.add(path, 'text-ill-formed', 'The text has half of a surrogate pair.');
  if (isList(value)) for (const [index, item] of value.entries()) checkTexts(item, [...path, index], report);
  if (!isObject(value)) return;
  for (const [name, held] of Object.entries(value)) {
    if (name.isWellFormed()) checkTexts(held, [...path, name], report);
    else report.add(path, 'text-ill-formed', 'A name has half of a surrogate pair.');
  }
}

function kindOf(value: JsonObject, report: Report): Kind | undefined {
  const written = memberOf(value, 'kind');
  const kind = KINDS.find((each) => each === written);
  if (kind === undefined) {
    const nearest = typeof written === 'string' ? nearestName(written, KINDS) : undefined;
    report.add(['kind'], 'object-unknown-kind', `kind is none of ${KINDS.join(', ')}.`, { nearest });
  }
  return kind;
}

/** RFC 1123 label: what Kubernetes takes for a name that becomes part of others. */
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function nameAt(metadata: JsonObject, field: string, report: Report): string | undefined {
  const name = memberOf(metadata, field);
  if (typeof name === 'string' && NAME.test(name)) return name;
  report.add(['metadata', field], name === undefined ? 'missing-field' : 'bad-name', `metadata.${field} is not a name.`);
  return undefined;
}
