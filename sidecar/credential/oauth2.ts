/**
 * OAuth2 client credentials (RFC 6749 section 4.4). The token goes to the binding's destinations; the client's secret only to the
 * token endpoint, whose origin is a destination too.
 */
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { CredentialUse } from '#core/contract/compiled-binding.ts';
import { percentEncode } from '#core/contract/encode.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';
import type { Scheme } from './scheme.ts';
import { parseToken } from './token-reply.ts';
import { askForToken, type FetchedToken, type TokenMeans, tokenScheme } from './token-scheme.ts';

type Use = NonNullable<CredentialUse['oauth2ClientCredentials']>;

export function oauth2Scheme(secret: string, use: Use, means: TokenMeans): Scheme {
  return tokenScheme(means.store.retired(secret), means.clock, () => requestToken(secret, use, means));
}

async function requestToken(secret: string, use: Use, { store, send }: TokenMeans): Promise<FetchedToken> {
  const clientSecret = store.read(secret, use.clientSecretKey).reveal();
  const clientId = store.read(secret, use.clientIdKey, 'public').reveal();
  const reply = await askForToken(tokenRequest(use, clientId, clientSecret), send);
  const { token, lifeMs } = parseToken(reply);
  return { token, lifeMs, maskable: maskableOf(token, clientId, clientSecret) };
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
