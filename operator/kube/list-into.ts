/** A list, made into records page by page, so that a cache is what the list says. */
import { limits } from '#core/bounds/limits.ts';
import type { ApiTransport } from './api-transport.ts';
import type { Identified, Key } from './cache.ts';
import { listPages } from './list-pages.ts';
import type { RecordKeeper } from './record-keeper.ts';
import type { ResourceKind } from './resource-kind.ts';
import { isObject } from './watch-frame.ts';

export interface ListIntoOptions<T extends Identified, O> {
  readonly transport: ApiTransport;
  readonly kind: ResourceKind;
  readonly records: RecordKeeper<T, O>;
  /** The list of exactly this version; without it, of now. */
  readonly exact: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the version of the list. Records are put as pages come, and only after the last one is removed what none of them
 * held: a list that breaks off takes nothing away. Throws KubeError.
 */
export async function readList<T extends Identified, O>(options: ListIntoOptions<T, O>): Promise<string> {
  const { transport, kind, records, exact, signal } = options;
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
      const key = isObject(item) ? records.listed(item) : records.unreadable();
      if (key !== undefined) held.add(key);
    }
  }
  records.keepOnly(held);
  return version;
}
