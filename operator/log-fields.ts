/** A key of a cache as fields of the log. */
import type { LogFields } from '#core/runtime/log.ts';
import type { Key } from '#operator/kube/cache.ts';

export function logFields(key: Key): LogFields {
  const slash = key.indexOf('/');
  return slash === -1 ? { object: key } : { namespace: key.slice(0, slash), object: key.slice(slash + 1) };
}
