/**
 * A bearer token that is fetched with another credential and ends: what OAuth2 clients and GitHub Apps have in common.
 *
 * - One token at a time, one request for it at a time, however many calls wait.
 * - Renewed before it ends; when the remote answers 401, once more by `renew`.
 * - The old token is masked like a rotated secret.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OutboundRequest } from '#core/contract/assemble.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';
import type { RetiredSecrets } from './retired.ts';
import { type Headers, headerText, type Scheme } from './scheme.ts';
import { Secret } from './secret.ts';
import type { CredentialStore } from './store.ts';
import type { TokenReply } from './token-reply.ts';

/** Sends a request that already carries its credential; rejects when no answer came. */
export type SendTokenRequest = (
  request: OutboundRequest,
  options: { readonly signal: AbortSignal; readonly wireBytesMax: number; readonly bodyBytesMax: number },
) => Promise<TokenReply>;

export interface TokenMeans {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly send: SendTokenRequest;
}

/** A token as it was answered. */
export interface FetchedToken {
  readonly token: string;
  /** From when it was asked for: the life is counted by the remote, which answered later. */
  readonly lifeMs: number;
  /** What went out to get it, and the token itself. */
  readonly maskable: Maskable;
}

interface Token {
  readonly secret: Secret;
  readonly headers: Headers;
  readonly maskable: Maskable;
  readonly renewAtMs: number;
}

/** `ask` rejects with PosternError VAULT_LOCKED or CREDENTIAL_INVALID. */
export function tokenScheme(retired: RetiredSecrets, clock: Clock, ask: () => Promise<FetchedToken>): Scheme {
  let token: Token | undefined;
  let pending: Promise<Token> | undefined;

  const retire = () => {
    if (token !== undefined) retired.add(token.secret);
    token = undefined;
  };
  const renewed = async (): Promise<Token> => {
    try {
      const askedMs = clock.monotonicMs();
      const next = tokenOf(await ask(), askedMs);
      if (next.secret.reveal() !== token?.secret.reveal()) retire();
      token = next;
      return next;
    } finally {
      pending = undefined;
    }
  };
  return {
    headers(_request, _destination, signal) {
      if (token !== undefined && clock.monotonicMs() < token.renewAtMs) return token.headers;
      pending ??= renewed();
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

function tokenOf({ token, lifeMs, maskable }: FetchedToken, askedMs: number): Token {
  headerText(token);
  return {
    secret: new Secret(token),
    headers: [['authorization', `Bearer ${token}`]],
    maskable,
    renewAtMs: askedMs + Math.max(lifeMs - limits.tokenMarginMs, lifeMs * 0.9),
  };
}

/** @throws PosternError VAULT_LOCKED when no answer comes. */
export async function askForToken(request: OutboundRequest, send: SendTokenRequest): Promise<TokenReply> {
  try {
    return await send(request, {
      signal: AbortSignal.timeout(limits.tokenRequestMsMax),
      wireBytesMax: limits.tokenBodyBytesMax,
      bodyBytesMax: limits.tokenBodyBytesMax,
    });
  } catch (error) {
    throw new PosternError('VAULT_LOCKED', 'The token of this action cannot be fetched at the moment.', { cause: error });
  }
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
