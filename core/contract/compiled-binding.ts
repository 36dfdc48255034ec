/**
 * A CredentialBinding as the executor reads it: where a credential may go, how it is attached, whom to trust on the way.
 * Everything in it belongs to the credential's owner. It holds names of keys, never their content.
 */
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';

export interface CompiledBinding {
  readonly name: string;
  readonly namespace: string;
  /** Structurally checked; every origin canonical, every range parsed once by the compiler. */
  readonly spec: CredentialBinding['spec'];
}

export type BindingDestination = CompiledBinding['spec']['destinations'][number];
export type CredentialUse = CompiledBinding['spec']['use'];
