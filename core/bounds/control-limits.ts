/** Limits of the sidecar's end of the control stream; part of `limits`. */
export const CONTROL_LIMITS = {
  /** From looking up the operator's name to its welcome. */
  controlConnectMsMax: 10_000,
  /** Heartbeats an operator may ask for. The longest still finds a dead stream within 45 s (failure case OPR-04). */
  controlHeartbeatMsMin: 100,
  controlHeartbeatMsMax: 18_000,
  /** Heartbeats without a word after which a stream is dead: two missed ones, and half a one for the way. */
  controlHeartbeatsMissedMax: 2.5,
  /** First and longest wait before connecting again; each is cut by chance to between nothing and all of it, plus the least. */
  controlRetryMsMin: 250,
  controlRetryMsMax: 30_000,
  /** The least of it: a whole cluster that lost its operator must not ask in a busy loop. */
  controlRetryMsLeast: 50,
  /** A stream that stood so long was a good one: the wait after it is short again. */
  controlStableMs: 60_000,
  /** Longest lease that is taken (design section 2.13). */
  controlLeaseMsMax: 24 * 3_600_000,
  /** Share of the lease after which what is kept on disk is written again, so that a restart finds most of it. */
  controlLeaseKeptShare: 0.1,
  /** One token; the kubelet's have a kilobyte. */
  controlTokenBytesMax: 16 * 1024,
  /** Certificates of one chain that are looked at. */
  controlChainMax: 8,
  /** Credential files are compared with what was last reported this often. */
  credentialReportMs: 1_000,
  /** Warnings are reported at most this often, and where only their last sight is newer at most every warningRefreshMs. */
  warningReportMs: 60_000,
  warningRefreshMs: 10 * 60_000,
  /** /startupz waits so long for a first bundle, then lets the pod start without: an operator that is away must not hold pods. */
  startupMsMax: 15_000,
  /** What stands around the objects of a bundle in one message: session, lease, names of fields. */
  controlBundleFrameBytesMax: 64 * 1024,
  /** The file with the last bundle: the largest bundle in base64, and the rest. */
  keptBundleBytesMax: 8 * 1024 * 1024,
  /** Answers about effects, or about the audit, that one stream has not read yet; whoever asks on without reading loses the stream. */
  controlAnswersUnreadMax: 1_024,
  /** Characters of a person's reason that an error repeats. */
  becauseCharsMax: 256,
} as const;
