/** An operation of the journal, and a plan, as callers see them. */
import type { QuestionState } from '#sidecar/approval/decider.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { ApprovalView, OperationView, PlanView } from './calls.ts';
import { shownPlan } from './kept-plan.ts';
import { journalSteps, type Outcome } from './outcome.ts';
import { targetsOf } from './plan.ts';

export function planView(entry: Entry, question: QuestionState | undefined): PlanView {
  const { card, cardDigest, alternatives, summary } = shownPlan(entry);
  const { operationId, planDigest, expiresAtMs } = entry.record;
  return {
    planId: operationId,
    card,
    cardDigest,
    expiresAtMs,
    approval: approvalView(entry, question),
    planDigest,
    alternatives: alternatives.map(({ operationId: planId, ...choice }) => ({ planId, ...choice })),
    summary,
  };
}

export interface ViewFacts {
  readonly outcome: Outcome | undefined;
  readonly question: QuestionState | undefined;
  /** With the card and the recorded result, which are long. */
  readonly whole: boolean;
}

export function operationView(entry: Entry, { outcome, question, whole }: ViewFacts): OperationView {
  const { record, endedAtMs } = entry;
  const { facts, each, card, cardDigest } = shownPlan(entry);
  const begun = entry.steps.length > 0 || outcome !== undefined;
  return {
    operationId: record.operationId,
    requestId: record.requestId,
    action: record.action,
    effect: record.effect,
    state: outcome?.phase ?? entry.phase,
    startedAtMs: record.plannedAtMs,
    approval: approvalView(entry, question),
    expiresAtMs: record.expiresAtMs,
    ...(endedAtMs === undefined ? {} : { finishedAtMs: endedAtMs }),
    ...(begun ? { steps: outcome?.steps ?? journalSteps(entry, targetsOf(facts.args, each)) } : {}),
    ...(whole ? { card: { text: card, digest: cardDigest } } : {}),
    ...endOf(outcome, whole),
    ...resolutionOf(entry),
  };
}

function endOf(outcome: Outcome | undefined, whole: boolean): Partial<OperationView> {
  if (outcome === undefined) return {};
  if (outcome.phase !== 'done') return { error: { reason: outcome.error.reason, message: outcome.error.message } };
  const { completeness } = outcome.result.envelope;
  return { complete: completeness.complete, returned: completeness.page.returned, ...(whole ? { result: outcome.result } : {}) };
}

function resolutionOf({ resolution }: Entry): Partial<OperationView> {
  if (resolution === undefined) return {};
  const { verdict, by, atMs } = resolution;
  return { resolution: { verdict, by: by === 'settle' ? 'settle' : 'person', atMs } };
}

function approvalView(entry: Entry, question: QuestionState | undefined): ApprovalView {
  const { needs, alternatives, cardDigest } = shownPlan(entry);
  if (needs.kind === 'nobody') return { state: 'notNeeded' };
  const asked = { name: needs.question, expiresAtMs: entry.record.expiresAtMs };
  if (entry.approval !== undefined) return { state: 'used', ...asked };
  switch (question?.kind) {
    case undefined:
    case 'waiting':
      return { state: 'waiting', ...asked };
    case 'expired':
    case 'void':
      return { state: question.kind, ...asked };
    case 'decided': {
      const { decision } = question;
      if (decision.verdict === 'denied') return { state: 'denied', ...asked };
      const chosen = decision.cardDigest === cardDigest ? undefined : alternatives.find(({ name }) => name === decision.alternative);
      return chosen === undefined ? { state: 'approved', ...asked } : { state: 'denied', ...asked, chosenPlanId: chosen.operationId };
    }
  }
}
