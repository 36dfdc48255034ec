/** The objects of a bundle, for the compiler. */
import type { JsonObject } from '#core/completeness/path.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import type { Bundle } from '#proto/postern/control/v1/control_pb.ts';

export interface BundleObjects {
  readonly objects: readonly ResourceObject[];
  /** Of bindings, by name. */
  readonly uids: ReadonlyMap<string, string>;
}

/**
 * Kinds that this release does not know are left out: what needs one of them is refused by the compiler. A spec that is no JSON object
 * is an empty one, which the compiler refuses too.
 */
export function objectsOf(bundle: Bundle, namespace: string): BundleObjects {
  const objects = bundle.objects.flatMap(({ kind, name, specJson }) =>
    isServed(kind) ? [{ kind, name, namespace, spec: specOf(specJson) }] : [],
  );
  const bindings = bundle.objects.filter(({ kind }) => kind === 'CredentialBinding');
  return { objects, uids: new Map(bindings.map(({ name, uid }) => [name, uid])) };
}

const SERVED = ['ActionContract', 'CredentialBinding', 'ContractPreset'] as const;

function isServed(kind: string): kind is (typeof SERVED)[number] {
  return (SERVED as readonly string[]).includes(kind);
}

function specOf(json: Uint8Array): JsonObject {
  try {
    const spec: unknown = JSON.parse(Buffer.from(json).toString('utf8'));
    if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) return spec as JsonObject;
  } catch {
    // Refused by the compiler, with the code of the first field it misses.
  }
  return {};
}
