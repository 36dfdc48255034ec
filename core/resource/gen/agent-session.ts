// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * One pod's right to call actions, from its start to its end; kept 24 hours after the end.
 */
export interface AgentSession {
  apiVersion: 'postern.dev/v1alpha1';
  kind: 'AgentSession';
  metadata: ObjectMeta;
  /**
   * Who the pod is; fixed, but for admitted and revoked.
   */
  spec: {
    /**
     * The pod. Example: `{name: triage-bot-7d9f, uid: 0b6f...}`.
     */
    pod: {
      /**
       * Name of the pod. Example: `triage-bot-7d9f`.
       */
      name: string;
      /**
       * UID of the pod; a pod of the same name made later is another session. Example: `0b6f6c1e-8a0f-4a53-9d5e-3f1c2b7a9e10`.
       */
      uid: string;
    };
    /**
     * ServiceAccount the pod runs as. Example: `triage-bot`.
     */
    serviceAccount: string;
    /**
     * What made the pod, at the top. Example: `{kind: Deployment, name: triage-bot, uid: 5f0c...}`.
     */
    controller?: {
      /**
       * Its kind. Example: `Deployment`.
       */
      kind: string;
      /**
       * Its name. Example: `triage-bot`.
       */
      name: string;
      /**
       * Its UID. Example: `5f0c2a1e-77b1-4d1c-9a55-6d2f0e8b4c21`.
       */
      uid: string;
    };
    /**
     * Node the pod runs on. Example: `node-7`.
     */
    node: string;
    /**
     * Image of the agent's first container, as the pod names it. Example: `registry.example.com/triage-bot@sha256:9f2c...`.
     */
    image: string;
    /**
     * True ends the right to call at once, and cannot be taken back. Example: `true`.
     */
    revoked?: boolean;
    /**
     * A person lets it call: where the namespace has `postern.dev/session-approval: required`, or after a suspension. Cannot be taken back; revoke instead. Example: `true`.
     */
    admitted?: boolean;
  };
  /**
   * Written by the operator only.
   */
  status?: {
    /**
     * `Pending` until its first bundle, or until admitted where the namespace asks for it; then `Active`; `Suspended` by a person or a second sidecar; `Revoked`; `Ended` with its pod.
     */
    state?: 'Pending' | 'Active' | 'Suspended' | 'Revoked' | 'Ended';
    /**
     * Why it is suspended or revoked.
     */
    because?: string;
    /**
     * Revision of the bundle the sidecar has acknowledged.
     */
    appliedRevision?: string;
    /**
     * Digest of the agent's image as the node pulled it; known once the agent has started. Example: `sha256:9f2c...`.
     */
    imageDigest?: string;
    /**
     * Version of the sidecar. Example: `0.1.0`.
     */
    version?: string;
    /**
     * Digest that tells this sidecar from every other process of the pod; set by its first connection.
     */
    instance?: string;
    /**
     * First bundle acknowledged.
     */
    startedAt?: string;
    /**
     * Last word of the sidecar; written at most every 30 seconds.
     */
    lastSeenAt?: string;
    /**
     * The pod is gone.
     */
    endedAt?: string;
    /**
     * The last audit record the operator has witnessed.
     */
    head?: {
      /**
       * Its sequence number.
       */
      sequence: number;
      /**
       * Its hash.
       */
      hash: string;
    };
    /**
     * How this session is recorded.
     */
    audit?: {
      /**
       * `Off`: not at all. `Local`: in the pod alone. `Shipped`: segments go to the store of the operator.
       */
      mode: 'Off' | 'Local' | 'Shipped';
      /**
       * `Acknowledged`: an effect waits until its intent is in the store. `Local`: until it is on the disk of the pod.
       */
      effects?: 'Acknowledged' | 'Local';
      /**
       * Who can read the records.
       *
       * @maxItems 16
       *
       * Items: SHA-256 of an age recipient, as text. Example: `sha256:9f2c...`.
       */
      recipients?: string[];
      /**
       * Name of the chain. Example: `postern.dev/audit/cluster/agents/0b6f6c1e-8a0f-4a53-9d5e-3f1c2b7a9e10`.
       */
      origin?: string;
      /**
       * Verifier key of the operator, for `postern audit verify --key`. Example: `postern.dev/authority/cluster+9f2c1d3e+AbCd...`.
       */
      key?: string;
      /**
       * The last epoch whose key the operator has certified.
       */
      epoch?: number;
      /**
       * Verifier key of that epoch.
       */
      epochKey?: string;
      /**
       * When status.head was witnessed.
       */
      witnessedAt?: string;
      /**
       * Up to this segment the store has all of them; there may be more behind one that is missing.
       */
      shippedSegments?: number;
      /**
       * The last record up to there.
       */
      shippedSequence?: number;
      /**
       * When a segment was stored last.
       */
      lastShippedAt?: string;
      /**
       * The sidecar has shown a head that does not fit the one witnessed before. Nothing of this chain is witnessed any more.
       */
      conflict?: {
        /**
         * `Fork`: one sequence, two hashes. `Rollback`: the chain has become shorter.
         */
        kind: 'Fork' | 'Rollback';
        /**
         * Sequence and hash that were witnessed. Example: `9195 sha256:9f2c...`.
         */
        known: string;
        /**
         * Sequence and hash that were shown then.
         */
        shown: string;
        /**
         * The signed checkpoint that was shown.
         */
        note?: string;
        /**
         * When.
         */
        at: string;
      };
    };
    /**
     * What became of each contract of the last bundle the sidecar acknowledged.
     *
     * @maxItems 500
     */
    contracts?: {
      /**
       * metadata.name of the contract.
       */
      name: string;
      /**
       * Revision the sidecar serves; absent when it refused the contract.
       */
      revision?: string;
      /**
       * Code of the first problem when the sidecar refused it: a sidecar of another version may know less. Example: `unknown-field`.
       */
      refused?: string;
    }[];
    /**
     * Keys of Secrets as this sidecar has them mounted.
     *
     * @maxItems 256
     */
    credentials?: {
      /**
       * metadata.name of the binding.
       */
      binding: string;
      /**
       * Key of its Secret.
       */
      key: string;
      /**
       * `Unusable` is there and refused: empty, too long, too short to be masked.
       */
      state: 'Present' | 'Missing' | 'Unusable';
      /**
       * First 8 hex digits of a digest of binding UID and value.
       */
      digest?: string;
      /**
       * Since when the value is this one.
       */
      since?: string;
    }[];
    /**
     * Warnings that answers of this session carry now.
     *
     * @maxItems 100
     */
    warnings?: {
      /**
       * The action.
       */
      action: string;
      /**
       * Example: `STALE_INDEX`.
       */
      code: string;
      /**
       * Team that answers for it.
       */
      owner: string;
      /**
       * First raised.
       */
      firstSeen?: string;
      /**
       * Last raised.
       */
      lastSeen?: string;
      /**
       * Until when it must be renewed or removed.
       */
      expires?: string;
    }[];
    /**
     * Connected, DuplicateSidecar, Exposed, OnOldRevision, BundleTooLarge, Audited, AuditBroken.
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
