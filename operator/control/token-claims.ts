/**
 * What a token says of itself, unverified: only to refuse, without asking anybody, what a review would refuse too, and to know when a
 * reviewed token expires. Proves nothing.
 */
export interface TokenClaims {
  readonly audiences: readonly string[];
  /** Unix time in milliseconds. */
  readonly expiresMs: number;
}

/** Undefined when the text is no JWT with an expiry. */
export function tokenClaims(token: string): TokenClaims | undefined {
  const payload = /^[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/.exec(token)?.[1];
  if (payload === undefined) return undefined;
  const claims = objectIn(Buffer.from(payload, 'base64url').toString());
  const { aud, exp } = claims;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return undefined;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((each): each is string => typeof each === 'string');
  return { audiences, expiresMs: exp * 1000 };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {}; // no JWT: the caller says so
  }
}
