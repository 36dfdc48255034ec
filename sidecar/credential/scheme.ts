/**
 * One way to put a credential on a request. A scheme reads the values it needs each time, so that a rotated file is used by
 * the next request.
 */
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { BindingDestination } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';

export type Headers = readonly (readonly [string, string])[];

/** What a client shows in a TLS handshake, as PEM; checked: the two belong together. */
export interface ClientIdentity {
  /** The leaf first, then the chain. */
  readonly certificate: string;
  readonly privateKey: string;
}

export interface Scheme {
  /**
   * Headers to add. MUST NOT depend on anything but the request, the destination and the values.
   * Throws PosternError VAULT_LOCKED or CREDENTIAL_INVALID.
   */
  headers(request: OutboundRequest, destination: BindingDestination, signal: AbortSignal): Headers | Promise<Headers>;
  /** What `headers` put on the wire last, and what it was made from. The same object while nothing changed. */
  maskable(): Maskable;
  /**
   * Forgets the token the remote refused; false when there is nothing that could be better the second time. With the refused request
   * as it was sent, a newer token is left alone.
   */
  renew?(refused?: OutboundRequest): boolean;
  /**
   * What connections show; only where the credential is a certificate. The same object while nothing changed, another one for other
   * files: a connection that showed the old one must not carry another request.
   * Throws PosternError VAULT_LOCKED or CREDENTIAL_INVALID.
   */
  identity?(): ClientIdentity;
}

/** A value as it goes into a header: visible ASCII and, inside, spaces. */
export function headerText(text: string): string {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) {
    throw new PosternError('CREDENTIAL_INVALID', 'The credential of this action holds characters that cannot be sent in a header.');
  }
  return text;
}
