/**
 * What an evidence token says, or why there is none. Only complete and fresh answers give evidence, and it binds
 * the question as well as the answer: session (by the seal), revision, arguments, scope, snapshot, ids and time.
 *
 * Where a contract lets a person decide over an answer that is not all of it (`onIncomplete: RequestReview`), such an answer gives a
 * claim of its own: what was read, and what is missing. It can be shown and never be taken for evidence: `complete` says which it is.
 */
import type { CompiledContract, JsonValue, Revision } from '#core/contract/compiled.ts';
import type { IncompleteCode } from '#core/error/reasons.ts';
import { forbidsEvidence } from './decide.ts';
import type { Envelope, Scope } from './envelope.ts';
import { keptIds } from './identity.ts';
import { isObject } from './path.ts';
import type { SourceWalk } from './source-walk.ts';

interface Answered {
  readonly version: 1;
  readonly contract: string;
  readonly namespace: string;
  readonly revision: Revision;
  readonly argsDigest: string;
  /** Canonical, so that a mutation's arguments can be matched one by one. */
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly scope: Scope;
  readonly sources: readonly string[];
  /** The ids listed, joined; see identity.ts for how one is made and looked up. */
  readonly ids: string;
  readonly items: number;
  /** When the first page came, or the handle was opened: the age of the oldest row, however long the walk took. */
  readonly atMs: number;
}

export interface EvidenceClaim extends Answered {
  readonly complete: true;
  /** `Checked`: the pages were seen to belong together. `Declared`: their owner says so. */
  readonly proof: 'Checked' | 'Declared';
}

/** Never evidence. */
export interface ReviewClaim extends Answered {
  readonly complete: false;
  readonly proof: 'Checked' | 'Declared' | 'Unproven';
  /** Why the answer is not all, each once; empty where only a warning forbids it. Messages are our own. */
  readonly reasons: readonly { readonly code: IncompleteCode; readonly message: string }[];
  /** Codes of the warnings that forbid evidence. */
  readonly warnings: readonly string[];
  /** Of the call that answered. */
  readonly spentMs: number;
  /** What the remote says there is at least, or about; absent where it says nothing. */
  readonly total?: number;
}

export type EvidenceResult =
  | { readonly kind: 'evidence'; readonly claim: EvidenceClaim }
  | { readonly kind: 'review'; readonly claim: ReviewClaim }
  | { readonly kind: 'none'; readonly because: string };

export interface EvidenceInput {
  readonly contract: CompiledContract;
  readonly walks: readonly SourceWalk[];
  readonly envelope: Envelope;
  readonly argsDigest: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly nowMs: number;
  /** Whether some contract lets a person decide over an incomplete answer of this read; see isReviewed. */
  readonly reviewed?: boolean;
}

export function evidenceFor(input: EvidenceInput): EvidenceResult {
  const { contract, walks, envelope, nowMs } = input;
  const { completeness, warnings } = envelope;
  if (contract.result.id.length === 0) return none('the contract names no id for its items');
  if (contract.result.aggregate !== undefined) return none('an aggregate lists no items');
  if (walks.some(({ idsDropped }) => idsDropped)) return none('the walk is longer than its ids can be carried');
  const forbidding = warnings.filter((warning) => forbidsEvidence(warning, nowMs));
  const { consistency } = completeness.scope;
  if (completeness.complete && forbidding.length === 0 && consistency !== 'unproven') {
    return {
      kind: 'evidence',
      claim: { ...answeredBy(input), complete: true, proof: consistency === 'declared' ? 'Declared' : 'Checked' },
    };
  }
  if (input.reviewed === true) {
    return { kind: 'review', claim: reviewOf(envelope, answeredBy(input), [...new Set(forbidding.map(({ code }) => code))]) };
  }
  if (!completeness.complete) return none('the answer is not complete');
  if (forbidding.length > 0) return none('a warning forbids it: stale data, or one past its expiry');
  return none('the pages are not proven to belong together');
}

/** Whether an incomplete answer of this read is worth a claim: some contract would let a person decide over it. */
export function isReviewed(read: CompiledContract, contracts: Iterable<CompiledContract>): boolean {
  for (const { namespace, effects } of contracts) {
    const { evidence } = effects;
    if (evidence?.from === read.name && namespace === read.namespace && evidence.onIncomplete === 'RequestReview') return true;
  }
  return false;
}

/** A claim out of an opened token. The seal proves that we wrote it; undefined for one of another version of Postern. */
export function readClaim(value: JsonValue): EvidenceClaim | ReviewClaim | undefined {
  const isOurs = isObject(value) && value.version === 1 && (value.complete === true || value.complete === false);
  return isOurs ? (value as unknown as EvidenceClaim | ReviewClaim) : undefined;
}

function answeredBy({ contract, walks, envelope, argsDigest, args, nowMs }: EvidenceInput): Answered {
  const { scope, page } = envelope.completeness;
  return {
    version: 1,
    contract: contract.name,
    namespace: contract.namespace,
    revision: contract.revision,
    argsDigest,
    args,
    scope,
    sources: walks.map(({ source }) => source),
    ids: walks.map(({ ids }) => keptIds(ids)).join(''),
    items: page.walk.returned,
    atMs: Math.min(nowMs, ...walks.map(({ sinceMs }) => sinceMs ?? nowMs)),
  };
}

/** Reasons beyond this many are more than a card shows. */
const REASONS_MAX = 8;

function reviewOf({ completeness }: Envelope, answered: Answered, warnings: readonly string[]): ReviewClaim {
  const { scope, page, budget, incomplete_reasons: reasons } = completeness;
  const said = new Map(reasons.map(({ code, message }) => [`${code} ${message}`, { code, message }]));
  const total = Math.max(page.at_least ?? 0, page.about ?? 0);
  const proofs = { declared: 'Declared', unproven: 'Unproven', checked: 'Checked', single_page: 'Checked' } as const;
  return {
    ...answered,
    complete: false,
    proof: proofs[scope.consistency],
    reasons: [...said.values()].slice(0, REASONS_MAX),
    warnings,
    spentMs: budget.spent_ms,
    ...(total > 0 ? { total } : {}),
  };
}

function none(because: string): EvidenceResult {
  return { kind: 'none', because };
}
