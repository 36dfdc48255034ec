/** Calls as records of the audit. Pure; what is left out, and what is masked, is decided here. */
import type { ApprovalRecord, IntentRecord, OutcomeRecord, RefusedRecord } from '#core/audit/record.ts';
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract, JsonValue, Template } from '#core/contract/compiled.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import type { Question, QuestionState } from '#sidecar/approval/decider.ts';
import type { OperationRecord } from '#sidecar/journal/entry.ts';
import type { EffectPlan, Plan } from './plan.ts';
import type { CallEnd, FoundOutcome, RefusedCall, SentStep } from './recorder.ts';

/** A text without the credentials in use. */
export type Masked = (text: string) => string;

export function intentRecord(plan: Plan | EffectPlan, step: SentStep | undefined): IntentRecord {
  const { served, operationId, requestId, argsDigest, resume } = plan;
  const { contract, masked = asItIs } = served;
  const element = step?.target.element;
  return {
    record: 'intent',
    action: contract.action,
    contract: contract.name,
    namespace: contract.namespace,
    revision: contract.revision,
    effect: contract.effect,
    request_id: requestId,
    operation_id: operationId,
    ...maskedArguments(plan.args, masked),
    arguments_digest: argsDigest,
    credentials: contract.credentials,
    destinations: destinationsOf(contract),
    ...(step === undefined
      ? {}
      : { target: { index: step.target.index, ...(element === undefined ? {} : maskedElement(element.value, masked)) } }),
    ...('needs' in plan && plan.needs.kind === 'person' ? { approval: plan.needs.question } : {}),
    ...(step?.approver === undefined ? {} : { approver: nameOf(step.approver) }),
    ...('planDigest' in plan ? { plan_digest: plan.planDigest } : {}),
    ...(resume === undefined ? {} : { resumed: true }),
  };
}

export function outcomeRecord({ served, requestId, operationId }: Plan, end: CallEnd, durationMs: number): OutcomeRecord {
  const { action, revision, effect } = served.contract;
  const call = { record: 'outcome', action, revision, effect, request_id: requestId, operation_id: operationId } as const;
  const duration_ms = Math.round(durationMs);
  const remote = end.remote === undefined ? {} : { remote: end.remote };
  if (end.kind === 'failed') {
    const { reason, operation } = end.error;
    return {
      ...call,
      status: reason === 'OUTCOME_UNKNOWN' ? 'unknown' : 'failed',
      code: reason,
      ...(operation?.targets === undefined ? {} : { targets: operation.targets }),
      ...remote,
      duration_ms,
    };
  }
  const { status, completeness, warnings } = end.envelope;
  const { complete, incomplete_reasons, page } = completeness;
  return {
    ...call,
    status: status === 'ok' ? 'ok' : 'partial',
    complete,
    ...(incomplete_reasons.length === 0 ? {} : { incomplete_reasons: codesOf(incomplete_reasons) }),
    ...(warnings.length === 0 ? {} : { warnings: codesOf(warnings) }),
    rows: page.returned,
    bytes: end.bytes,
    pages: page.walk.pages,
    ...remote,
    duration_ms,
  };
}

/** `masked`: of the bundle; the name that was asked for may be anything. */
export function refusedRecord(
  { requestId, action, asked }: RefusedCall,
  error: PosternError,
  durationMs: number,
  masked: Masked,
): RefusedRecord {
  const name = action ?? (ACTION_NAME.test(asked) && masked(asked) === asked ? asked : undefined);
  const rules = [...new Set(error.fields.map(({ rule }) => rule))].slice(0, RULES_MAX);
  return {
    record: 'refused',
    ...(name === undefined ? {} : { action: name }),
    known: action !== undefined,
    code: error.reason,
    ...(rules.length === 0 ? {} : { rules }),
    request_id: requestId,
    ...(error.operationId === undefined ? {} : { operation_id: error.operationId }),
    duration_ms: Math.round(durationMs),
  };
}

export function foundRecord(
  { action, revision, effect, requestId, operationId }: OperationRecord,
  { verdict, by }: FoundOutcome,
): OutcomeRecord {
  return {
    record: 'outcome',
    action,
    revision,
    effect,
    request_id: requestId,
    operation_id: operationId,
    ...FOUND[verdict],
    ...(typeof by === 'string' ? { found: by } : { found: 'person', by: nameOf(by.person) }),
  };
}

