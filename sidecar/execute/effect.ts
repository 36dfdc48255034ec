/**
 * One request that changes something, and what its reply means. Sent once: no retry, no renewed credential, no second socket - whoever
 * cannot tell whether the first one arrived must not send another (failure cases HTTP-10, HTTP-11).
 *
 * The reply is judged twice, by pure functions: whether the effect took place, and what the answer says of itself.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { effectEnvelope } from '#core/completeness/effect-envelope.ts';
import { effectOutcome } from '#core/completeness/effect-outcome.ts';
import type { Envelope } from '#core/completeness/envelope.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import { FAILURES } from '#core/completeness/failure.ts';
import type { Failure } from '#core/completeness/source-walk.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { effectValues } from '#core/contract/render-effect.ts';
import { renderSentence } from '#core/contract/sentence.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Question, Remote } from './remote.ts';

export interface EffectRequest {
  readonly contract: CompiledContract;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly operationId: string;
  /** Of a `forEach`: which element, and what it is. */
  readonly element?: { readonly index: number; readonly value: JsonValue };
  /** A strong entity tag of what the recheck saw at this very resource. */
  readonly ifMatch?: string;
}

export interface EffectMeans {
  readonly clock: Clock;
  readonly remote: Remote;
  /** Aborted at the effect's own limit, and by nobody's leaving. */
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

export type EffectAnswer =
  | { readonly kind: 'done'; readonly envelope: Omit<Envelope, 'data'>; readonly value: JsonValue }
  /** It did not take effect. */
  | { readonly kind: 'notDone'; readonly error: PosternError }
  | { readonly kind: 'unknown'; readonly error: PosternError };

/** Never rejects: whatever happens to a request is an answer about it. */
export async function sendEffect(request: EffectRequest, means: EffectMeans): Promise<EffectAnswer> {
  const { contract } = request;
  const startedMs = means.clock.monotonicMs();
  let exchange: Exchange;
  try {
    exchange = await means.remote.ask(questionOf(contract, request.ifMatch), slotValues(request, means.deadlineMs), {
      signal: means.signal,
      bodyBytesMax: contract.completeness.limits.bytes,
    });
  } catch (thrown) {
    return thrownAnswer(thrown);
  }
  return judge(request, exchange, { ...means, spentMs: Math.round(means.clock.monotonicMs() - startedMs) });
}

/** A remote throws PosternError for what never left us; anything else is a fault of ours, and nobody knows how far it had come. */
function thrownAnswer(thrown: unknown): EffectAnswer {
  const error = PosternError.from(thrown);
  if (error.reason !== 'INTERNAL') return { kind: 'notDone', error };
  return { kind: 'unknown', error: unknownError('A fault of Postern ended the call after it began to send.', thrown) };
}

interface Judged {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly spentMs: number;
}

function judge(request: EffectRequest, exchange: Exchange, { clock, deadlineMs, spentMs }: Judged): EffectAnswer {
  const { contract, args } = request;
  const context = { contract, args, nowMs: clock.wallMs() };
  const outcome = effectOutcome(context, exchange);
  const { reply } = exchange;
  if (outcome.kind === 'notDone') return { kind: 'notDone', error: refusedError(outcome.failure) };
  // Without a reply nothing is ever called done.
  if (outcome.kind === 'unknown' || reply.kind === 'noReply')
    return { kind: 'unknown', error: unknownError(outcome.kind === 'unknown' ? outcome.because : 'No answer came.') };
  const { data, ...envelope } = effectEnvelope(context, { sent: exchange.sent, reply }, outcome, {
    deadlineMs,
    spentMs,
    waitedMs: 0,
    calls: 1,
    summaryResource: renderSentence(contract.completeness.scope?.resource ?? contract.summary, slotValues(request, deadlineMs)),
  });
  return { kind: 'done', envelope, value: data[contract.result.as] ?? null };
}

function refusedError({ kind, retryAfterMs }: Failure): PosternError {
  const { error, message } = FAILURES[kind];
  return new PosternError(error, `${message.charAt(0).toUpperCase()}${message.slice(1)}. It did not take effect.`, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** `because`: our own sentence. */
export function unknownError(because: string, cause?: unknown): PosternError {
  return new PosternError(
    'OUTCOME_UNKNOWN',
    `${because} Nobody can tell whether it took effect. Do not send it in another way; GetOperation tells once it is found out.`,
    { ...(cause === undefined ? {} : { cause }) },
  );
}

/** What is asked; over HTTP only if the resource is still what the recheck saw. */
function questionOf({ target }: CompiledContract, ifMatch: string | undefined): Question {
  if (target.kind === 'ssh') return target;
  const { request } = target;
  return ifMatch === undefined ? request : { ...request, headers: [...request.headers, ['if-match', [ifMatch]]] };
}

/** What the slots of an effect's requests stand for: what its plan was rendered with, but for the time that is left. */
export function slotValues({ contract, args, operationId, element }: Omit<EffectRequest, 'ifMatch'>, deadlineMs: number): SlotValues {
  return effectValues({ contract, args, operationId }, element, deadlineMs);
}
