/**
 * The credential of a replay: the production code that attaches and masks it, with a value nobody owns in place of
 * every secret. No file is read.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import { Secret } from '#sidecar/credential/secret.ts';
import { CredentialStore, type ValueKind } from '#sidecar/credential/store.ts';

/** Stands in for every secret of a binding; long and odd enough that no recording contains it by chance. */
export const CANARY_SECRET = 'postern-canary-8d1f6c0a93be';
const PUBLIC_VALUE = 'postern-canary-user';

/** The answer of a token endpoint (RFC 6749 section 5.1); its token begins with the canary. */
export const CANARY_TOKEN_REPLY = {
  status: 200,
  headers: [['content-type', 'application/json'] as const],
  body: new TextEncoder().encode(JSON.stringify({ access_token: `${CANARY_SECRET}-token`, token_type: 'Bearer', expires_in: 3600 })),
};

/** The same two values whatever is asked for; never a file. */
export class CanaryStore extends CredentialStore {
  readonly #secret = new Secret(CANARY_SECRET);
  readonly #public = new Secret(PUBLIC_VALUE);

  constructor(clock: Clock) {
    super({ directory: '', clock });
  }

  override read(_secret: string, _key: string, kind: ValueKind = 'secret'): Secret {
    return kind === 'public' ? this.#public : this.#secret;
  }
}

/**
 * The binding with a credential that a canary can be. A private key is no text anybody can make up, and what an app's token or a
 * certificate is bought with is between its owner and the token's issuer: on the contract's requests it is a bearer token, or nothing.
 */
export function replayedBinding(binding: CompiledBinding): CompiledBinding {
  const { use } = binding.spec;
  const madeOfKeys = use.githubApp !== undefined || use.clientCertificate !== undefined;
  return madeOfKeys ? { ...binding, spec: { ...binding.spec, use: { bearer: { key: 'token' } } } } : binding;
}

export function canaryCredential(binding: CompiledBinding, clock: Clock): BindingCredential {
  return new BindingCredential(binding, { store: new CanaryStore(clock), clock, sendTokenRequest: async () => CANARY_TOKEN_REPLY });
}
