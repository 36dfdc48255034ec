/** A list, made into records page by page, so that a cache is what the list says. */
import { limits } from '#core/bounds/limits.ts';
import type { ApiTransport } from './api-transport.ts';
import { type Cache, type Identified, type Key, keyOf } from './cache.ts';
import { listPages } from './list-pages.ts';
import type { KubeObject } from './records.ts';
import type { ResourceKind } from './resource-kind.ts';
import { isObject } from './watch-frame.ts';

export interface ListIntoOptions<T extends Identified> {
  readonly transport: ApiTransport;
  readonly kind: ResourceKind;
  readonly cache: Cache<T>;
  readonly record: (object: KubeObject) => T | null;
  /** The list of exactly this version; without it, of now. */
  readonly exact: string | undefined;
  readonly signal: AbortSignal;
  readonly onUnreadable: () => void;
}

/**
 * Resolves with the version of the list. Records are put as pages come, and only after the last one is removed what none of them
 * held: a list that breaks off takes nothing away. Throws KubeError.
 */
export async function readList<T extends Identified>(options: ListIntoOptions<T>): Promise<string> {
  const { transport, kind, cache, record, exact, signal, onUnreadable } = options;
  const held = new Set<Key>();
  let version = '';
  const pages = listPages(transport, kind, {
    pageSize: limits.kubePageSize,
    repeatable: false,
    signal,
    ...(exact !== undefined && { exact }),
  });
  for await (const page of pages) {
    if (page.restarted) held.clear();
    version = page.resourceVersion;
    for (const item of page.items) {
      if (!isObject(item)) {
        onUnreadable();
        continue;
      }
      const now = record(item);
      if (now === null) continue;
      held.add(keyOf(now));
      cache.put(now);
    }
  }
  for (const key of [...cache.keys()]) {
    if (!held.has(key)) cache.remove(key);
  }
  return version;
}
