/**
 * Objects of the Kubernetes API, one request each. Knows no types of a client library: an object is what the caller says it is, and
 * callers check what they did not write themselves.
 */
import { limits } from '#core/bounds/limits.ts';
import type { ApiTransport } from './api-transport.ts';
import { isKubeError } from './kube-error.ts';
import { listPages } from './list-pages.ts';
import type { KubeObject } from './records.ts';
import { apiVersionOf, collectionPath, KINDS, type ObjectRef, objectPath, one, type ResourceKind } from './resource-kind.ts';

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly signal?: AbortSignal;
}

export interface ApplyOptions {
  /** Field manager: what it applied before and leaves out now is removed. */
  readonly manager: string;
  /** Takes fields over from other managers; without it, a conflict is a KubeError 409. */
  readonly force?: boolean;
  readonly subresource?: string;
  readonly dryRun?: boolean;
}

export interface DeleteOptions {
  readonly uid?: string;
  /** Only with `uid`. */
  readonly resourceVersion?: string;
}

/** All of these throw KubeError; a write that got no answer may have happened. */
export interface KubeClient {
  /** Null when there is none. */
  get<T>(kind: ResourceKind, ref: ObjectRef): Promise<T | null>;
  /** Whole list, limits.kubePageSize objects a request. A page that expired on the way starts the list again, so an object may come twice. */
  list<T>(kind: ResourceKind, options?: ListOptions): AsyncIterable<T>;
  /** Also for reviews (TokenReview, SubjectAccessReview), whose answer is the object. 409 when the name is taken. */
  create<T>(kind: ResourceKind, object: T, options?: { readonly dryRun?: boolean }): Promise<T>;
  /** Server-side apply: creates what is not there. `metadata` needs the name, and the namespace where the kind has one. */
  apply<T>(kind: ResourceKind, object: object, options: ApplyOptions): Promise<T>;
  /** JSON merge patch. With `metadata.resourceVersion` in it, 409 when the object changed since; with `metadata.uid`, see `isGone`. */
  patch<T>(kind: ResourceKind, ref: ObjectRef, mergePatch: object, options?: { readonly subresource?: string }): Promise<T>;
  /** False when there is none, or with `uid` none of that UID, and with `resourceVersion` besides, none of that version. */
  delete(kind: ResourceKind, ref: ObjectRef, options?: DeleteOptions): Promise<boolean>;
}

export interface ClientOptions {
  /** Tries of each request, and the time of one; default as ApiRequest says. */
  readonly tries?: number;
  readonly tryMs?: number;
  /** Called before each try of each write; what it throws, the write rejects with, and nothing is sent (failure case OPR-16). */
  readonly beforeWrite?: () => void;
  /** Ends writes that are under way. */
  readonly writeSignal?: AbortSignal;
}

export function createKubeClient(given: ApiTransport, options: ClientOptions = {}): KubeClient {
  const transport = paced(given, options);
  return {
    async get<T>(kind: ResourceKind, ref: ObjectRef): Promise<T | null> {
      try {
        const path = objectPath(kind, ref);
        return (await transport.call({ what: `read ${one(kind)}`, method: 'GET', path, repeatable: true })) as T;
      } catch (error) {
        if (isKubeError(error, 404)) return null;
        throw error;
      }
    },
    async *list<T>(kind: ResourceKind, options: ListOptions = {}): AsyncIterable<T> {
      for await (const page of listPages(transport, kind, { ...options, pageSize: limits.kubePageSize, repeatable: true })) {
        yield* page.items as readonly T[];
      }
    },
    create: async <T>(kind: ResourceKind, object: T, options: { readonly dryRun?: boolean } = {}) => {
      const { namespace } = (object as { readonly metadata?: { readonly namespace?: string } }).metadata ?? {};
      if (kind.namespaced && namespace === undefined) throw new TypeError(`${one(kind)} is created in a namespace`);
      const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
      const path = collectionPath(kind, namespace);
      const query = dryRunQuery(options);
      const repeatable = REVIEWS.has(kind.group);
      return (await transport.call({ what: `create ${one(kind)}`, method: 'POST', path, query, body, repeatable })) as T;
    },
    apply: async <T>(kind: ResourceKind, object: object, options: ApplyOptions) => {
      const query = { fieldManager: options.manager, ...(options.force && { force: 'true' }), ...dryRunQuery(options) };
      const path = objectPath(kind, (object as unknown as KubeObject).metadata, options.subresource);
      const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
      const request = { what: `apply ${one(kind)}`, method: 'PATCH', path, query, body, repeatable: true } as const;
      return (await transport.call({ ...request, contentType: 'application/apply-patch+yaml' })) as T;
    },
    patch: async <T>(kind: ResourceKind, ref: ObjectRef, mergePatch: object, options: { readonly subresource?: string } = {}) => {
      const path = objectPath(kind, ref, options.subresource);
      const request = { what: `change ${one(kind)}`, method: 'PATCH', path, body: mergePatch } as const;
      return (await transport.call({ ...request, contentType: 'application/merge-patch+json' })) as T;
    },
    async delete(kind: ResourceKind, ref: ObjectRef, options: DeleteOptions = {}) {
      const { uid } = options;
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        ...(uid !== undefined && { preconditions: options }),
      };
      try {
        await transport.call({ what: `delete ${one(kind)}`, method: 'DELETE', path: objectPath(kind, ref), body });
        return true;
      } catch (error) {
        if (isKubeError(error, 404) || (uid !== undefined && isKubeError(error, 409))) return false;
        throw error;
      }
    },
  };
}

/** Nothing is kept of what is created in these groups. */
const REVIEWS: ReadonlySet<string> = new Set([KINDS.tokenReviews.group, KINDS.subjectAccessReviews.group]);

/** The same transport, with the options of a client on each of its requests. */
function paced(transport: ApiTransport, { tries, tryMs, beforeWrite, writeSignal }: ClientOptions): Pick<ApiTransport, 'call'> {
  const pace = { ...(tries !== undefined && { tries }), ...(tryMs !== undefined && { tryMs }) };
  const write = { ...(beforeWrite !== undefined && { before: beforeWrite }), ...(writeSignal !== undefined && { signal: writeSignal }) };
  return { call: (request) => transport.call({ ...pace, ...(request.method !== 'GET' && write), ...request }) };
}

function dryRunQuery({ dryRun }: { readonly dryRun?: boolean }): { readonly dryRun?: string } {
  return dryRun === true ? { dryRun: 'All' } : {};
}
