// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * A key of the Secret. Example: `token`.
 */
export type SecretKey = string;

/**
 * A credential and the only places it may go to. Whoever writes a binding needs `get` on its Secret; whoever writes a contract that uses it needs the verb `use` on the binding.
 */
export interface CredentialBinding {
  apiVersion: 'postern.dev/v1alpha1';
  kind: 'CredentialBinding';
  metadata: ObjectMeta;
  /**
   * Whose credential it is, where it may go, how it is attached.
   */
  spec: {
    /**
     * The team that owns the credential. Example: `developer-platform`.
     */
    owner: string;
    /**
     * Kill switch: while it stands, no contract can use this credential. Example: `{because: leaked on 3 May}`.
     */
    suspended?: {
      /**
       * Why; people and agents read it. Example: `leaked on 3 May`.
       */
      because: string;
    };
    /**
     * The Secret of this namespace. Example: `{name: postern-github-triage-app}`.
     */
    secret: {
      /**
       * Its name begins with `postern-`: the name is the owner's consent. Example: `postern-github-triage-app`.
       */
      name: string;
      /**
       * Change it to announce a new value; pods read it at once. Example: `2027-05-03`.
       */
      revision?: string;
    };
    /**
     * The contracts that may use this binding; empty means it is only a hop for others. Example: `[list-open-issues, search-code]`.
     *
     * @maxItems 100
     */
    contracts: string[];
    /**
     * Where the credential may go, and nowhere else. Example: `[{origin: https://api.github.com, methods: [GET], pathPrefixes: [/repos/acme/]}]`.
     *
     * @minItems 1
     * @maxItems 32
     */
    destinations: {
      /**
       * Literal and canonical: `https://host[:port]`, `ssh://host:port`, or `http://ADDRESS:port` with a literal address. Example: `https://api.github.com`.
       */
      origin: string;
      /**
       * `Plaintext` sends the credential readable by everyone on the way; shown as a condition. Default `TLS`.
       */
      transport?: 'TLS' | 'Plaintext';
      /**
       * Narrows the methods of contracts. Default: all. Example: `[GET]`.
       *
       * @minItems 1
       * @maxItems 6
       */
      methods?: ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
      /**
       * Narrows the paths, by whole segments; a trailing `*` matches inside the last one. Default: all. Example: `[/repos/acme/]`.
       *
       * @minItems 1
       * @maxItems 32
       */
      pathPrefixes?: string[];
      /**
       * Address ranges the name may resolve to; private ranges must be named. Default: public addresses only. Example: `[10.20.0.0/16]`.
       *
       * @minItems 1
       * @maxItems 32
       */
      addresses?: string[];
      /**
       * Trust this certificate authority instead of the system's. Example: `{key: ca.crt}`.
       */
      ca?: {
        key: SecretKey;
      };
      /**
       * Fingerprints of the SSH host. Example: `["SHA256:AAAA..."]`.
       *
       * @minItems 1
       * @maxItems 8
       */
      hostKeys?: string[];
      /**
       * A binding that is the hop before this one; whoever writes this needs `use` on it. Example: `bastion`.
       */
      via?: string;
      /**
       * For awsSigV4: what the signature is for. Example: `{service: s3, region: eu-central-1}`.
       */
      signing?: {
        /**
         * Signing name of the service. Example: `dynamodb`.
         */
        service: string;
        /**
         * Region. Example: `eu-central-1`.
         */
        region: string;
      };
    }[];
    /**
     * How the credential is attached; every field ending in Key names a key of the Secret. Example: `{bearer: {key: token}}`.
     */
    use: {
      /**
       * `authorization: Bearer ...` (RFC 6750). Example: `{key: token}`.
       */
      bearer?: {
        key: SecretKey;
      };
      /**
       * Another header. Example: `{name: authorization, prefix: "ApiKey ", key: api-key}`.
       */
      header?: {
        /**
         * Lower-case header name. Example: `private-token`.
         */
        name: string;
        /**
         * Text before the value. Example: `Token token=`.
         */
        prefix?: string;
        key: SecretKey;
      };
      /**
       * User name and password (RFC 7617). Example: `{usernameKey: email, passwordKey: api-token}`.
       */
      basic?: {
        usernameKey: SecretKey;
        passwordKey: SecretKey;
      };
      /**
       * A token from a token endpoint (RFC 6749, 4.4). Example: `{tokenUrl: "https://login.example.com/token", clientIdKey: id, clientSecretKey: secret, scopes: [read]}`.
       */
      oauth2ClientCredentials?: {
        /**
         * Its origin must be one of the destinations, whose address ranges and CA apply; methods and pathPrefixes do not. Example: `https://login.example.com/oauth2/token`.
         */
        tokenUrl: string;
        clientIdKey: SecretKey;
        clientSecretKey: SecretKey;
        /**
         * Where the client's secret stands. Default `Basic`.
         */
        authentication?: 'Basic' | 'Body';
        /**
         * Scopes asked for. Example: `[read]`.
         *
         * @maxItems 32
         */
        scopes?: string[];
        /**
         * Audience asked for, where the service wants one. Example: `https://api.example.com`.
         */
        audience?: string;
      };
      /**
       * AWS Signature Version 4. Example: `{accessKeyIdKey: access-key-id, secretAccessKeyKey: secret-access-key}`.
       */
      awsSigV4?: {
        accessKeyIdKey: SecretKey;
        secretAccessKeyKey: SecretKey;
        sessionTokenKey?: SecretKey;
      };
      /**
       * An installation token of a GitHub App; the keys hold the app id (or client id), the id of the installation, and the private key. Example: `{appIdKey: app-id, installationIdKey: installation-id, privateKeyKey: private-key.pem}`.
       */
      githubApp?: {
        appIdKey: SecretKey;
        installationIdKey: SecretKey;
        privateKeyKey: SecretKey;
        /**
         * Where the token is fetched; its origin must be one of the destinations, whose address ranges and CA apply; methods and pathPrefixes do not. Default `https://api.github.com`. Example: `https://github.example.com/api/v3`.
         */
        apiUrl?: string;
      };
      /**
       * A TLS client certificate, and behind it the chain the remote needs. Example: `{certificateKey: tls.crt, privateKeyKey: tls.key}`.
       */
      clientCertificate?: {
        certificateKey: SecretKey;
        privateKeyKey: SecretKey;
      };
      /**
       * An SSH key. Example: `{user: postern-logs, privateKeyKey: id_ed25519}`.
       */
      sshKey?: {
        /**
         * Login name. Example: `postern-logs`.
         */
        user: string;
        privateKeyKey: SecretKey;
        passphraseKey?: SecretKey;
      };
    };
    /**
     * Lets pods use it whose ServiceAccount also has a cloud identity (an AWS, Google or Azure annotation): the agent can then reach that cloud past Postern. Default: refused. Example: `{because: the role may only read one bucket}`.
     */
    allowCloudIdentity?: {
      /**
       * Why that is acceptable. Example: `the role may only read one bucket`.
       */
      because: string;
    };
    /**
     * `EachUse`: a person for every effect, whatever a contract says. Default `ContractDecides`.
     */
    approval?: 'ContractDecides' | 'EachUse';
  };
  /**
   * Written by the operator only.
   */
  status?: {
    /**
     * The generation this status speaks of.
     */
    observedGeneration?: number;
    /**
     * Contracts that use this binding now.
     *
     * @maxItems 100
     */
    usedBy?: string[];
    /**
     * The `spec.secret.revision` whose pods have been told to read the new value.
     */
    announcedRevision?: string;
    /**
     * Keys of the Secret as sidecars have them mounted.
     *
     * @maxItems 32
     */
    keys?: {
      /**
       * The key. Example: `token`.
       */
      key: string;
      /**
       * Sidecars that can use it.
       */
      present?: number;
      /**
       * Sidecars that do not have it.
       */
      missing?: number;
      /**
       * Sidecars that have it and refuse it: empty, too long, too short to be masked.
       */
      unusable?: number;
      /**
       * Values in use now by short digest; more than one means that a rotation is under way.
       *
       * @maxItems 8
       */
      values?: {
        /**
         * First 8 hex digits of a digest of binding UID and value.
         */
        digest: string;
        /**
         * Sidecars that use it.
         */
        sidecars?: number;
        /**
         * When the first of them read it.
         */
        since?: string;
      }[];
    }[];
    /**
     * Pods that must be started anew before they can use it.
     */
    podsToRoll?: number;
    /**
     * Accepted, Ready, Suspended, PlaintextAllowed, NamespaceUnsafe, RollNeeded, CallersRefused.
     *
     * @maxItems 32
     */
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      observedGeneration?: number;
      lastTransitionTime: string;
      reason: string;
      message: string;
    }[];
  };
}
/**
 * The part of Kubernetes metadata that Postern reads.
 */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: {
    [k: string]: string;
  };
  annotations?: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
