/** Limits of the operator's decisions about contracts, bindings, callers and pods; part of `limits`. */
export const CLUSTER_LIMITS = {
  // admission
  /** One spec; a webhook answers within seconds, and everything in a spec is looked at. Ten times the largest example. */
  specBytesMax: 256 * 1024,
  /** What kubectl shows of one warning; the API server cuts them all to 4,096 together. */
  admissionWarningCharsMax: 256,
  admissionWarningsMax: 12,

  // conditions
  /** Names listed in one message. */
  conditionNamesMax: 10,
  /** Default values shown in a contract's status; a contract is not made unreadable by its own status. */
  statusDefaultsMax: 200,
  /** Workloads shown under one caller; the CRD takes as many. */
  statusWorkloadsMax: 100,
  /** Warnings shown in a contract's status; the CRD takes as many. */
  statusWarningsMax: 100,
  /** Contracts shown as users of a binding; the CRD takes as many. */
  statusUsedByMax: 100,
  /** Keys shown of a Secret, and values of one key; the CRD takes as many. */
  statusKeysMax: 32,
  statusValuesMax: 8,
  /** Counts that change with every acknowledgement are written this much later, once for all of them. */
  statusGatherMs: 1_000,
  /** Warnings are written at most this often. */
  statusWarningsMs: 60_000,
  /** A warning that expires sooner is announced (design section 10). */
  warningAheadMs: 14 * 86_400_000,
  /** Contracts are looked at again after this time at the latest: warnings expire without an event. */
  contractRecheckMs: 3_600_000,

  // access
  /** A caller's rights are reviewed again after this time: other authorizers than RBAC change without an event. */
  accessReviewMs: 600_000,
  /** Between two such reviews: 120 questions cost the API server 0.2 s of CPU (measured), so 600 callers are one fifth of a core. */
  accessPaceMs: 1_000,
  /** Changes of RBAC objects are gathered for this time before the callers they may concern are reviewed. */
  accessGatherMs: 1_000,
  /** SubjectAccessReviews at once. */
  accessReviewsMax: 8,

  // exposure
  /** Pods are counted again at most this often. */
  exposureGatherMs: 2_000,
  /** Unguarded pods named in one message. */
  exposureNamesMax: 5,

  // guards
  /** The policy with the sidecar's spec is looked at again after this time, and put right when somebody changed it. */
  guardCheckMs: 10_000,
  /** All guards are compared with what this version writes this often: two reads a guard. */
  guardsLookMs: 60_000,
  /** After a pass that failed: until the first one succeeds, no sidecar is injected. */
  guardRetryMs: 2_000,
  /** Releases of the sidecar that are allowed at once: during an upgrade two, and one more for a way back. */
  guardReleasesMax: 3,
  /** A release that no replica runs any more is allowed for so long: pods injected by it may still be on their way. */
  guardReleaseKeptMs: 24 * 3_600_000,
  /** A replica notes at most this often that its release is in use. */
  guardReleaseSeenMs: 3_600_000,
  /** Tries of one pass when another replica wrote at the same time. */
  guardTriesMax: 3,
} as const;
