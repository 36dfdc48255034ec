/**
 * OAuth2 client credentials (RFC 6749 section 4.4). The token goes to the binding's destinations; the client's secret only to the
 * token endpoint, whose origin is a destination too.
 *
 * - One token at a time, one request for it at a time, however many calls wait.
 * - Renewed before it ends; when the remote answers 401, once more by `renew`.
 * - The old token is masked like a rotated secret.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { CredentialUse } from '#core/contract/compiled-binding.ts';
import { percentEncode } from '#core/contract/encode.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';
import { type Headers, headerText, type Scheme } from './scheme.ts';
import { Secret } from './secret.ts';
import type { CredentialStore } from './store.ts';
import { parseToken, type TokenReply } from './token-reply.ts';

type Use = NonNullable<CredentialUse['oauth2ClientCredentials']>;

/** Sends a request that already carries its credential; rejects when no answer came. */
export type SendTokenRequest = (
  request: OutboundRequest,
  options: { readonly signal: AbortSignal; readonly wireBytesMax: number; readonly bodyBytesMax: number },
) => Promise<TokenReply>;

export interface OAuth2Means {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly send: SendTokenRequest;
}

interface Token {
  readonly secret: Secret;
  readonly headers: Headers;
  readonly maskable: Maskable;
  readonly renewAtMs: number;
}

export function oauth2Scheme(secret: string, use: Use, means: OAuth2Means): Scheme {
  let token: Token | undefined;
  let pending: Promise<Token> | undefined;

  const retire = () => {
    if (token !== undefined) means.store.retired(secret).add(token.secret);
    token = undefined;
  };
  const fetchToken = async (): Promise<Token> => {
    try {
      const next = await requestToken(secret, use, means);
      if (next.secret.reveal() !== token?.secret.reveal()) retire();
      token = next;
      return next;
    } finally {
      pending = undefined;
    }
  };
  return {
    headers(_request, _destination, signal) {
      if (token !== undefined && means.clock.monotonicMs() < token.renewAtMs) return token.headers;
      pending ??= fetchToken();
      return unlessAborted(
        pending.then(({ headers }) => headers),
        signal,
      );
    },
    maskable: () => token?.maskable ?? NOTHING,
    renew(refused) {
      // Somebody else is fetching, or has fetched, a newer one: many calls meet the same refusal at once.
      if (pending !== undefined) return true;
      const current = token?.headers[0]?.[1];
      if (current === undefined) return false;
      const used = refused?.headers.find(([name]) => name === 'authorization')?.[1];
      if (used === undefined || used === current) retire();
      return true;
    },
  };
}

const NOTHING: Maskable = { values: [], attached: [] };

async function requestToken(secret: string, use: Use, { store, clock, send }: OAuth2Means): Promise<Token> {
  const clientSecret = store.read(secret, use.clientSecretKey).reveal();
  const clientId = store.read(secret, use.clientIdKey, 'public').reveal();
  const askedMs = clock.monotonicMs();
  const request = tokenRequest(use, clientId, clientSecret);
  let reply: TokenReply;
  try {
    reply = await send(request, {
      signal: AbortSignal.timeout(limits.tokenRequestMsMax),
      wireBytesMax: limits.tokenBodyBytesMax,
      bodyBytesMax: limits.tokenBodyBytesMax,
    });
  } catch (error) {
    throw new PosternError('VAULT_LOCKED', 'The token of this action cannot be fetched at the moment.', { cause: error });
  }
  const { token, lifeMs } = parseToken(reply);
  headerText(token);
  return {
    secret: new Secret(token),
    headers: [['authorization', `Bearer ${token}`]],
    maskable: maskableOf(token, clientId, clientSecret),
    // From when we asked: the life is counted by the remote, which answered later.
    renewAtMs: askedMs + Math.max(lifeMs - limits.tokenMarginMs, lifeMs * 0.9),
  };
}

/** The secret as it is and as the token endpoint gets it: under base64 the two have nothing in common. */
function maskableOf(token: string, clientId: string, clientSecret: string): Maskable {
  const pairs = [`${clientId}:${clientSecret}`, `${encoded(clientId)}:${encoded(clientSecret)}`];
  return {
    values: [...new Set([token, clientSecret, encoded(clientSecret)])],
    attached: [`Bearer ${token}`, ...new Set(pairs)],
  };
}

function tokenRequest(use: Use, clientId: string, clientSecret: string): OutboundRequest {
  const url = new URL(use.tokenUrl);
  const fields: [string, string][] = [['grant_type', 'client_credentials']];
  if (use.scopes !== undefined) fields.push(['scope', use.scopes.join(' ')]);
  if (use.audience !== undefined) fields.push(['audience', use.audience]);
  const headers: [string, string][] = [
    ['accept', 'application/json'],
    ['content-type', 'application/x-www-form-urlencoded'],
  ];
  if (use.authentication === 'Body') {
    fields.push(['client_id', clientId], ['client_secret', clientSecret]);
  } else {
    // Both parts are form-encoded before base64 (RFC 6749 section 2.3.1).
    headers.push(['authorization', `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`]);
  }
  const body = Buffer.from(fields.map(([name, value]) => `${name}=${encoded(value)}`).join('&'));
  return { method: 'POST', origin: url.origin, target: url.pathname, headers, body };
}

function encoded(text: string): string {
  const result = percentEncode(text);
  if (typeof result !== 'string') throw new PosternError('CREDENTIAL_INVALID', 'The credential of this action is not well-formed Unicode.');
  return result;
}

/** The token is for every caller that waits; one that gives up leaves the others theirs. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new PosternError('VAULT_LOCKED', 'The token of this action did not come before the deadline.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
