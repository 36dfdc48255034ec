/**
 * The blocks of a contract that hold an effect back or tell what became of it, as the compiler proved them: approval, evidence, recheck,
 * forEach, idempotency, prepare (contract language, section 2.2).
 */
import type { Path } from '#core/completeness/path.ts';
import type { Rule } from '#core/completeness/rule.ts';
import type { JsonTemplate, JsonValue, Template } from './compiled.ts';

/** Member names from the arguments down: `/project_ids` is `['project_ids']`. Never empty. */
export type ArgumentPath = readonly string[];

/** A read that Postern itself makes for an effect. Its contract names every caller of the effect as its caller too. */
export interface GivenRead {
  /** metadata.name of a contract of the same namespace with effect Read. */
  readonly contract: string;
  /** Argument of that read -> where its value comes from. */
  readonly arguments: readonly (readonly [string, JsonTemplate])[];
}

export interface ApprovalRules {
  readonly mode: 'None' | 'Session' | 'EachCall';
  /** From the asking; default limits.approvalExpiresMs. */
  readonly expiresAfterMs: number;
  /** Calls that one approval of mode Session covers. */
  readonly calls?: number;
  /** Arguments that may differ between the calls of one approval of mode Session; every other is fixed on the card. */
  readonly vary: readonly ArgumentPath[];
  /** The argument shown as the agent's reason. */
  readonly reason?: ArgumentPath;
  readonly because?: string;
}

export interface EvidenceRules {
  /** metadata.name of the read whose answer must be shown. */
  readonly from: string;
  /** The argument whose values must be among (Listed), or not among (Absent), the ids of that answer. */
  readonly ids: ArgumentPath;
  readonly claim: 'Listed' | 'Absent';
  readonly maxAgeMs: number;
  readonly onIncomplete: 'Refuse' | 'RequestReview';
  /** One for every argument of the read, else the agent would choose the question. */
  readonly match: readonly { readonly evidenceArgument: string; readonly given: EvidenceGiven }[];
  readonly proof: 'Checked' | 'Declared';
}

export type EvidenceGiven =
  | { readonly kind: 'argument'; readonly argument: string }
  | { readonly kind: 'constant'; readonly value: JsonValue };

export interface IdempotencyRules {
  /** `Natural`: twice is once. `Key`: the remote keeps `operation.key` for `ttlMs`; the compiler put that slot into the request. */
  readonly mode: 'None' | 'Natural' | 'Key';
  readonly ttlMs?: number;
  readonly settle?: GivenRead & { readonly afterMs: number; readonly done: Rule; readonly notDone?: Rule };
}

export interface EffectRules {
  readonly approval: ApprovalRules;
  readonly evidence?: EvidenceRules;
  readonly recheck?: GivenRead & { readonly expect: Rule };
  /** One request an element, in order. */
  readonly forEach?: { readonly argument: ArgumentPath; readonly onFailure: 'Stop' | 'Continue' };
  readonly idempotency: IdempotencyRules;
  readonly prepare?: GivenRead & { readonly fields: readonly PreparedField[] };
}

export interface PreparedField {
  readonly name: string;
  /** Into the data of the read. */
  readonly path: Path;
  /** What it will be afterwards; shown beside what was read. */
  readonly after?: Template;
}
