/** A contract as the compiler reads it, from a record of the cache or from an admission. */
import { readObject } from '#core/contract/read-object.ts';
import { Report } from '#core/contract/report.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { shippedPresetObjects } from '#core/contract/shipped-presets.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { API_VERSION } from '#core/resource/names.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { BindingRecord, ContractRecord } from '#operator/kube/records.ts';

/** Presets are part of the release; one list, because the compiler remembers what it found about each. */
export const PRESETS: readonly ResourceObject[] = shippedPresetObjects();

type Kind = 'ActionContract' | 'CredentialBinding';

/** The object, or undefined when the frame is broken; a stored one has passed the API server's schema and is whole. */
export function asWritten(kind: Kind, { namespace, name, specJson }: Pick<ContractRecord, 'namespace' | 'name' | 'specJson'>) {
  const spec: JsonValue = JSON.parse(specJson);
  const report = new Report((path) => ({ kind, name, path }));
  return { object: readObject({ apiVersion: API_VERSION, kind, metadata: { namespace, name }, spec }, undefined, report), report };
}

/** What the compiler may look at beside the contract: the bindings it lists and the contracts it names, as far as they are there. */
export function surroundings(contract: Pick<ContractRecord, 'namespace' | 'name' | 'specJson' | 'credentials'>, cluster: Cluster) {
  const bindings = contract.credentials.flatMap((name) => cluster.bindings.get(`${contract.namespace}/${name}`) ?? []);
  const contracts = namedContracts(contract).flatMap((name) => cluster.contracts.get(`${contract.namespace}/${name}`) ?? []);
  return { bindings: objectsOf('CredentialBinding', bindings), contracts: objectsOf('ActionContract', contracts) };
}

function objectsOf(kind: Kind, records: readonly (BindingRecord | ContractRecord)[]): readonly ResourceObject[] {
  return records.flatMap((record) => asWritten(kind, record).object ?? []);
}

/** Contracts whose reads this one leans on: evidence, recheck, prepare, settle. */
export function namedContracts({ specJson }: Pick<ContractRecord, 'specJson'>): readonly string[] {
  const spec = JSON.parse(specJson) as {
    readonly evidence?: { readonly from?: unknown };
    readonly recheck?: { readonly contract?: unknown };
    readonly prepare?: { readonly contract?: unknown };
    readonly idempotency?: { readonly settle?: { readonly contract?: unknown } };
  };
  const named = [spec.evidence?.from, spec.recheck?.contract, spec.prepare?.contract, spec.idempotency?.settle?.contract];
  return [...new Set(named.filter((name): name is string => typeof name === 'string'))];
}
