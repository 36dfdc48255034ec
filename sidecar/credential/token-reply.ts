/**
 * The answer of a token endpoint (RFC 6749 sections 5.1 and 5.2). Nothing of it reaches a message.
 */
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';

export interface TokenReply {
  readonly status: number;
  readonly body: Uint8Array;
  /** Names lower-case. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly fault?: string;
}

/**
 * @throws PosternError CREDENTIAL_INVALID when the endpoint refuses the client or answers no usable token, VAULT_LOCKED when it
 * may do better later.
 */
export function parseToken(reply: TokenReply): { readonly token: string; readonly lifeMs: number } {
  if (reply.status === 400 || reply.status === 401 || reply.status === 403)
    throw invalid('The token endpoint refuses the credential of this action.');
  if (reply.status !== 200 || reply.fault !== undefined) {
    throw new PosternError('VAULT_LOCKED', 'The token endpoint of this action does not give a token at the moment.');
  }
  const answer = answeredObject(reply, 'The token endpoint');
  const token = answer.access_token;
  if (typeof token !== 'string' || token.length < limits.secretBytesMin) throw invalid('The token endpoint answered no usable token.');
  if (typeof answer.token_type !== 'string' || answer.token_type.toLowerCase() !== 'bearer') {
    throw invalid('The token endpoint answered a token of another type than Bearer.');
  }
  // Some send the seconds as text.
  const seconds = Number(answer.expires_in ?? Number.NaN);
  return { token, lifeMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : limits.tokenLifeMsDefault };
}

/** `who` answered, for the message. Throws CREDENTIAL_INVALID. */
export function answeredObject({ body }: TokenReply, who: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    // The parser quotes what it read, and what it read may be half a token.
    throw invalid(`${who} answered something that is not JSON.`);
  }
  if (typeof value !== 'object' || value === null) throw invalid(`${who} answered no object.`);
  return { ...value };
}

function invalid(message: string): PosternError {
  return new PosternError('CREDENTIAL_INVALID', message);
}
