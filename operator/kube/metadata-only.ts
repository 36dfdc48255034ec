/**
 * Lists and watches of metadata alone: the API server leaves the rest out, so that values of Secrets never come into this process.
 * RBAC does not know the difference - whoever may list Secrets may read them - but what is not sent cannot be logged or leaked.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
import type { ApiTransport } from './api-transport.ts';

/** For an Informer: everything asked over it is metadata. Closing it closes `transport`. */
export function metadataOnly(transport: ApiTransport): ApiTransport {
  return {
    call: (request) => transport.call({ ...request, accept: accept('PartialObjectMetadataList') }),
    open: (request) => transport.open({ ...request, accept: accept('PartialObjectMetadata') }),
    close: () => transport.close(),
  };
}

/** Without a second type: a server that cannot leave values out answers 406, and no value. */
function accept(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}
