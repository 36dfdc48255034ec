/** A whole list of one kind, page by page. */
import { limits } from '#core/bounds/limits.ts';
import type { ApiTransport } from './api-transport.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { collectionPath, type ResourceKind } from './resource-kind.ts';

export interface PagesOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly signal?: AbortSignal;
  readonly pageSize: number;
  /** Requests of single pages may be sent again. An informer says false: it has its own pace. */
  readonly repeatable: boolean;
  /** The list as it was at exactly this version; 410 when that is compacted away. Default: as it is now. */
  readonly exact?: string;
}

export interface Page {
  /** Without `apiVersion` and `kind`: the API server leaves them out in lists. */
  readonly items: readonly unknown[];
  /** Of the whole list, the same on every page. */
  readonly resourceVersion: string;
  /** Every page so far is void: the list expired and starts again with this page (410). */
  readonly restarted: boolean;
}

/**
 * Pages until the last. A list that expires on the way starts again once, without pages the second time: etcd was compacted faster
 * than we read, and would be again. A page over limits.kubeAnswerBytesMax is asked for again in halves.
 */
export async function* listPages(transport: Pick<ApiTransport, 'call'>, kind: ResourceKind, options: PagesOptions): AsyncGenerator<Page> {
  let limit = options.pageSize;
  let from: string | undefined;
  let expired = false;
  let restarted = false;
  for (;;) {
    let answer: ListAnswer;
    try {
      answer = await onePage(transport, kind, options, { limit: expired ? 0 : limit, from });
    } catch (error) {
      if (isKubeError(error, 410) && from !== undefined && !expired) {
        from = undefined;
        expired = restarted = true;
        continue;
      }
      if (isKubeError(error) && error.reason === 'AnswerTooLarge' && limit > 1) {
        limit = Math.ceil(limit / 2);
        expired = false;
        continue;
      }
      throw error;
    }
    yield { items: answer.items, resourceVersion: answer.resourceVersion, restarted };
    restarted = false;
    if (answer.next === undefined) return;
    from = answer.next;
  }
}

interface ListAnswer {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  readonly next: string | undefined;
}

async function onePage(
  transport: Pick<ApiTransport, 'call'>,
  kind: ResourceKind,
  options: PagesOptions,
  { limit, from }: { readonly limit: number; readonly from: string | undefined },
): Promise<ListAnswer> {
  const what = `list ${kind.plural}`;
  const answer = await transport.call({
    what,
    method: 'GET',
    path: collectionPath(kind, options.namespace),
    query: {
      ...(limit > 0 && { limit: String(limit) }),
      ...(from !== undefined && { continue: from }),
      ...(from === undefined && options.exact !== undefined && { resourceVersion: options.exact, resourceVersionMatch: 'Exact' }),
      ...(options.labelSelector !== undefined && { labelSelector: options.labelSelector }),
    },
    repeatable: options.repeatable,
    ...(!options.repeatable && { tries: 1 }),
    tryMs: limits.kubeListMsMax,
    signal: options.signal,
  });
  const { items, metadata } = answer as {
    readonly items?: unknown;
    readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown };
  };
  const resourceVersion = metadata?.resourceVersion;
  // A list without a version cannot be followed: a watch from "" begins anywhere and loses events (failure case OPR-14).
  if (!Array.isArray(items) || typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new KubeError(`The answer is no list with a resourceVersion when the API server was asked to ${what}`, {
      status: 0,
      reason: 'Unreadable',
    });
  }
  const next = typeof metadata?.continue === 'string' && metadata.continue !== '' ? metadata.continue : undefined;
  return { items, resourceVersion, next };
}
