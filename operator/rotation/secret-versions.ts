/**
 * The watcher's only task: each binding carries the version of its Secret as an annotation. The operator, which may not see Secrets,
 * reads it there and rotates. Nothing is remembered between two runs: what differs is written.
 */
import { ANNOTATION, RESERVED_PREFIX } from '#core/resource/names.ts';
import { type Cache, type Identified, type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { isGone } from '#operator/kube/kube-error.ts';
import type { BindingRecord, KubeObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';

/** All that is kept of a Secret. */
export type SecretRecord = Identified;

/** Null for Secrets nobody may bind. */
export function secretRecord({ metadata }: KubeObject): SecretRecord | null {
  if (!metadata.name.startsWith(RESERVED_PREFIX)) return null;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion };
}

export interface WatchedSecrets {
  readonly secrets: Cache<SecretRecord>;
  /** With the index `secret` (`namespace/secret`). */
  readonly bindings: Cache<BindingRecord>;
}

/** The annotation a binding should carry; undefined when there is no such Secret: that is no new value. */
export function versionWanted(binding: BindingRecord, { secrets }: WatchedSecrets): string | undefined {
  const secret = secrets.get(`${binding.namespace}/${binding.secret}`);
  if (secret === undefined) return undefined;
  const version = `${secret.uid}.${secret.resourceVersion}`;
  return version === binding.secretVersion ? undefined : version;
}

/** One reconcile of one binding. Throws what the API server refuses; the queue tries again. */
export async function writeSecretVersion(key: Key, watched: WatchedSecrets, client: KubeClient): Promise<void> {
  const binding = watched.bindings.get(key);
  const version = binding === undefined ? undefined : versionWanted(binding, watched);
  if (binding === undefined || version === undefined) return;
  const { namespace, name, uid } = binding;
  try {
    await client.patch(KINDS.bindings, { namespace, name }, { metadata: { uid, annotations: { [ANNOTATION.secretVersion]: version } } });
  } catch (thrown) {
    // Gone, or made anew: then its informer says so.
    if (!isGone(thrown)) throw thrown;
  }
}

/** Calls `note` with each binding that a change of either kind may touch. */
export function watchVersions({ secrets, bindings }: WatchedSecrets, note: (key: Key) => void): void {
  bindings.onChange((change) => {
    if (change.kind !== 'deleted') note(change.key);
  });
  secrets.onChange((change) => {
    if (change.kind === 'deleted') return;
    for (const binding of bindings.by('secret', change.key)) note(keyOf(binding));
  });
}
