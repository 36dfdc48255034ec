/**
 * The schema of a ContractPreset, derived from ActionContract's: the same grammar with only `base`,
 * `http.{headers, query, body}`, `result` and `completeness` (contract language, section 2.6). A preset is data
 * shipped with Postern, not a kind of the API server, so it has no CRD. Runs at generation time only.
 */
import type { Schema } from './strict-schema.ts';

/** `contractSpec` is the strict schema of an ActionContract's spec. */
export function presetSchema(contractSpec: Schema): Schema {
  const properties = contractSpec.properties as Record<string, Schema>;
  const http = properties.http?.properties as Record<string, Schema>;
  const definitions = structuredClone(contractSpec.$defs) as Record<string, Schema>;
  const completeness = definitions.completeness;
  // A preset drops nothing of another preset: `without` is a contract's word, with its reason.
  const blocks = completeness?.properties as Record<string, Schema>;
  delete blocks.preset;
  delete blocks.without;
  return {
    type: 'object',
    description: 'The manners of one service, written once: headers, outcomes, pager, signals. Immutable; the version is in the name.',
    additionalProperties: false,
    properties: {
      base: { $ref: '#/$defs/objectName' },
      http: {
        type: 'object',
        description: 'Merged under the contract: headers and query by key, the body whole.',
        additionalProperties: false,
        properties: { headers: http.headers, query: http.query, body: http.body },
      },
      result: properties.result,
      completeness: properties.completeness,
    },
    $defs: definitions,
  };
}
