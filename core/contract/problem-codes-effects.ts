/**
 * Problems of effects: approval, evidence, recheck, forEach, idempotency, and the reads of other contracts behind them.
 */

export const EFFECT_CODES = {
  'effect-block': { severity: 'error', what: 'A block that belongs to another effect.', cure: 'Drop the block.' },
  'effect-approval': {
    severity: 'error',
    what: 'Write or Destructive without idempotency needs approval EachCall or a written because.',
    cure: 'Set approval.mode: EachCall, or write approval.because.',
  },
  'effect-session': {
    severity: 'error',
    what: 'Approval per session is for Read and idempotent Write only.',
    cure: 'Set approval.mode: EachCall.',
  },
  'effect-because': { severity: 'error', what: 'A switch that needs a written reason has none.', cure: 'Add because.' },
  'idempotency-key': {
    severity: 'error',
    what: 'idempotency Key says not, or more than once, where the key is sent.',
    cure: 'Write one of header, body, form, and a ttl.',
  },
  'reference-effect': { severity: 'error', what: 'A read that is named here is not a Read.', cure: 'Name a contract with effect: Read.' },
  'reference-arguments': {
    severity: 'error',
    what: 'The arguments given to another contract are not those it takes.',
    cure: 'Give every required argument and no other.',
  },
  'evidence-match': {
    severity: 'error',
    what: 'evidence.match does not give every argument of the read.',
    cure: 'Add an entry for each argument of the read.',
  },
  'evidence-age': {
    severity: 'warning',
    what: 'maxAge does not exceed the life of an approval by five minutes, so evidence may expire while a person reads.',
    cure: 'Raise maxAge or lower approval.expiresAfter.',
  },
  'evidence-absence': {
    severity: 'error',
    what: 'claim: Absent needs a read with absence: Provable.',
    cure: "Change the claim, or the read's scope.",
  },
  'evidence-ids': {
    severity: 'error',
    what: 'What evidence.ids names cannot be looked up among the ids the read lists: it is no identifier, or the read names its items otherwise.',
    cure: 'Name an argument that is one identifier or a list of them, and a read with one id path and no sources.',
  },
  'idempotency-ttl': {
    severity: 'error',
    what: 'How long the remote keeps the key is not stated, or not believable.',
    cure: 'Write the time the remote documents, such as 24h.',
  },
  'approval-expiry': {
    severity: 'error',
    what: 'A question waits for a person at least a minute and at most a day.',
    cure: 'Write a time such as 15m.',
  },
  'approval-reason': { severity: 'error', what: 'The reason is an argument that is no text.', cure: 'Name a text argument.' },
  'approval-range': {
    severity: 'error',
    what: 'calls and vary say how far one yes reaches, and only approval per session reaches further than its call.',
    cure: 'Set approval.mode: Session, or drop them.',
  },
  'approval-vary': {
    severity: 'error',
    what: 'An argument that may vary under one approval decides where the call goes or what it is proven by, so one yes would cover targets nobody saw.',
    cure: 'Take it out of approval.vary, or set approval.mode: EachCall.',
  },
  'reference-approval': {
    severity: 'error',
    what: 'A read that Postern makes by itself, before an effect or after it, would wait for a person.',
    cure: 'Name a read without approval.',
  },
  'reference-caller': {
    severity: 'warning',
    what: 'A caller of this action is no caller of the read behind it, so the action is not ready.',
    cure: 'List the caller in the read too.',
  },
} as const;
