/** Limits of the operator's end of the control stream and of sessions; part of `limits`. */
export const STREAM_LIMITS = {
  // streams
  /** A Renewal goes down each stream this often; a sidecar that misses two looks for another replica. */
  controlHeartbeatMs: 15_000,
  /** Time from a connection's first byte to its Hello: a place among the streams is not held by silence. */
  controlHelloMsMax: 10_000,
  /** One message must be taken by the peer within this time, else the stream is closed: its bundle is held in memory. */
  controlSendMsMax: 10_000,
  /** A bundle that is not acknowledged within this time no longer holds back a newer one. */
  controlAckMsMax: 10_000,
  /** Messages of one sidecar: a burst after each bundle, then reports. */
  controlMessagesBurst: 50,
  controlMessagesPerSecond: 5,
  /** Bytes of bundles on their way at once, over all streams: a change for a thousand sidecars must not be held a thousand times. */
  controlPushBytesMax: 64 * 1024 * 1024,
  /** Streams end over this time when the replica stops: the others meet them one after the other. */
  controlDrainMs: 5_000,

  // authentication
  /** Tokens reviewed at once, and waiting for it: a thousand sidecars come back together after a restart. */
  controlReviewsAtOnceMax: 16,
  controlReviewsWaitingMax: 2_000,
  /** Refused attempts of one address: so many at once, then one each controlFailureMs. Accepted ones are free. */
  controlFailuresBurst: 20,
  controlFailureMs: 3_000,
  /** Refused tokens are remembered, so that the same one is not reviewed again. */
  controlRefusedTokensMax: 2_000,
  controlRefusedTokenMs: 30_000,
  /** A refused pod may be allowed a moment later, when the operator knows one more release of its sidecar. */
  controlRefusedPodMs: 5_000,
  /** Addresses whose failures are counted; beyond it the longest known is forgotten. */
  controlSourcesMax: 10_000,
  /** Longest life of a stream, where its token lives longer. */
  controlProofMsMax: 24 * 3_600_000,
  /** Owners looked through for the one at the top: Pod, ReplicaSet, Deployment. */
  controlOwnersMax: 3,

  // bundles
  /** Changes of the caches are gathered for this time: one `kubectl apply` touches several objects. */
  controlGatherMs: 30,
  /** A changed contract that the leader has not judged yet holds back a new bundle for so long, then leaves it without the contract. */
  controlSettleMsMax: 2_000,
  /** Contracts of one bundle; an AgentSession reports on as many. */
  controlBundleContractsMax: 500,
  /** Caches without a word from the API server for longer than this are stale, and leases run out from here. Bookmarks come each minute. */
  controlStaleMs: 120_000,

  /** Releases of the sidecar whose running pods still get streams, beside those that may be made; the oldest is forgotten first. */
  guardPastReleasesMax: 16,

  // what is written into sessions
  /** Status writes of one replica. */
  controlWritesPerSecond: 50,
  controlWritesAtOnceMax: 8,
  /** Wait after a write that failed. */
  controlWriteRetryMs: 2_000,
  /** `lastSeenAt` goes with each other write, and alone this often: a thousand sessions cost three writes a second. */
  controlSeenMs: 5 * 60_000,
  /** Without a word in the session for so long its stream is gone: two such writes that did not come, and a minute for the queue. */
  controlUnseenMs: 11 * 60_000,
  /** The same where the replica that held it is gone: its sidecars are with another one within seconds, and say so themselves. */
  controlOrphanedMs: 60_000,
  /** Keys of Secrets and warnings in one session's status; the CRD takes as many. */
  controlCredentialsMax: 256,
  controlWarningsMax: 100,

  // sessions
  /** An ended session is deleted after this time. */
  sessionKeptMs: 24 * 3_600_000,
  /** A session that lacks a revision for so long is said to: a push takes seconds, and 5,000 acknowledgements are written in 100 s. */
  sessionBehindMs: 3 * 60_000,
} as const;
