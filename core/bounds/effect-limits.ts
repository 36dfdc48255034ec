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
} as const;
