/** Whether the evidence of a call is enough for it, before anything else is done (promise P7). */
import type { EvidenceFacts } from '#core/approval/card-facts.ts';
import { type EvidenceVerdict, matchEvidence } from '#core/completeness/evidence-match.ts';
import { digestOfBytes } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { ReadMeans } from './answer-read.ts';
import type { Bundle } from './bundle.ts';
import type { Plan } from './plan.ts';

export interface JudgedEvidence {
  /** For the card. */
  readonly facts: EvidenceFacts;
  /** Of the tokens it rests on; part of the plan. */
  readonly digests: readonly string[];
  /** It is not enough by itself, and a person may decide over what it lacks. */
  readonly review: boolean;
  /** Wall clock. */
  readonly untilMs: number;
  readonly verdict: Exclude<EvidenceVerdict, { kind: 'refused' }>;
}

/** Undefined where the contract asks for none. Throws EVIDENCE_REQUIRED, EVIDENCE_INCOMPLETE, EVIDENCE_EXPIRED. */
export function judgeEvidence(
  plan: Plan,
  input: { readonly bundle: Bundle; readonly evidence: readonly string[] },
  means: Pick<ReadMeans, 'evidence' | 'clock'>,
): JudgedEvidence | undefined {
  const { contract } = plan.served;
  const rules = contract.effects.evidence;
  if (rules === undefined) return undefined;
  const opened = input.evidence.map((token) => ({ token, claim: means.evidence.open(token) }));
  const claims = opened.flatMap(({ claim }) => (claim === undefined ? [] : [claim]));
  const verdict = matchEvidence({
    contract,
    rules,
    args: plan.args,
    claims,
    readRevision: input.bundle.byContract(rules.from)?.contract.revision,
    nowMs: means.clock.wallMs(),
  });
  if (verdict.kind === 'refused') throw refused(verdict, contract.action, opened.length > claims.length);
  const { claim } = verdict;
  return {
    facts: {
      action: rules.from.replaceAll('-', '_'),
      items: claim.items,
      complete: claim.complete,
      lacks: verdict.kind === 'review' ? verdict.lacks.map(({ message }) => message) : [],
      proof: claim.proof,
      atMs: claim.atMs,
    },
    digests: opened.filter((each) => each.claim === claim).map(({ token }) => digestOfBytes('evidence', token)),
    review: verdict.kind === 'review',
    untilMs: claim.atMs + rules.maxAgeMs,
    verdict,
  };
}

function refused({ code, lacks }: EvidenceVerdict & { kind: 'refused' }, action: string, unopened: boolean): PosternError {
  const foreign = unopened ? ' A token that was given is none of this session: give it back exactly as it came.' : '';
  return new PosternError(code, `${lacks.map(({ message }) => message).join(' ')}${foreign}`, { details: { action } });
}
