/** Limits of effects: questions to people, the journal, the write-ahead log; part of `limits`. */
export const EFFECT_LIMITS = {
  /** How long a question waits where the contract does not say. */
  approvalExpiresMs: 15 * 60_000,
  /** Other plans on one card. */
  approvalAlternativesMax: 4,
  /** Open questions of one ServiceAccount, in the cluster over all its pods: more train a person to say yes (failure case APR-10). */
  approvalsOpenMax: 10,
  /** After a denial the same call is not asked again for so long. */
  approvalCooldownMs: 10 * 60_000,
  /** A card, in bytes; the CRD says 16384 characters. */
  cardBytesMax: 12 * 1024,
  /** Incomplete or warned reads named on a card. */
  cardReadsMax: 10,
  /** Targets named on a card before they are only counted and digested. */
  cardTargetsMax: 100,
  /** What the journal keeps to make a plan again, as JSON. */
  journalPlanBytesMax: 256 * 1024,
  /** What the journal keeps of an outcome, as JSON; a longer reply is dropped and the entry says so. */
  journalOutcomeBytesMax: 256 * 1024,
  /** Operations in the journal. */
  journalEntriesMax: 10_000,
  /** How long an ended operation can still be asked for. */
  journalKeptMs: 24 * 3_600_000,
  /** Operations and kept values together, in bytes of their records: what a start reads again and the process holds. */
  journalBytesMax: 16 * 1024 * 1024,
  /** Values kept by name, and one of them as JSON. */
  journalNamesMax: 10_000,
  journalValueBytesMax: 256 * 1024,
  /** The log is rewritten with what still counts when it is longer than this, and than so many times what counts. */
  journalCompactBytesMin: 8 * 1024 * 1024,
  journalCompactFactor: 4,

  // the write-ahead log
  /** One record; the journal's longest, a rewritten entry with plan and outcome, fits. */
  walPayloadBytesMax: 1024 * 1024,
  /** Records and bytes that wait for the disk; more are refused (failure case AUD-15). */
  walQueueEntriesMax: 4_096,
  walQueueBytesMax: 8 * 1024 * 1024,
  /** One group commit: a batch is one frame, and a reader holds it in memory. */
  walBatchBytesMax: 1024 * 1024,
  walBatchEntriesMax: 1_024,
  /** Longest wait for the disk before everybody who waits is refused (AUD-15). */
  walAppendMs: 5_000,
  /** The same for rewriting the log with what still counts, which is megabytes instead of one batch. */
  walRewriteMs: 10_000,
  /** After a failure the disk is not asked again before this time: each try writes a whole segment. */
  walRetryMs: 250,
  /** Room reserved for one segment; the next one begins when it is used up, or after this time. */
  walSegmentBytes: 2 * 1024 * 1024,
  walSegmentAgeMs: 24 * 3_600_000,
  /** A longer file is none of ours, and is not read into memory (AUD-22). */
  walSegmentFileBytesMax: 128 * 1024 * 1024,

  // contracts of effects
  /** How long a question may wait: below the least nobody can read it, above the most nobody remembers why it was asked. */
  approvalExpiresMsMin: 60_000,
  approvalExpiresMsMax: 24 * 3_600_000,
  /** Calls of one approval of mode Session, where the contract does not say, and the most it may say. */
  approvalCallsDefault: 20,
  approvalCallsMax: 10_000,
  /** How long a remote keeps an idempotency key: shorter is over before a retry, longer is a promise nobody checks. */
  idempotencyTtlMsMin: 60_000,
  idempotencyTtlMsMax: 31 * 24 * 3_600_000,
  /** How long after a lost reply the read that settles it is first asked, where the contract does not say. */
  settleAfterMsDefault: 0,

  // cards: what their facts may hold, so that whoever decodes hostile facts stays bounded
  /** CardFacts as JSON: the largest arguments, and room for the rest. */
  cardFactsBytesMax: 128 * 1024,
  /** A name on a card: session, pod, image with its digest, approver. */
  cardNameCharsMax: 512,
  /** Own sentences about one evidence. */
  cardLacksMax: 16,
  cardSentenceCharsMax: 500,
  /** Fields of `prepare`, and arguments of a grant that may differ. */
  cardFieldsMax: 16,
  /** Codes of one doubtful read. */
  cardCodesMax: 32,
  // Of decisions at a sidecar's own socket.
  /** Path of a unix socket, in bytes: 107 fit on Linux and 103 on macOS; the system cuts a longer one or refuses it without saying why. */
  approvalSocketPathBytesMax: 103,
  /** What a person gives as a reason; the CRD says the same. */
  approvalReasonCharsMax: 500,
  /** Questions that are over and still answer what became of them, none older than journalKeptMs. */
  approvalsOverKeptMax: 200,

  // approvals in a cluster: the sidecar's end
  /** How long a sidecar waits for the operator's answer to a question, and to an intent; a stream that breaks meanwhile may come back. */
  operatorAnswerMsMax: 10_000,
  /** Questions a sidecar knows the state of; the oldest that are over are forgotten first. */
  questionsKnownMax: 1_000,

  // approvals in a cluster: the operator's end
  /** How far the clock of a sidecar's node may be from that of the API server before its cards are refused (APR-11). */
  approvalSkewMsMax: 60_000,
  /** Messages about effects one sidecar may send: so many at once, then at a pace. Each costs the API server up to three writes. */
  effectMessagesBurst: 400,
  effectMessagesPerSecond: 40,
  /** Of one stream, worked on at once; the others wait in order. */
  effectMessagesAtOnceMax: 8,
  /** Waiting beyond these: answered LIMIT_EXCEEDED. */
  effectMessagesWaitingMax: 400,
  /**
   * Bytes of them: a sidecar that was taken over sends each message as large as it may be, and the operator serves hundreds. Room for all
   * open questions of an account with every choice.
   */
  effectBytesWaitingMax: 4 * 1024 * 1024,
  /** Questions of one account in the API server, those included that are over: however short a life they are given, they are kept a day. */
  approvalsKeptMax: 1_000,
  /** Operations of one account that are under way or of unknown outcome: one that tells no ends fills no etcd. */
  holdsOpenMax: 1_000,
  /** Compiled contracts kept by a replica, for the cards of the next minutes. */
  approvalCompiledMax: 200,
  /** An outcome that could not be written is tried again after this time. */
  settleRetryMs: 2_000,
  /** A question that was made counts as open for so long although the cache does not show it yet. */
  approvalReservedMs: 10_000,
  /** Tries to mark an approval used while somebody else writes it. */
  approvalUseTriesMax: 5,
  /** An approval that is over stays visible for so long. */
  approvalKeptMs: 24 * 3_600_000,
  /** A question about an unknown outcome waits so long for a person; then equal calls are possible again. */
  holdKeptMs: 7 * 24 * 3_600_000,
  /** Told again so long before that. */
  holdWarnMs: 24 * 3_600_000,
  /** A hold younger than this is not shown as under way: nearly all are gone by then. */
  holdSettlesMs: 3_000,
  /** A hold of a stream that is gone becomes a question after this time: the sidecar may come back and tell. */
  holdGraceMs: 120_000,
  /** A hold of a stream that stands, untold after this time, is looked at as if it were gone: no action runs so long. */
  holdUntoldMs: 3_600_000,

  // the outgoing webhook
  /** Approvals whose notice waits; more are dropped and counted. */
  noticesWaitingMax: 1_000,
  noticeTriesMax: 6,
  noticeRetryMsMin: 1_000,
  noticeRetryMsMax: 60_000,
  /** One try, to the end of the answer. */
  noticeMsMax: 10_000,
  /** Read of an answer before the connection is closed. */
  noticeAnswerBytesMax: 16 * 1024,
  /** The sentence in a notice. */
  noticeSentenceCharsMax: 500,

  // calls of effects
  /** Evidence tokens of one call. */
  evidenceTokensMax: 8,
  /** An entity tag that is sent back as If-Match. */
  ifMatchCharsMax: 256,
  /** Operations of unknown outcome that are read after by themselves at one time; the others when somebody asks. */
  settlesMax: 64,
  /** How often one is read after by itself, each wait twice the one before. */
  settleTriesMax: 6,
  /** The least wait before such a read. */
  settleWaitMsMin: 1_000,
} as const;
