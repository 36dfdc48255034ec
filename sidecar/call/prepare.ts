/**
 * From a call to a plan, in the order of design section 6.
 *
 * `prepare`, for every call: checks -> contract ready -> standing -> strict JSON -> schema -> cursor. Nothing is sent, nothing is kept.
 * `prepareEffect`, for what a person may have to agree to: evidence -> before -> the requests themselves -> who must agree -> card. At
 * most the read of `prepare` is sent; keeping the plan and asking the person is the caller's next step.
 */
import { renderCard } from '#core/approval/card.ts';
import type { CardFacts, Requester } from '#core/approval/card-facts.ts';
import { planDigest } from '#core/approval/plan-digest.ts';
import { limits } from '#core/bounds/limits.ts';
import { checkArguments } from '#core/contract/arguments.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { renderEffect } from '#core/contract/render-effect.ts';
import { renderSentence } from '#core/contract/sentence.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { parseArguments } from '#core/encoding/strict-json.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Cursors } from '#sidecar/cursor/cursor.ts';
import { slotValues } from '#sidecar/execute/effect.ts';
import { newOperationId } from '#sidecar/journal/operation-id.ts';
import type { ReadMeans } from './answer-read.ts';
import { readBefore } from './before.ts';
import type { Bundle, ServedAction } from './bundle.ts';
import type { ExecuteCall } from './calls.ts';
import { checkCall, checkContract } from './checks.ts';
import { type Choice, choicesOf } from './choices.ts';
import { type JudgedEvidence, judgeEvidence } from './judge-evidence.ts';
import { type EffectPlan, type Needs, type Plan, type PlanChoice, questionName } from './plan.ts';
import type { Standing } from './standing.ts';

export interface PrepareMeans {
  readonly cursors: Cursors;
  readonly standing: Standing;
}

/** Throws PosternError: INVALID_ARGUMENT, ACTION_UNKNOWN, CONTRACT_NOT_READY, SESSION_*, CONTROL_STALE, CURSOR_INVALID. */
export function prepare(bundle: Bundle, { cursors, standing }: PrepareMeans, call: ExecuteCall, requestId: string): Plan {
  checkCall(call);
  const served = bundle.action(call.action);
  checkContract(served.contract, bundle.suspension(served.contract));
  const refused = standing.refusal(served.contract);
  if (refused !== undefined) throw refused;
  const args = readArguments(served, call.argumentsJson);
  const argsDigest = digestOf('arguments', args);
  const { revision, action } = served.contract;
  const resume = call.cursor === undefined ? undefined : cursors.open(call.cursor, { action, revision, argsDigest });
  return {
    served,
    args,
    argsDigest,
    requestId,
    operationId: call.operationId ?? newOperationId(),
    onePage: call.onePage,
    ...(call.deadlineMs === undefined ? {} : { deadlineMs: call.deadlineMs }),
    ...(resume === undefined ? {} : { resume }),
  };
}

function readArguments(served: ServedAction, json: Uint8Array): Readonly<Record<string, JsonValue>> {
  const value = json.byteLength === 0 ? Object.create(null) : parseArguments(json);
  const checked = checkArguments(served.contract.arguments, value);
  if (checked.kind === 'arguments') return checked.args;
  throw new PosternError('INVALID_ARGUMENT', 'The arguments break a rule of the contract.', { fields: checked.violations });
}

export interface EffectInput {
  readonly bundle: Bundle;
  /** Sealed tokens, as the agent gave them. */
  readonly evidence: readonly string[];
  readonly requester: Requester;
  /** Name of the question whose yes covers this call already; see grants.ts. */
  readonly granted: string | undefined;
  /** An equal call was denied a short time ago. */
  readonly denied?: CardFacts['denied'];
  readonly signal: AbortSignal;
}

export interface Prepared {
  readonly plan: EffectPlan;
  /** Other plans that stand on its card; each is kept like it. */
  readonly choices: readonly EffectPlan[];
}

/** Throws PosternError: EVIDENCE_*, INVALID_ARGUMENT for a value that fits no request, LIMIT_EXCEEDED, and what the read of `prepare` throws. */
export async function prepareEffect(plan: Plan, input: EffectInput, means: ReadMeans): Promise<Prepared> {
  const evidence = judgeEvidence(plan, input, means);
  const choices: EffectPlan[] = [];
  const { verdict } = evidence ?? {};
  for (const choice of verdict?.kind === 'review' ? choicesOf(plan, verdict) : []) {
    const judged = judgeEvidence(choice.plan, input, means);
    choices.push(await planEffect(choice.plan, { ...input, evidence: judged, choice, of: plan.operationId }, means));
  }
  return { plan: await planEffect(plan, { ...input, evidence, choices }, means), choices };
}

interface PlanInput extends Omit<EffectInput, 'evidence'> {
  readonly evidence: JudgedEvidence | undefined;
  /** Beside it on its card. */
  readonly choices?: readonly EffectPlan[];
  /** This plan is one of the choices on the card of the operation `of`. */
  readonly choice?: Choice;
  readonly of?: string;
}

