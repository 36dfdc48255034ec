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
} as const;
