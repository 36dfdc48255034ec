/** The verdict about a binding that somebody writes: refused is only what can never be right, see operator/contract/admit.ts. */
import { limits } from '#core/bounds/limits.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { readObject } from '#core/contract/read-object.ts';
import { Report } from '#core/contract/report.ts';
import { ALLOWED, refused, type Verdict, verdictOf } from '#core/contract/verdict.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { API_VERSION } from '#core/resource/names.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { type BindingRecord, bindingRecord, type KubeObject } from '#operator/kube/records.ts';

type Written = CredentialBinding & KubeObject;

/** `oldObject`: null for CREATE. An update that leaves the spec as it is always passes. */
export function admitBinding(object: Written, oldObject: Written | null, cluster: Cluster): Verdict {
  if (oldObject !== null && canonicalJson(oldObject.spec as never) === canonicalJson(object.spec as never)) return ALLOWED;
  const record = bindingRecord(object);
  const bytes = Buffer.byteLength(record.specJson);
  if (bytes > limits.specBytesMax)
    return refused(`spec: it has ${bytes} bytes of JSON, and ${limits.specBytesMax} are allowed. Use several bindings.`);
  const { object: binding, report } = bindingWritten(record);
  if (binding === undefined) return verdictOf(record.name, report.problems);
  const { problems } = compileBinding(binding);
  return verdictOf(record.name, problems, sharedSecret(record, cluster));
}

/** A binding as the compiler reads it; a stored one has passed the API server's schema and is whole. */
export function bindingWritten({ namespace, name, specJson }: Pick<BindingRecord, 'namespace' | 'name' | 'specJson'>) {
  const report = new Report((path) => ({ kind: 'CredentialBinding', name, path }));
  const frame = { apiVersion: API_VERSION, kind: 'CredentialBinding', metadata: { namespace, name }, spec: JSON.parse(specJson) };
  return { object: readObject(frame, undefined, report), report };
}

/** Whoever reviews one binding should know of the others that send the same Secret elsewhere. */
function sharedSecret({ namespace, name, secret }: BindingRecord, cluster: Cluster): readonly string[] {
  const others = cluster.bindings.by('secret', `${namespace}/${secret}`).filter((other) => other.name !== name);
  if (others.length === 0) return [];
  const shown = others.slice(0, limits.conditionNamesMax).map((other) => other.name);
  return [`spec.secret.name: ${secret} is also bound by ${shown.join(', ')}, to their own destinations.`];
}
