/**
 * The credential of one binding: the only code that puts a credential on a request.
 *
 * Order, enforced and not only intended: the request was assembled and compared with its template (`isAssembled`, the very
 * object), then its destination is checked against the binding, then the credential is read and added. Nothing after that
 * changes where the request goes: the result is frozen and only `headers` differ (promise P1).
 */
import type { Clock } from '#core/bounds/clock.ts';
import { isAssembled, type OutboundRequest } from '#core/contract/assemble.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { GITHUB_API_URL } from '#core/contract/credential-use.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { awsSigV4Scheme } from './aws-sig-v4.ts';
import { clientCertificateScheme } from './client-certificate.ts';
import { destinationFinder, type FindDestination } from './destination-rules.ts';
import { githubAppScheme } from './github-app.ts';
import { CredentialMask, type Maskable } from './mask.ts';
import { oauth2Scheme } from './oauth2.ts';
import type { RetiredSecrets } from './retired.ts';
import type { ClientIdentity, Headers, Scheme } from './scheme.ts';
import { basicScheme, bearerScheme, headerScheme } from './static-scheme.ts';
import type { CredentialStore } from './store.ts';
import type { SendTokenRequest } from './token-scheme.ts';

export interface CredentialMeans {
  readonly store: CredentialStore;
  readonly clock: Clock;
  /** How a token request travels; its origin is one of the binding's destinations. */
  readonly sendTokenRequest: SendTokenRequest;
}

export class BindingCredential {
  readonly #binding: CompiledBinding;
  readonly #find: FindDestination;
  readonly #scheme: Scheme;
  readonly #retired: RetiredSecrets;
  #mask: CredentialMask | undefined;
  #maskOf: Maskable | undefined;
  #maskGeneration = -1;

  /** @throws PosternError CONTRACT_NOT_READY for a kind of credential that is not served. */
  constructor(binding: CompiledBinding, means: CredentialMeans) {
    this.#binding = binding;
    this.#find = destinationFinder(binding.spec.destinations);
    this.#scheme = schemeOf(binding, means);
    this.#retired = means.store.retired(binding.spec.secret.name);
  }

  /**
   * The request with its credential; a promise only where a signature or a token is needed.
   * @throws PosternError EGRESS_DENIED outside the binding's destinations, SESSION_SUSPENDED, VAULT_LOCKED, CREDENTIAL_INVALID.
   */
  attach(request: OutboundRequest, signal: AbortSignal): OutboundRequest | Promise<OutboundRequest> {
    if (!isAssembled(request)) throw new PosternError('INTERNAL', 'A credential was asked for a request whose destination is not final.');
    if (this.#binding.spec.suspended !== undefined)
      throw new PosternError('SESSION_SUSPENDED', 'The credential of this action is suspended.');
    const destination = this.#find(request);
    if (destination === undefined) {
      throw new PosternError('EGRESS_DENIED', 'The request leaves the places its credential may go to; nothing was sent.');
    }
    const headers = this.#scheme.headers(request, destination, signal);
    return headers instanceof Promise ? headers.then((added) => withHeaders(request, added)) : withHeaders(request, headers);
  }

  /** What to take out of replies: the values in use and the ones that were. The same object while none changes. */
  get mask(): CredentialMask {
    const maskable = this.#scheme.maskable();
    const generation = this.#retired.generation;
    if (this.#mask === undefined || maskable !== this.#maskOf || generation !== this.#maskGeneration) {
      const retired = this.#retired.list().map((secret) => secret.reveal());
      this.#mask = new CredentialMask({ values: [...maskable.values, ...retired], attached: maskable.attached });
      this.#maskOf = maskable;
      this.#maskGeneration = generation;
    }
    return this.#mask;
  }

  /** After a 401 to `refused`, as it was sent: whether another try could carry another credential. */
  renew(refused?: OutboundRequest): boolean {
    return this.#scheme.renew?.(refused) ?? false;
  }

  /** What connections of this binding show, where its credential is a certificate. Throws PosternError VAULT_LOCKED, CREDENTIAL_INVALID. */
  identity(): ClientIdentity | undefined {
    return this.#scheme.identity?.();
  }
}

function withHeaders(request: OutboundRequest, added: Headers): OutboundRequest {
  for (const [name] of added) {
    if (request.headers.some(([given]) => given === name)) {
      throw new PosternError('INTERNAL', 'The contract sets the header of its credential; it should not have compiled.');
    }
  }
  return Object.freeze({ ...request, headers: [...request.headers, ...added] });
}

function schemeOf({ spec }: CompiledBinding, { store, clock, sendTokenRequest }: CredentialMeans): Scheme {
  const { use } = spec;
  const secret = spec.secret.name;
  const tokens = { store, clock, send: sendTokenRequest };
  if (use.bearer !== undefined) return bearerScheme(store, secret, use.bearer);
  if (use.header !== undefined) return headerScheme(store, secret, use.header);
  if (use.basic !== undefined) return basicScheme(store, secret, use.basic);
  if (use.awsSigV4 !== undefined) return awsSigV4Scheme(store, secret, use.awsSigV4, clock);
  if (use.clientCertificate !== undefined) return clientCertificateScheme(store, secret, use.clientCertificate, clock);
  if (use.oauth2ClientCredentials !== undefined) {
    checkTokenPlace(spec, use.oauth2ClientCredentials.tokenUrl);
    return oauth2Scheme(secret, use.oauth2ClientCredentials, tokens);
  }
  if (use.githubApp !== undefined) {
    checkTokenPlace(spec, use.githubApp.apiUrl ?? GITHUB_API_URL);
    return githubAppScheme(secret, use.githubApp, tokens);
  }
  throw new PosternError('CONTRACT_NOT_READY', 'This release does not know this kind of credential.');
}

/** The compiler says so too; what buys tokens must not depend on it. */
function checkTokenPlace({ destinations }: CompiledBinding['spec'], url: string): void {
  if (!destinations.some(({ origin }) => origin === new URL(url).origin)) {
    throw new PosternError('EGRESS_DENIED', "The token endpoint is not among the binding's destinations.");
  }
}
