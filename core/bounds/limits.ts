/**
 * Every limit of Postern with its unit, in one place, sorted by area. A limit that a caller can meet is
 * disclosed in the answer that meets it.
 */
import { AUDIT_LIMITS } from './audit-limits.ts';
import { CLUSTER_LIMITS } from './cluster-limits.ts';
import { CONTROL_LIMITS } from './control-limits.ts';
import { EFFECT_LIMITS } from './effect-limits.ts';
import { SSH_LIMITS } from './ssh-limits.ts';
import { STREAM_LIMITS } from './stream-limits.ts';

export const limits = {
  // arguments and calls
  /** Largest argument text; an agent's question is short, and the whole text is parsed before anything is known of it. */
  argumentsBytesMax: 64 * 1024,
  /** Nesting of argument JSON (failure case JSON-07). */
  argumentsDepthMax: 32,
  /** Calls running at once in one sidecar; more are refused with LIMIT_EXCEEDED rather than queued without bound. */
  callsInFlightMax: 256,
  /** Data of one result; default clients refuse gRPC messages over 4 MiB, and the envelope needs room beside it. */
  resultDataBytesMax: 3 * 1024 * 1024,
  /** Operations remembered in memory for GetOperation and ListOperations. */
  operationsKeptMax: 1000,
  /** Longest wait of one GetOperation. */
  operationWaitMsMax: 60_000,

  // walks
  /** Longest wait for the best-effort request that closes a handle; the answer is ready and the caller waits. */
  closeMsMax: 2_000,
  /** Answer of a closing request; nobody reads it. */
  closeBodyBytesMax: 64 * 1024,

  // contracts
  /** One contract file; a hundred contracts of ten pages each fit, an alias bomb's text does not matter before this. */
  contractFileBytesMax: 1024 * 1024,
  /** Nesting of a contract file: bodies are bounded by argumentsDepthMax, and the language itself needs ten. */
  contractFileDepthMax: 64,
  /** Brackets open at once, and half the widest indentation, before the recursive parser may see the text. */
  contractFileBracketsMax: 400,
  /** Documents of one contract file. */
  contractFileDocumentsMax: 500,
  /** Bindings one contract may list: admission checks the verb `use` on each by a rule of fixed size. */
  contractCredentialsMax: 8,
  /** Elements of a list argument that `forEach` runs over: the card lists all of them. */
  contractTargetsMax: 100,
  /** Pages of one call, where the contract states none, and the most it may state. */
  walkPagesDefault: 10,
  walkPagesMax: 10_000,
  /** Items of one call, where the contract states none, and the most it may state. */
  walkItemsDefault: 1_000,
  walkItemsMax: 1_000_000,
  /** Decoded bytes of one call, where the contract states none, and the most it may state. */
  walkBytesDefault: 8 * 1024 * 1024,
  walkBytesMax: 256 * 1024 * 1024,
  /** Time of one call, where the contract states none, and the most it may state. */
  walkTimeMsDefault: 30_000,
  walkTimeMsMax: 15 * 60_000,
  /** Largest page a contract may ask for. */
  walkPageSizeMax: 100_000,
  /** Sources walked at once, where the contract states none, and the most it may state. */
  walkParallelDefault: 4,
  walkParallelMax: 16,
  /** Evidence outlives an approval by so much, or it expires while a person reads (design section 10). */
  evidenceMarginMsMin: 5 * 60_000,
  /** Days a warning may run before somebody must look at it again. */
  warningDaysMax: 366,
  /** Code points of one text argument. */
  argumentTextCharsMax: 32 * 1024,
  /** UTF-8 bytes of one text argument. */
  argumentTextBytesMax: 48 * 1024,
  /** Elements of one list argument. */
  argumentItemsMax: 1_000,
  /** Values of one enum. */
  argumentEnumMax: 256,
  /** Properties of one object schema. */
  argumentPropertiesMax: 64,
  /** Nesting of an argument schema; a value of such a schema stays far inside of argumentsDepthMax. */
  argumentSchemaDepthMax: 8,
  /** Characters of one schema pattern. */
  patternCharsMax: 512,
  /** States of a pattern times characters of a text it may meet: some tenths of a second of one core at worst (failure case JSON-14). */
  patternStepsMax: 1_000_000,
  /** Milliseconds between two polls of a job, where the contract states none. */
  jobIntervalMsDefault: 1_000,
  /** The shortest a contract may state: polls do not count as pages, so only time would end a busy loop. */
  jobIntervalMsMin: 100,
  /** Shortest and longest wait after a rate limit, where the contract states none. */
  rateLimitFloorMsDefault: 1_000,
  /** The shortest floor a contract may state: a remote that says `Retry-After: 0` for ever must not make a busy loop. */
  rateLimitFloorMsMin: 100,
  rateLimitCeilingMsDefault: 60 * 60_000,

  /** Time running calls get to end when the sidecar is told to stop; with auditFlushMs inside the 30 s a pod has by default. */
  drainMsMax: 18_000,

  // cursors
  /** Sealed cursor text: must fit one Execute request beside its arguments. */
  cursorBytesMax: 96 * 1024,
  /** State of a walk once inflated; a cursor is ours, the cap is against our own bugs. */
  cursorContentBytesMax: 8 * 1024 * 1024,
  /** Life of a cursor where the contract states none. */
  cursorTtlMsDefault: 5 * 60_000,

  // completeness
  /** Characters of one expression: longer ones are programs, and nobody reviews them. */
  ruleCharsMax: 4096,
  /** Comprehensions inside one another; each level multiplies the cost by the size of a list of the remote. */
  ruleNestingMax: 3,
  /** List elements, map entries and blocks of text one evaluation may touch: some tens of milliseconds at worst. */
  ruleCostMax: 200_000,
  /** Expressions and patterns kept for reuse between contracts; a process with more of them compiles the rest again. */
  rulesKeptMax: 2_000,
  /** Ids all walks of a cursor carry together, at most 15 characters each; beyond it, duplicates across calls are not recognized. */
  walkIdsMax: 3_000,
  /** Requests of a walk that are remembered, 8 characters each, over all walks of a cursor: a list that leads in a circle is seen. */
  walkTrailMax: 64,
  /** Cursors of a remote for one request; the longest documented ones are a tenth of it. */
  remoteCursorCharsMax: 16 * 1024,
  /** Clocks of a remote and its index may differ by this; data from further in the future has no known age. */
  clockSkewMsMax: 5 * 60_000,
  /** Sanitized text of a remote inside one warning. */
  warningDetailCharsMax: 256,
  /** Distinct reasons, warnings and omitted fields of one walk, each; a hostile answer cannot fill a cursor with them. */
  walkFindingsMax: 40,

  // encoding
  /** Characters of an RFC 6901 path in an error: long enough for any schema, short enough for a log line. */
  jsonPathCharsMax: 512,
  /** Longest sealed token that is decoded at all, so that a flood of long ones costs nothing. */
  sealedTextCharsMax: 256 * 1024,
  /** Text of one field shown to a person, where the surface sets no smaller cap (APR-08). */
  visibleTextCharsMax: 4096,
  /** Lines shown of one field where a contract allows several; more push the danger off the screen (APR-08). */
  visibleTextLinesMax: 40,

  // http
  /** One attempt to open a connection, name resolution to handshake; the call's own deadline may be shorter. */
  connectMsMax: 10_000,
  /** Connections to one destination with one credential. Fewer than the calls in flight cost throughput (measured: 4 for 16 calls cost 40 %). */
  httpConnectionsMax: 64,
  /** Destinations with open connections; the least recently used is closed beyond it. */
  httpDestinationsMax: 128,
  /** Idle connections are closed before the usual 5 s of servers closes them under us. */
  httpIdleMs: 4_000,
  /** Longest idle time a remote's Keep-Alive header may ask for. */
  httpIdleMsMax: 60_000,
  /** All header bytes of one response. */
  httpHeaderBytesMax: 64 * 1024,
  /** Informational (1xx) responses before a final one (failure case HTTP-17). */
  httpInformationalMax: 16,
  /** Content codings on top of each other; each can multiply bytes by a thousand (failure case HTTP-14). */
  httpContentCodingsMax: 2,

  // answers of remotes
  /** Nesting of a remote's JSON or XML: everything behind the decoder walks it recursively. */
  answerDepthMax: 128,

  // credentials
  /** Shorter secrets cannot be masked: the same bytes appear by chance, or masking destroys data (failure case LEAK-21). */
  secretBytesMin: 8,
  /** Largest value of one key; a JWT or a bundle of roots fits. */
  secretBytesMax: 256 * 1024,
  /** A file is looked at again after this time; a rotation is used within it. */
  credentialCheckMs: 500,
  /** A value that is gone is masked for this long: remotes keep old ones valid for a while (failure case LEAK-23). */
  secretRetiredMs: 24 * 3_600_000,
  /** Old values kept for masking, per binding; beyond it the oldest is forgotten. */
  secretsRetiredMax: 16,
  /** Escapes inside escapes that masking looks through: percent twice inside a JSON escape is three. */
  maskPassesMax: 3,
  /** One request for an OAuth2 token. */
  tokenRequestMsMax: 10_000,
  /** Answer of a token endpoint. */
  tokenBodyBytesMax: 64 * 1024,
  /** Life of a token whose answer states none (RFC 6749 section 5.1 leaves it open). */
  tokenLifeMsDefault: 5 * 60_000,
  /** A token is renewed this long before it ends, or after nine tenths of a short life. */
  tokenMarginMs: 30_000,
  /** GitHub refuses a claim that begins in the future by its clock, or ends more than ten minutes from now: a minute is left on each side. */
  githubClaimBackdatedMs: 60_000,
  githubClaimLifeMs: 9 * 60_000,
  /** Life of an installation token; GitHub gives no longer one. */
  githubTokenLifeMsMax: 3_600_000,
  /** A certificate and a key that do not belong together are a rotation of which one file was seen: the pair before it is used for so long. */
  certificatePairMsMax: 2_000,
  /** Certificates in one file: the leaf and the chain to a root. */
  certificatesMax: 10,

  // contract tests
  /** Copies one `$repeat` of a recording may make; ten pages of the largest page size known. */
  recordedCopiesMax: 10_000,
  /** JSON values one recorded body may expand to; nested `$repeat` would otherwise multiply. */
  recordedValuesMax: 500_000,
  /** Exchanges of one recorded call. */
  recordedExchangesMax: 1_000,
  /** Calls of one test that follow each other by cursor. */
  recordedCallsMax: 50,

  // grpc
  /** Bytes of one request message: arguments, cursor and room; a larger one is refused before it is buffered (GRPC-09). */
  grpcRequestBytesMax: 256 * 1024,
  /** Bytes of one response message; what every default client accepts. limits.resultDataBytesMax leaves room for the envelope. */
  grpcResponseBytesMax: 4 * 1024 * 1024,
  /** Streams one connection may have open at once; the excess is refused by HTTP/2 itself (GRPC-06). */
  grpcStreamsPerConnectionMax: 128,
  /** Connections at once: many would go around the limit of streams. */
  grpcConnectionsMax: 64,
  /** Bytes of request metadata; nothing in it is read (GRPC-15). */
  grpcMetadataBytesMax: 16 * 1024,
  /** A request must be whole within this time, else its stream is closed: a slow sender would hold a slot. */
  grpcRequestMsMax: 10_000,
  /** A reader that takes longer for an answer that is ready is cut off: the answer is held in memory. */
  grpcResponseMsMax: 30_000,
  /** Answers held in memory because nobody reads them, over all calls: 256 of the largest would end the process. */
  grpcUnreadBytesMax: 96 * 1024 * 1024,
  /**
   * Calls that one connection may leave before their answer is whole, so many at once and then at a pace; beyond it the connection is
   * closed (GRPC-07). Leaving an answered call is no sign of an attack, and HTTP/2 counts both alike: its own allowance is the other pair,
   * above what any connection can call.
   */
  grpcResetsBurst: 1_000,
  grpcResetsPerSecond: 33,
  grpcResetFramesBurst: 20_000,
  grpcResetFramesPerSecond: 10_000,
  /** Questions of one reflection stream; a client needs a handful. */
  grpcReflectionQuestionsMax: 200,
  /** Longest deadline taken from `grpc-timeout`; larger and unreadable ones become this (GRPC-10). */
  grpcDeadlineMsMax: 3_600_000,
  /** Kept of the caller's deadline for the answer itself, so that a call cut by time can still say so. */
  answerMarginMsMax: 500,
  /** A peer that does not answer a ping within grpcKeepaliveTimeoutMs is gone (GRPC-14). */
  grpcKeepaliveMs: 60_000,
  grpcKeepaliveTimeoutMs: 10_000,
  /** A connection without any call is closed after this time. */
  grpcIdleMsMax: 300_000,
  /** A TLS handshake that takes longer is given up. */
  grpcHandshakeMsMax: 10_000,
  /** When a server stops, connections without a call may stay so long after they were told to go. */
  grpcIdleCloseMsMax: 1_000,
  /** Bytes of grpc-status-details-bin: with base64 and the other trailers below the 8 KiB of common clients. */
  errorDetailsBytesMax: 5_000,
  /** Characters of an error's own sentence. */
  errorMessageCharsMax: 1_000,
  /** Argument violations named in one error. */
  errorFieldsMax: 16,

  // log, probes and metrics
  /** Log lines waiting for a reader; beyond it lines are dropped rather than memory taken. */
  logBufferBytesMax: 1024 * 1024,
  /** Lines gathered for one write: a write costs a call more than its line does. */
  logGatherBytesMax: 8 * 1024,
  /** How long a line may wait for others: short for a person who watches, long for a machine that works. */
  logGatherMsMax: 20,
  /** Stack frames of one fault in the log. */
  logFramesMax: 20,
  /** Body of a probe request; none has one. */
  probeRequestBytesMax: 1024,
  /** A probe's connection that is slower than this is closed. */
  probeRequestMsMax: 10_000,
  /** Connections to the probe port at once. */
  probeConnectionsMax: 32,
  /** A warning that was not raised for so long no longer stands in the metrics. */
  warningActiveMs: 24 * 3_600_000,

  // Kubernetes API
  /** Objects of one page of a list; halved when a page would be larger than kubeAnswerBytesMax. */
  kubePageSize: 500,
  /** One answer: 500 pods of 64 KiB; a page is held whole while its objects are made into records. */
  kubeAnswerBytesMax: 32 * 1024 * 1024,
  /** One line of a watch: an object is at most 1.5 MiB in etcd, and an update may be written less compactly. */
  kubeWatchLineBytesMax: 8 * 1024 * 1024,
  /** Answer of a request that failed. */
  kubeErrorBytesMax: 64 * 1024,
  /** Characters of the API server's own words in an error. */
  kubeMessageCharsMax: 512,
  /** One request with all its tries. */
  kubeRequestMsMax: 30_000,
  /** One try, to the end of its answer; a page of a list has kubeListMsMax. */
  kubeTryMsMax: 10_000,
  kubeListMsMax: 30_000,
  /** Idle time after which the kernel asks whether the other end is there: below the 60 s of common load balancers. */
  kubeKeepAliveMs: 15_000,
  /** Opening one connection to the API server. */
  kubeConnectMsMax: 10_000,
  /** Tries of one request that may be sent again. */
  kubeTriesMax: 4,
  /** First and longest wait between two tries; each is cut by chance to between half and all of it. */
  kubeBackoffMsMin: 250,
  kubeBackoffMsMax: 30_000,
  /** A longer Retry-After is cut to this. */
  kubeRetryAfterMsMax: 60_000,
  /** Connections to the API server: watches hold one each, requests share the rest. */
  kubeConnectionsMax: 32,
  /** A watch is asked for this long, less up to a fifth; with the grace it bounds how long a dead connection goes unnoticed (failure case OPR-04). */
  kubeWatchSeconds: 30,
  /** After its time a watch is dead when nothing came for this long. */
  kubeWatchGraceMs: 10_000,
  /** A watch that ends in order before this time is followed by a wait. */
  kubeWatchMsMin: 1_000,
  /** Watches from one version that end early without a word before a list is made. */
  kubeFruitlessWatchesMax: 5,
  /** A cache of which nothing was heard for so long is called stale: two watches and their grace. */
  kubeStaleMs: 75_000,
  /** A list although nothing asks for it, give or take a quarter: heals what a watch never told (failure case OPR-13). */
  kubeRelistMs: 30 * 60_000,
  /** Longest wait of an informer between two tries; short, because each one that returns asks for one watch only. */
  kubeInformerBackoffMsMax: 10_000,
  /** Objects one controller looks at at once. */
  reconcileConcurrency: 4,
  /** Keys one queue holds; more are dropped and added again once half of them are done. */
  queueKeysMax: 100_000,
  /** First and longest wait of an object that fails. */
  queueBackoffMsMin: 200,
  queueBackoffMsMax: 60_000,
  /** Failures in a row after which an object is set apart (failure case OPR-11). */
  queuePoisonFailures: 6,
  /** Longest wait of an object set apart, and the shortest after it changed. */
  queuePoisonMsMax: 10 * 60_000,
  queuePoisonMsMin: 5_000,
  /** Others take over a Lease so long after the last renewal they saw. */
  leaderLeaseMs: 15_000,
  /** A leader gives up so long after it sent the last renewal that succeeded; the difference is for requests under way (failure case OPR-16). */
  leaderRenewMsMax: 10_000,
  /** Between two renewals, or two looks at somebody else's Lease. */
  leaderRetryMs: 2_000,
  /** Tries of one status write that others come before. */
  statusTriesMax: 4,
  /** Characters of a condition's message; Kubernetes allows 32768, nobody reads them. */
  conditionMessageCharsMax: 1_024,
  /** Characters of an Event's note: the most Kubernetes takes. */
  eventNoteCharsMax: 1_024,
  /** Events of one object at once, and the time after which it may have one more. */
  eventBurst: 10,
  eventRefillMs: 5 * 60_000,
  /** An Event that comes again within this time is counted in the first one instead, at most once each eventSeriesMs. */
  eventRepeatMs: 10 * 60_000,
  eventSeriesMs: 60_000,
  /** Objects whose Events are remembered for that; beyond it the oldest is forgotten. */
  eventObjectsMax: 4_096,
  /** Events being written at once; more are dropped and counted. */
  eventsInFlightMax: 16,
  /** A token file is looked at again after this time (failure case OPR-15). */
  kubeTokenCheckMs: 10_000,

  // control stream
  /** Streams of one replica: twice what is planned for a cluster, so that one replica can carry all of them while others start. */
  controlStreamsMax: 5_000,
  /** Connections of one replica: one a stream, and room for those that are being refused. */
  controlConnectionsMax: 6_000,
  /** One message of a sidecar; a report over 500 contracts is a tenth of it. */
  controlMessageBytesMax: 256 * 1024,
  /** One bundle. Every sidecar of an account holds it, and so does a replica for each account. */
  controlBundleBytesMax: 4 * 1024 * 1024,
  /** A sidecar that does not answer a ping within controlKeepaliveTimeoutMs is gone: its node may have vanished without a word. */
  controlKeepaliveMs: 20_000,
  controlKeepaliveTimeoutMs: 10_000,

  // rotation
  /** Pods of one Secret touched at once when a new value is announced. */
  rotationTouchesMax: 8,

  // injection
  /** Volume of the sidecar's own keys and last bundle: a bundle of controlBundleBytesMax, twice while it is replaced, and room. */
  sidecarStateMiB: 32,
  /** Life of the sidecar's token; the kubelet renews it at four fifths. The shortest that the API server gives is 600. */
  sidecarTokenSeconds: 3_600,
  /** A contract that is new to a replica may be undecided for so long before its callers' pods start without it. */
  contractDecisionMsMax: 10_000,
  /** Secrets in one sidecar: every pod of the account carries the list. */
  sidecarSecretsMax: 100,

  // webhooks
  /** One AdmissionReview: an object and the one before it, 1.5 MiB each in etcd and wider as JSON. */
  admissionBodyBytesMax: 8 * 1024 * 1024,
  /** An answer is given by then, whatever it waits for (failure case INJ-27: 2 s). */
  admissionMsMax: 1_500,
  /** A request must be whole by then. */
  admissionRequestMsMax: 5_000,
  /** Connections of API servers; each opens as many as it has creates under way. Beyond it, who holds the most loses one. */
  admissionConnectionsMax: 1_024,
  /** An unused connection is kept longer than API servers keep theirs (90 s): else they may send into one that closes. */
  admissionIdleMs: 120_000,
  /** Running answers may end in this time when the replica stops. */
  admissionDrainMsMax: 5_000,
  /** Characters of a refusal. */
  admissionMessageCharsMax: 4_000,

  // certificates
  /** Life of the operator's CA. */
  authorityDays: 3_650,
  /** Life of a leaf; renewed at half of it, less a random tenth, so that replicas do not renew together. */
  leafMs: 24 * 3_600_000,
  /** A certificate begins this long before it is made: clocks of nodes differ. */
  certificateBackdateMs: 3_600_000,
  /** The mounted CA is looked at again after this time. */
  authorityCheckMs: 2_000,
  /** One file of the CA; a certificate has under a kilobyte. */
  authorityFileBytesMax: 16 * 1024,
  /** Least time between two steps of a CA rotation: the kubelet may need two minutes to hand a Secret to every replica. */
  authoritySettleMs: 5 * 60_000,
  /** Least time that the previous CA is served: sidecars that pin it cannot come back afterwards. */
  authorityPreviousMs: 24 * 3_600_000,
  /** The webhook configurations are looked at again after this time: a blanked CA stands for less than 5 s (failure case INJ-06). */
  caBundleCheckMs: 3_000,
  /** Values that another writer puts in the place of our CA within authorityContestMs before we stop answering each. */
  authorityContestsMax: 3,
  authorityContestMs: 10 * 60_000,
  /** First and longest wait before our CA is written again over another writer's. */
  authorityBackoffMsMin: 60_000,
  authorityBackoffMsMax: 30 * 60_000,

  ...CLUSTER_LIMITS,
  ...CONTROL_LIMITS,
  ...EFFECT_LIMITS,
  ...SSH_LIMITS,
  ...AUDIT_LIMITS,
  ...STREAM_LIMITS,
} as const;