async function planEffect(plan: Plan, input: PlanInput, means: ReadMeans): Promise<EffectPlan> {
  const { contract } = plan.served;
  const { evidence, choice } = input;
  const before = await readBefore(plan, input, means);
  // The first time that a value meets its place: what fits no request is refused before a person is asked.
  const requests = contract.effect === 'Read' ? [] : renderEffect({ contract, args: plan.args, operationId: plan.operationId });
  const plannedAtMs = means.clock.wallMs();
  const expiresAtMs = plannedAtMs + contract.effects.approval.expiresAfterMs;
  const eachUse = requests.some(({ credential }) => plan.served.eachUse?.has(credential) === true);
  const needs = needsOf(plan, input, eachUse || evidence?.review === true);
  const grant = eachUse || evidence?.review === true ? undefined : grantOf(plan, needs);
  const digest = planDigest({
    revision: contract.revision,
    argsDigest: plan.argsDigest,
    requests: requests as unknown as JsonValue,
    evidence: evidence?.digests ?? [],
    ...(grant === undefined ? {} : { grant }),
  });
  const facts: CardFacts = {
    operationId: plan.operationId,
    contract: contract.name,
    namespace: contract.namespace,
    action: contract.action,
    revision: contract.revision,
    args: plan.args,
    argsDigest: plan.argsDigest,
    planDigest: digest,
    requester: input.requester,
    askedAtMs: plannedAtMs,
    expiresAtMs,
    reads: means.doubtful.list(),
    ...(before === undefined ? {} : { before: before.fields }),
    ...(evidence === undefined ? {} : { evidence: evidence.facts }),
    ...(grant === undefined ? {} : { grant }),
    ...(input.denied === undefined ? {} : { denied: input.denied }),
    ...standingOf(input),
  };
  const card = renderCard(contract, facts);
  return {
    ...plan,
    planDigest: digest,
    summary: renderSentence(
      contract.summary,
      slotValues({ contract, args: plan.args, operationId: plan.operationId }, contract.completeness.limits.timeMs),
    ),
    facts,
    card: card.text,
    cardDigest: card.digest,
    plannedAtMs,
    expiresAtMs,
    needs,
    rests: revisionsOf(plan, input.bundle),
    alternatives: (input.choices ?? []).map(choiceOn),
    ...(contract.effects.forEach === undefined ? {} : { each: contract.effects.forEach.argument }),
    ...evidenceRulesOf(evidence, choice),
  };
}

/** What is asked again right before the effect need not be young now. */
function evidenceRulesOf(
  evidence: JudgedEvidence | undefined,
  choice: Choice | undefined,
): Pick<EffectPlan, 'evidenceUntilMs' | 'readAgain'> {
  if (evidence === undefined) return {};
  return choice?.readAgain === true ? { readAgain: evidence.verdict.claim.args } : { evidenceUntilMs: evidence.untilMs };
}

function choiceOn({ facts, operationId, card, cardDigest }: EffectPlan): PlanChoice {
  return { name: facts.alternative?.name ?? '', operationId, card, cardDigest };
}

/** Whether it is a choice on another card, or has choices on its own. */
function standingOf({ choice, of = '', choices = [] }: PlanInput): Pick<CardFacts, 'alternative' | 'choices'> {
  if (choice !== undefined) return { alternative: { name: choice.name, of: questionName(of) } };
  const names = choices.flatMap(({ facts }) => (facts.alternative === undefined ? [] : [facts.alternative.name]));
  return names.length === 0 ? {} : { choices: names };
}

/**
 * A person must agree where the contract or the owner of the credential says so, and where the evidence is not enough by itself. An
 * earlier yes for a range of calls counts only where nothing but the contract asks.
 */
function needsOf(plan: Plan, { granted, choice, of }: PlanInput, demanded: boolean): Needs {
  const { mode } = plan.served.contract.effects.approval;
  const question = questionName(plan.operationId);
  if (choice !== undefined && of !== undefined) return { kind: 'person', question: questionName(of), alternative: choice.name };
  if (demanded || mode === 'EachCall') return { kind: 'person', question };
  if (mode === 'None') return { kind: 'nobody' };
  return { kind: 'person', question: granted ?? question };
}

/** What one yes to this plan's own question covers, where that is more than this call. */
function grantOf(plan: Plan, needs: Needs): CardFacts['grant'] {
  const { mode, calls, vary } = plan.served.contract.effects.approval;
  if (mode !== 'Session' || needs.kind !== 'person' || needs.question !== questionName(plan.operationId)) return undefined;
  return { calls: calls ?? limits.approvalCallsDefault, vary: vary.map((path) => `/${path.join('/')}`) };
}

function revisionsOf({ served }: Plan, bundle: Bundle): Readonly<Record<string, string>> {
  const { recheck, prepare: shown, evidence, idempotency } = served.contract.effects;
  const names = [recheck?.contract, shown?.contract, evidence?.from, idempotency.settle?.contract].filter((name) => name !== undefined);
  return Object.fromEntries(names.map((name) => [name, bundle.byContract(name)?.contract.revision ?? '']));
}