const FOUND = {
  done: { status: 'ok' },
  notDone: { status: 'failed', code: 'REMOTE_UNAVAILABLE' },
  unknown: { status: 'unknown', code: 'OUTCOME_UNKNOWN' },
} as const;

export function askedRecord({ name, operationId, facts, cardDigest }: Question): ApprovalRecord {
  return {
    record: 'approval',
    event: 'asked',
    approval: name,
    operation_id: operationId,
    action: facts.action,
    contract: facts.contract,
    revision: facts.revision,
    card_digest: cardDigest,
    plan_digest: facts.planDigest,
    arguments_digest: facts.argsDigest,
    expires_at: new Date(facts.expiresAtMs).toISOString(),
  };
}

/** Of what is no longer waiting; `operationId` where it is known here. */
export function decidedRecord(name: string, state: QuestionState | undefined, operationId: string | undefined): ApprovalRecord {
  const question = { record: 'approval', approval: name, ...(operationId === undefined ? {} : { operation_id: operationId }) } as const;
  if (state?.kind !== 'decided') return { ...question, event: state?.kind === 'expired' ? 'expired' : 'void' };
  const { decision } = state;
  return {
    ...question,
    event: decision.verdict,
    approver: nameOf(decision.approver),
    ...(decision.reason === '' ? {} : { reason: decision.reason.slice(0, limits.approvalReasonCharsMax) }),
    decided_at: new Date(decision.atMs).toISOString(),
    ...(decision.verdict === 'approved'
      ? { card_digest: decision.cardDigest, ...(decision.alternative === undefined ? {} : { alternative: decision.alternative }) }
      : {}),
  };
}

const ACTION_NAME = /^[a-z][a-z0-9_]{0,62}$/;
const RULES_MAX = 8;
const NAME_CHARS_MAX = 512;

function nameOf(text: string): string {
  return text.slice(0, NAME_CHARS_MAX);
}

function asItIs(text: string): string {
  return text;
}

function codesOf(of: readonly { readonly code: string }[]): readonly string[] {
  return [...new Set(of.map(({ code }) => code))];
}

/** A credential spread over several values, such as the two halves of a list, cannot be cut out of any: then nothing of them is kept. */
export function maskedArguments(args: JsonValue, masked: Masked): Pick<IntentRecord, 'arguments' | 'arguments_left_out'> {
  if (isClean(args, masked)) return { arguments: args };
  const cut = maskedValue(args, masked);
  return isClean(cut, masked) ? { arguments: cut } : { arguments_left_out: 'credential' };
}

function maskedElement(element: JsonValue, masked: Masked): { readonly element?: JsonValue } {
  const { arguments: cut } = maskedArguments(element, masked);
  return cut === undefined ? {} : { element: cut };
}

function isClean(value: JsonValue, masked: Masked): boolean {
  const text = JSON.stringify(value);
  return masked(text) === text;
}

function maskedValue(value: JsonValue, masked: Masked): JsonValue {
  if (typeof value === 'string') return masked(value);
  if (typeof value === 'number') return masked(String(value)) === String(value) ? value : masked(String(value));
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((each: JsonValue) => maskedValue(each, masked));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [masked(name), maskedValue(each, masked)]));
}

const destinations = new WeakMap<CompiledContract, readonly string[]>();

function destinationsOf(contract: CompiledContract): readonly string[] {
  let found = destinations.get(contract);
  if (found === undefined) {
    found = originsOf(contract);
    destinations.set(contract, found);
  }
  return found;
}

function originsOf({ target, completeness }: CompiledContract): readonly string[] {
  if (target.kind === 'ssh') return [`ssh://${written(target.host)}`];
  const requests = [target.request, target.open, target.next, target.close].flatMap((each) => (each === undefined ? [] : [each.origin]));
  const sources = (completeness.sources?.list ?? []).flatMap(({ origin }) => (origin === undefined ? [] : [origin]));
  return [...new Set([...requests, ...sources])];
}

function written(template: Template): string {
  return template.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}
