/** Limits of the audit: chain, notes, shipping; part of `limits`. */
export const AUDIT_LIMITS = {
  // frames and segments
  /** Records of one frame: one group commit. */
  auditFrameRecordsMax: 1_024,
  /** Body of one frame; a reader holds one in memory (failure case AUD-22). A frame fits one record of the write-ahead log. */
  auditFrameBodyBytesMax: 768 * 1024,
  /** Different statuses of a remote that the record of one call names; further ones are counted together. */
  auditRemoteStatusesMax: 32,
  /** Text of one record as JSON; arguments are at most 64 KiB and an approval's card less. */
  auditRecordBytesMax: 192 * 1024,
  /** A segment is closed once it is longer than this, or this old with a record in it, or this old with statements only. */
  auditSegmentBytes: 4 * 1024 * 1024,
  auditSegmentAgeMs: 5 * 60_000,
  auditIdleSegmentAgeMs: 3_600_000,
  /** A longer file is no segment. */
  auditSegmentFileBytesMax: 16 * 1024 * 1024,
  /** Recipients of one segment. */
  auditRecipientsMax: 16,
  /** A signed note: a checkpoint with its signatures. */
  auditNoteBytesMax: 16 * 1024,
  auditNoteSignaturesMax: 16,
  /** An object of `heads/`: a line of up to 300 bytes for each chain that moved. */
  auditHeadsBytesMax: 8 * 1024 * 1024,
  /** A receipt is for one of so many last checkpoints, which a verifier keeps in memory (32 bytes each). */
  auditReceiptCheckpointsMax: 1_024,
  /** Of one kind of finding a verdict lists so many, and counts the rest. */
  auditFindingsMax: 1_000,
  /** A manifest a reader takes: auditManifestSegmentsMax lines of at most 200 bytes. */
  auditManifestBytesMax: 20 * 1024 * 1024,

  // the writer
  /** Records and bytes that wait for their commit; more are refused. */
  auditQueueRecordsMax: 4_096,
  auditQueueBytesMax: 8 * 1024 * 1024,
  /** A record that nobody waits for goes with the next commit, or by itself after this: what a crash may take of it. */
  auditLingerMs: 20,
  /** Frames that can be sealed without a multiplication on the curve; each holds a key until it is used. */
  auditPreparedSealsMax: 256,
  /** A checkpoint is signed when so many records, or this long, have passed since the last one; when nothing happens, after the idle time. */
  auditCheckpointRecords: 1_000,
  auditCheckpointMs: 30_000,
  auditIdleCheckpointMs: 5 * 60_000,
  /** A key signs no longer than this: an epoch. */
  auditEpochMs: 3_600_000,
  /** Of the audit's volume; past this share of it calls are answered AUDIT_UNAVAILABLE, the rest is for outcomes and ends. */
  auditVolumeBytes: 64 * 1024 * 1024,
  auditVolumeShareMax: 0.8,
  /** Size limit of the volume itself: the kubelet evicts a pod whose volume is past it, so it has room beyond auditVolumeBytes. */
  auditVolumeMiB: 80,
  /** Refusals and requests recorded one by one, a second, and at once; beyond that they are counted, one record a period. */
  auditSingleRecordsPerSecond: 20,
  auditSingleRecordsAtOnce: 100,
  auditCountedMs: 10_000,
  /** Records of what has happened that the disk did not take; tried again so often, and past their number the oldest is counted instead. */
  auditUnwrittenRecordsMax: 1_024,
  auditUnwrittenRetryMs: 1_000,
  /** Operations that a start remembers from the log, to say of those without an outcome that the process ended. */
  auditFoundOperationsMax: 16_384,
  /** Between tries to open a chain that a cluster asks for. */
  auditOpenRetryMs: 5_000,
  /** Going back by more is told by a verifier. */
  auditClockSkewMs: 60_000,

  // shipping
  /** One upload, from its start to the store's answer. */
  auditUploadMs: 60_000,
  /** Between tries, doubled each time, with jitter. */
  auditShipRetryMsMin: 1_000,
  auditShipRetryMsMax: 60_000,
  /** A permit to upload one object. */
  auditPermitMs: 5 * 60_000,
  /** One segment, with all that a sink asks and tries for it. */
  auditShipMs: 200_000,
  /** The list of what was shipped, in the folder of the audit. */
  auditShippedListBytesMax: 4 * 1024 * 1024,
  /** Before a segment that cannot be shipped for its own sake is tried again. */
  auditPoisonRetryMs: 15 * 60_000,
  /** Tries of one request to a store, and the wait before the second, doubled each time; then the caller decides. */
  auditStoreTriesMax: 3,
  auditStoreRetryMs: 200,
  /** One request to a store that carries no segment. */
  auditStoreRequestMs: 30_000,
  auditStoreConnectMs: 10_000,
  /** Credentials from a file are read again after this. */
  auditStoreCredentialsMs: 5 * 60_000,
  auditStoreCredentialsBytesMax: 64 * 1024,
  /** CAs of a store of one's own; a sidecar gets them with the settings of its audit. */
  auditStoreRootsBytesMax: 64 * 1024,
  /** Answer of a store that is no object: a listing of 1,000 names, a refusal. */
  auditStoreAnswerBytesMax: 4 * 1024 * 1024,
  auditStoreAddressCharsMax: 2_048,
  auditStorePrefixCharsMax: 512,
  /** S3 takes 1,024 bytes with the prefix. */
  auditObjectNameCharsMax: 512,
  /** A hundred years, what S3 takes. */
  auditRetentionDaysMax: 36_500,
  /** A chain's folder is looked for so many days back when it is no longer known when the chain began. */
  auditLayoutDaysBackMax: 400,
  /** Segments a manifest lists. */
  auditManifestSegmentsMax: 100_000,
  /** At the end of a process, after its last call: for the last records, the last receipt, the last segments and the manifest together. */
  auditFlushMs: 10_000,
  /** Of it, for the last receipt: a witness that is away must not keep the last segments here. */
  auditLastReceiptMs: 3_000,

  // witnessing
  /** An AgentSession's head is written at most so often. */
  auditHeadWriteMs: 30_000,
  /** One object with the heads of all sessions that moved. */
  auditHeadsObjectMs: 60_000,
  /** Longest wait for the operator to keep an intent, to certify a key, to witness a head. */
  auditAuthorityMs: 10_000,

  // witnessing: the operator's end
  /** Messages about the audit that one sidecar may send: an intent for each effect, and little else. */
  auditMessagesBurst: 400,
  auditMessagesPerSecond: 40,
  /** Intents of one stream kept at once, and waiting for it with their bytes; more end the stream. */
  auditIntentsAtOnceMax: 8,
  auditIntentsWaitingMax: 400,
  auditIntentsWaitingBytesMax: 4 * 1024 * 1024,
  /** One intent, in its frame; what a message of the control stream carries. */
  auditIntentBytesMax: 255 * 1024,
  /** Other messages of one stream that wait for their answer: heads, epochs, uploads. */
  auditQuestionsWaitingMax: 16,
  /** Keys of its last epochs that a stream checks checkpoints with. */
  auditEpochKeysMax: 8,
  /**
   * What one session may put into the store, over all its streams at one replica: a full volume at once, then at a pace far above that of
   * calls. A sidecar that was taken over can fill a bucket no faster.
   */
  auditStoredBytesBurst: 80 * 1024 * 1024,
  auditStoredBytesPerSecond: 512 * 1024,
  auditPermitsBurst: 200,
  auditPermitsPerSecond: 2,
  /** Sessions whose allowances are remembered after their stream; the longest unused is forgotten first. */
  auditAllowancesMax: 10_000,
  /** Objects read back at once to confirm what was stored, over all streams: each is in memory, up to auditSegmentFileBytesMax. */
  auditReadBackAtOnceMax: 4,
  /** Segments of one chain remembered as stored behind one that is missing; of more, the store is asked once that one has come. */
  auditAheadSegmentsMax: 1_024,
  /** Names of a chain's folder looked at to find what was stored while no replica took note. */
  auditListedNamesMax: 200_000,
  /** A store that is safe is probed again after this; one that is not reached after the first wait, doubled up to the longest. */
  auditProbeMs: 3_600_000,
  auditProbeRetryMsMin: 2_000,
  auditProbeRetryMsMax: 60_000,
  /** Names tried for one object of heads, a second apart, where another leader has written at the same time. */
  auditHeadsNamesMax: 10,

  // reading
  /** Of a view: rows kept at once, entries of a list, characters of one text and of one JSON value. */
  auditViewRowsMax: 10_000,
  auditViewListMax: 200,
  auditViewTextCharsMax: 500,
  auditViewJsonCharsMax: 2_048,
  /** Key file with identities of whoever reads. */
  auditIdentityFileBytesMax: 64 * 1024,
  auditIdentitiesMax: 64,
  /** Chains a view looks at: one row is kept for each. */
  auditViewChainsMax: 10_000,
  /** A sidecar's own log that is read at once; its volume is a quarter of this. */
  auditReadLogBytesMax: 256 * 1024 * 1024,
  /** Between two looks at a folder whose chain is followed. */
  auditTailMs: 1_000,
} as const;
