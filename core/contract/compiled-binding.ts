/**
 * A CredentialBinding as the executor reads it: where a credential may go, how it is attached, whom to trust on the way.
 * Everything here belongs to the credential's owner. Holds names of keys, never their content.
 */
export interface CompiledBinding {
  readonly name: string;
  readonly namespace: string;
  readonly owner: string;
  /** Name of the Secret, `postern-...`: the folder below `--credentials`. */
  readonly secret: string;
  /** Contracts that may use it; empty: a hop only. */
  readonly contracts: readonly string[];
  readonly destinations: readonly BindingDestination[];
  readonly use: CredentialUse;
  readonly suspended?: { readonly because: string };
}

export interface BindingDestination {
  /** Canonical literal: `https://host[:port]`, `http://ADDRESS:port`, `ssh://host:port`. */
  readonly origin: string;
  readonly transport: 'TLS' | 'Plaintext';
  /** Absent: all. */
  readonly methods?: readonly string[];
  /** Whole segments; a trailing `*` matches inside the last one. Absent: all. */
  readonly pathPrefixes?: readonly string[];
  /** CIDR ranges or single addresses; absent: public addresses only. */
  readonly addresses?: readonly string[];
  /** Key of the Secret with the PEM roots to trust instead of the system's. */
  readonly ca?: { readonly key: string };
  readonly signing?: { readonly service: string; readonly region: string };
  readonly hostKeys?: readonly string[];
  readonly via?: string;
}

/** Every field ending in `Key` (and `key`) names a key of the Secret. */
export type CredentialUse =
  | { readonly kind: 'bearer'; readonly key: string }
  | { readonly kind: 'header'; readonly name: string; readonly prefix?: string; readonly key: string }
  | { readonly kind: 'basic'; readonly usernameKey: string; readonly passwordKey: string }
  | {
      readonly kind: 'oauth2ClientCredentials';
      /** Literal URL; its origin is one of `destinations`. */
      readonly tokenUrl: string;
      readonly clientIdKey: string;
      readonly clientSecretKey: string;
      readonly scopes?: readonly string[];
      readonly audience?: string;
      /** How the client authenticates (RFC 6749 section 2.3.1). */
      readonly clientAuthentication?: 'Basic' | 'Form';
    }
  | { readonly kind: 'awsSigV4'; readonly accessKeyIdKey: string; readonly secretAccessKeyKey: string; readonly sessionTokenKey?: string }
  | { readonly kind: 'githubApp' }
  | { readonly kind: 'clientCertificate' }
  | { readonly kind: 'sshKey' };
