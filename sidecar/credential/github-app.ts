/**
 * The installation token of a GitHub App. The private key never leaves: it signs a claim of ten minutes at most, the claim goes to
 * `apiUrl` alone and buys a token of an hour, the token goes to the binding's destinations.
 * @see https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { CredentialUse } from '#core/contract/compiled-binding.ts';
import { GITHUB_API_URL } from '#core/contract/credential-use.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { parseInstallationToken } from './installation-token.ts';
import type { Maskable } from './mask.ts';
import { pemMaskable } from './pem.ts';
import type { Scheme } from './scheme.ts';
import type { Secret } from './secret.ts';
import { askForToken, type FetchedToken, type TokenMeans, tokenScheme } from './token-scheme.ts';

type Use = NonNullable<CredentialUse['githubApp']>;

export function githubAppScheme(secret: string, use: Use, means: TokenMeans): Scheme {
  const keyOf = parsedKey();
  return tokenScheme(means.store.retired(secret), means.clock, () => requestToken(secret, use, means, keyOf));
}

async function requestToken(
  secret: string,
  use: Use,
  { store, clock, send }: TokenMeans,
  keyOf: (pem: Secret) => KeyObject,
): Promise<FetchedToken> {
  const pem = store.read(secret, use.privateKeyKey);
  const appId = store.read(secret, use.appIdKey, 'public').reveal();
  const installationId = store.read(secret, use.installationIdKey, 'public').reveal();
  // Both are put into what we sign and where we send it: anything but an id would be somebody's attempt.
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(appId)) throw invalid('The app id of this action is neither an app id nor a client id.');
  if (!/^[0-9]{1,20}$/.test(installationId)) throw invalid('The installation id of this action is not a number.');
  const claim = signedClaim(appId, keyOf(pem), clock.wallMs());
  const reply = await askForToken(tokenRequest(use, installationId, claim), send);
  const { token, lifeMs } = parseInstallationToken(reply, clock.wallMs());
  return { token, lifeMs, maskable: maskableOf(token, claim, pem.reveal()) };
}

function maskableOf(token: string, claim: string, pem: string): Maskable {
  return { values: [token, claim, ...pemMaskable(pem)], attached: [`Bearer ${token}`, `Bearer ${claim}`] };
}

/** A JWT (RFC 7519) under RS256. Begun in the past and ended before the ten minutes GitHub allows, so that either clock may be a minute off. */
function signedClaim(issuer: string, key: KeyObject, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const claims = {
    iat: seconds - limits.githubClaimBackdatedMs / 1000,
    exp: seconds + limits.githubClaimLifeMs / 1000,
    iss: issuer,
  };
  const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** GitHub Enterprise Server has its API under `/api/v3`. */
function tokenRequest(use: Use, installationId: string, claim: string): OutboundRequest {
  const url = new URL(use.apiUrl ?? GITHUB_API_URL);
  return {
    method: 'POST',
    origin: url.origin,
    target: `${url.pathname.replace(/\/$/, '')}/app/installations/${installationId}/access_tokens`,
    headers: [
      ['accept', 'application/vnd.github+json'],
      ['x-github-api-version', '2022-11-28'],
      ['authorization', `Bearer ${claim}`],
    ],
  };
}

/** Parsed once per value: the store returns the same object as long as the file is the same. */
function parsedKey(): (pem: Secret) => KeyObject {
  let last: Secret | undefined;
  let key: KeyObject | undefined;
  return (pem) => {
    if (pem !== last || key === undefined) {
      key = privateKey(pem.reveal());
      last = pem;
    }
    return key;
  };
}

function privateKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // What the parser says of it is about the key; nobody needs it.
    throw invalid('The private key of this action is not a PEM key without passphrase.');
  }
  if (key.asymmetricKeyType !== 'rsa') throw invalid('The private key of this action is no RSA key, and GitHub Apps have no other.');
  return key;
}

function invalid(message: string): PosternError {
  return new PosternError('CREDENTIAL_INVALID', message);
}
