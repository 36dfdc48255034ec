// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * A digest. Example: `sha256:9f2c...`.
 */
export type Digest = string;

/**
 * One question to a person. What the card shows is what runs, byte for byte of its digest.
 */
export interface ActionApproval {
  apiVersion: 'postern.dev/v1alpha1';
  kind: 'ActionApproval';
  metadata: ObjectMeta;
  /**
   * The question; immutable.
   */
  spec: {
    /**
     * `Call`: may it run? `Resolve`: did an operation of unknown outcome happen?
     */
    purpose: 'Call' | 'Resolve';
    /**
     * The session that asks. A question of purpose Resolve outlives it. Example: `{name: release-bot-5c7d-0b6f6c1e, uid: 0b6f...}`.
     */
    session?: {
      /**
       * Name of the AgentSession. Example: `release-bot-5c7d-0b6f6c1e`.
       */
      name: string;
      /**
       * Its UID. Example: `0b6f6c1e-8a0f-4a53-9d5e-3f1c2b7a9e10`.
       */
      uid: string;
    };
    /**
     * On whose behalf. Example: `release-bot`.
     */
    serviceAccount: string;
    /**
     * The contract; deciding needs verb `approve` on it. Example: `deploy-service`.
     */
    contract: string;
    /**
     * The action. Example: `deploy_service`.
     */
    action: string;
    revision: Digest;
    argumentsDigest: Digest;
    planDigest?: Digest;
    /**
     * The operation. Example: `op_` and 26 of a-z, 0-9.
     */
    operationId?: string;
    /**
     * The text to decide on; every field in it has passed the text sanitizer. Example: `Deploy version 1.4.2 of storefront to production`.
     */
    card: string;
    cardDigest: Digest;
    /**
     * What one yes covers beyond a single call. Example: `{calls: 20, vary: [/reason]}`.
     */
    grant?: {
      /**
       * Calls it covers. Example: `20`.
       */
      calls?: number;
      /**
       * Arguments that may differ; all others are fixed on the card. Example: `[/reason]`.
       *
       * @maxItems 16
       */
      vary?: string[];
      fixedDigest?: Digest;
    };
    /**
     * Other plans that may be chosen instead. Example: `[{name: retry-longer, card: ..., cardDigest: ...}]`.
     *
     * @maxItems 4
     */
    alternatives?: {
      /**
       * Its name. Example: `retry-longer`.
       */
      name: string;
      /**
       * Its text. Example: `The same, with ten minutes for the answer`.
       */
      card: string;
      cardDigest: Digest;
      planDigest: Digest;
      argumentsDigest: Digest;
      /**
       * The operation it is. Example: `op_` and 26 of a-z, 0-9.
       */
      operationId?: string;
    }[];
    /**
     * A decision after it does nothing. Example: `"2027-05-03T15:00:00Z"`.
     */
    expiresAt: string;
  };
  /**
   * The decision, by a person; the rest by the operator.
   */
  status?: {
    /**
     * Made once. Admission demands that approver is the user who writes it.
     */
    decision?: {
      /**
       * User name, as the API server knows it. Example: `jo@example.com`.
       */
      approver: string;
      /**
       * The answer.
       */
      verdict: 'Approved' | 'Denied' | 'Done' | 'NotDone';
      /**
       * The alternative chosen.
       */
      alternative?: string;
      cardDigest: Digest;
      /**
       * Why; the agent reads it sanitized.
       */
      reason?: string;
    };
    /**
     * Where the question stands. `UnderWay`: an operation that was admitted and whose end is not known yet; `Voided`: what was asked is not so any more.
     */
    state?: 'Waiting' | 'Approved' | 'Denied' | 'Expired' | 'Voided' | 'Used' | 'UnderWay' | 'Resolved';
    /**
     * The operation that used it last. Example: `op_` and 26 of a-z, 0-9.
     */
    usedBy?: string;
    /**
     * When the operator saw the decision.
     */
    decidedAt?: string;
    /**
     * Calls already made under it.
     */
    callsUsed?: number;
    /**
     * Usable.
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
