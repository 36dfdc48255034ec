/**
 * GitHub's answer to `POST /app/installations/{id}/access_tokens`. Nothing of it reaches a message.
 * @see https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
 */
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { answeredObject, type TokenReply } from './token-reply.ts';

/**
 * The life is counted from the answer's own `Date` where it has one, since the two clocks need not agree, and is an hour at most: that
 * is all GitHub gives, and a longer one would only mean that our clock is slow.
 * @throws PosternError CREDENTIAL_INVALID when GitHub refuses the app or answers no usable token, VAULT_LOCKED when it may do better later.
 */
export function parseInstallationToken(reply: TokenReply, nowMs: number): { readonly token: string; readonly lifeMs: number } {
  if (reply.fault === undefined && REFUSALS.has(reply.status) && !rateLimited(reply)) {
    throw invalid(
      'GitHub refuses the app of this action: the app id, the installation id and the private key must belong together, and the clock of this node must be right.',
    );
  }
  if (reply.status !== 201 || reply.fault !== undefined) {
    throw new PosternError('VAULT_LOCKED', 'GitHub gives no token for this action at the moment.');
  }
  const { token, expires_at } = answeredObject(reply, 'GitHub');
  if (typeof token !== 'string' || token.length < limits.secretBytesMin) throw invalid('GitHub answered no usable token.');
  const endMs = typeof expires_at === 'string' ? Date.parse(expires_at) : Number.NaN;
  const sentMs = Date.parse(header(reply, 'date') ?? '');
  const lifeMs = endMs - (Number.isNaN(sentMs) ? nowMs : sentMs);
  return { token, lifeMs: Number.isNaN(lifeMs) ? limits.tokenLifeMsDefault : Math.min(Math.max(lifeMs, 0), limits.githubTokenLifeMsMax) };
}

/** 401 the signature, 403 a suspended installation, 404 somebody else's, 422 rights the app does not have. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404, 422]);

/** GitHub answers 403 for its rate limits too. */
function rateLimited(reply: TokenReply): boolean {
  return reply.status === 403 && (header(reply, 'retry-after') !== undefined || header(reply, 'x-ratelimit-remaining') === '0');
}

function header({ headers }: TokenReply, name: string): string | undefined {
  return headers?.find(([given]) => given === name)?.[1];
}

function invalid(message: string): PosternError {
  return new PosternError('CREDENTIAL_INVALID', message);
}
