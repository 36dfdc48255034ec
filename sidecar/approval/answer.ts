/** What a person answers, and whether it can be taken for an answer to the question as it stands. */
import { PosternError } from '#core/error/postern-error.ts';
import type { Decision, Question } from './decider.ts';

/** `cardDigest`: of the card that was seen. */
export type Answer =
  | {
      readonly verdict: 'approved';
      readonly approver: string;
      readonly cardDigest: string;
      readonly alternative?: string;
      readonly reason: string;
    }
  | { readonly verdict: 'denied'; readonly approver: string; readonly cardDigest: string; readonly reason: string };

/** Throws INVALID_ARGUMENT for an answer about another card than the one that was asked. */
export function checkCard({ cardDigest, alternatives }: Question, answer: Answer): void {
  const chosen = answer.verdict === 'approved' ? answer.alternative : undefined;
  const alternative = alternatives.find(({ name }) => name === chosen);
  if (chosen !== undefined && alternative === undefined) {
    const names = alternatives.map(({ name }) => name).join(', ');
    throw wrong(
      '/alternative',
      'unknown',
      `No alternative of this name stands on the card; there ${names === '' ? 'are none' : `are ${names}`}.`,
    );
  }
  if (answer.cardDigest !== (alternative?.cardDigest ?? cardDigest))
    throw wrong('/card_digest', 'mismatch', 'This is not the digest of the card that is decided on; show the question again and read it.');
}

/** A decision is made once; who says the same again learns whose it is. Throws IDEMPOTENCY_CONFLICT. */
export function sameDecision(stands: Decision, answer: Answer): Decision {
  const same =
    stands.verdict === 'denied' || answer.verdict === 'denied'
      ? stands.verdict === answer.verdict
      : stands.cardDigest === answer.cardDigest && stands.alternative === answer.alternative;
  if (same) return stands;
  throw new PosternError('IDEMPOTENCY_CONFLICT', `This question is ${stands.verdict} already; a decision is made once.`, {
    details: { verdict: stands.verdict },
  });
}

export function noSuchQuestion(): PosternError {
  return wrong('/name', 'unknown', 'No question of this name is here; "postern approvals" lists those that wait.');
}

function wrong(path: string, rule: string, message: string): PosternError {
  return new PosternError('INVALID_ARGUMENT', message, { fields: [{ path, rule, message }] });
}
