/** Questions, plans and intents of one contract, as the calls make them. */
import { renderCard } from '#core/approval/card.ts';
import type { CardFacts } from '#core/approval/card-facts.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { Alternative, Intent, Question } from '#sidecar/approval/decider.ts';
import type { OperationRecord } from '#sidecar/journal/entry.ts';
import { newOperationId } from '#sidecar/journal/operation-id.ts';
import { exampleContract, factsOf } from '#test/core/approval/example-cards.ts';

export const contract = exampleContract('refund-payment');

export const ARGS = {
  payment: 'pi_3PqLxY2eZvKYlo2C1x',
  amount: 1999,
  currency: 'eur',
  cause: 'duplicate',
  reason: 'The customer was charged twice.',
} as const;

export function questionOf(clock: Clock, more: Partial<CardFacts> = {}, alternatives: readonly Alternative[] = []): Question {
  const facts = callFacts(clock, more);
  const { text, digest } = renderCard(contract, facts);
  return { name: nameOf(facts.operationId), operationId: facts.operationId, facts, card: text, cardDigest: digest, alternatives };
}

export function alternativeOf(clock: Clock, of: string, args: Readonly<Record<string, JsonValue>>): Alternative {
  const facts = callFacts(clock, { args, argsDigest: digestOf('arguments', args), alternative: { name: 'listed-only', of } });
  const { text, digest } = renderCard(contract, facts);
  return { name: 'listed-only', operationId: facts.operationId, facts, card: text, cardDigest: digest };
}

export function recordOf(
  { operationId, facts, card }: Pick<Question, 'operationId' | 'facts' | 'card'>,
  more: Partial<OperationRecord> = {},
): OperationRecord {
  return {
    operationId,
    requestId: 'req_aaaaaaaaaaaaaaaaaaaaaaaaaa',
    action: facts.action,
    contract: facts.contract,
    revision: facts.revision,
    argsDigest: facts.argsDigest,
    planDigest: facts.planDigest,
    effect: 'Write',
    idempotency: 'None',
    plannedAtMs: facts.askedAtMs,
    expiresAtMs: facts.expiresAtMs,
    plan: { card },
    ...more,
  };
}

export function intentOf({ operationId, facts }: Pick<Question, 'operationId' | 'facts'>, approval?: string): Intent {
  const { contract: name, action, revision, argsDigest, planDigest } = facts;
  return {
    operationId,
    contract: name,
    action,
    revision,
    argsDigest,
    planDigest,
    facts,
    holds: true,
    inDoubt: false,
    ...(approval === undefined ? {} : { approval }),
  };
}

function callFacts(clock: Clock, more: Partial<CardFacts>): CardFacts {
  const operationId = newOperationId();
  const args = more.args ?? ARGS;
  return factsOf(contract, args, {
    operationId,
    revision: contract.revision,
    planDigest: digestOf('plan', { operationId, args }),
    requester: { kind: 'alone' },
    askedAtMs: clock.wallMs(),
    expiresAtMs: clock.wallMs() + limits.approvalExpiresMs,
    ...more,
  });
}

function nameOf(operationId: string): string {
  return operationId.replace('_', '-');
}
