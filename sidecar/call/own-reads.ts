/**
 * Reads that Postern makes for an effect: what `prepare` shows, what `recheck` compares, what `settle` finds out, what a longer search may
 * complete. They take the road of every read - standing, gate, recorder, limits of their own contract - and need no approval of their own:
 * a binding's `EachUse` is about effects (contract language, section 5, point 18), and the contract that names them was reviewed.
 */
import type { Completeness } from '#core/completeness/envelope.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import type { Folded } from '#core/completeness/walk.ts';
import { checkArguments } from '#core/contract/arguments.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { GivenRead } from '#core/contract/effect-rules.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { composedJson } from '#core/contract/template-text.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Question, Remote } from '#sidecar/execute/remote.ts';
import { newOperationId } from '#sidecar/journal/operation-id.ts';
import { answerRead, type ReadMeans } from './answer-read.ts';
import type { Bundle, ServedAction } from './bundle.ts';
import { checkContract } from './checks.ts';
import { passGate } from './gate.ts';
import { isJournaled, type Plan } from './plan.ts';

export interface OwnReadCall {
  /** Of the call it is made for. */
  readonly requestId: string;
  readonly bundle: Bundle;
  readonly read: GivenRead;
  /** The effect's own values: its arguments, its element, its operation. */
  readonly values: Pick<SlotValues, 'args' | 'constants' | 'operation' | 'each' | 'resolve'>;
  readonly signal: AbortSignal;
  readonly deadlineMs?: number;
}

export interface OwnRead {
  readonly answer: Folded;
  /** Sealed; absent where the answer proves nothing. */
  readonly evidence?: string;
  /** The one request that answered; undefined where there were several, or several sources. */
  readonly only?: { readonly question: Question; readonly exchange: Exchange };
}

/** Throws PosternError as Execute does, and CONTRACT_NOT_READY when the read is not served here. */
export async function makeOwnRead(call: OwnReadCall, means: ReadMeans): Promise<OwnRead> {
  const served = servedRead(call, means);
  const args = ownArguments(served, call);
  const asked: { question: Question; exchange: Exchange }[] = [];
  const plan: Plan = {
    served: { ...served, remote: (given, source) => observed(served.remote(given, source), asked) },
    args,
    argsDigest: digestOf('arguments', args),
    requestId: call.requestId,
    operationId: newOperationId(),
    onePage: false,
    ...(call.deadlineMs === undefined ? {} : { deadlineMs: call.deadlineMs }),
  };
  const passed = passGate(plan);
  means.operations.begin(plan.operationId, plan.requestId, served.contract.action);
  const result = await answerRead(passed, means, { requestId: call.requestId, signal: call.signal, onProgress: () => {} }).catch(
    withAnswer,
  );
  const [only, ...more] = asked;
  const one = only === undefined || more.length > 0 ? {} : { only };
  if (result instanceof PosternError) return { answer: errorAnswer(result), ...one };
  const data: Record<string, JsonValue> = JSON.parse(Buffer.from(result.dataJson).toString('utf8'));
  return {
    answer: { kind: 'envelope', envelope: { ...result.envelope, data } },
    ...(result.evidence === undefined ? {} : { evidence: result.evidence }),
    ...one,
  };
}

/** An error that the remote's answer made is an answer about the target; any other ends whatever the read was for. */
function withAnswer(thrown: unknown): PosternError {
  if (thrown instanceof PosternError && thrown.completeness !== undefined) return thrown;
  throw thrown;
}

function errorAnswer({ reason, message, completeness }: PosternError): Folded {
  return { kind: 'error', reason, message, completeness: completeness as Completeness };
}

function servedRead({ bundle, read }: OwnReadCall, { standing }: ReadMeans): ServedAction {
  const served = bundle.byContract(read.contract);
  if (served === undefined || isJournaled(served.contract)) {
    throw new PosternError('CONTRACT_NOT_READY', `The read ${read.contract}, which this action rests on, is not served here.`, {
      details: { contract: read.contract },
    });
  }
  checkContract(served.contract, bundle.suspension(served.contract));
  const refused = standing.refusal(served.contract);
  if (refused !== undefined) throw refused;
  return served;
}

/** Absent values drop their argument; what is left must fit the read's own schema, like anybody's arguments. */
function ownArguments(served: ServedAction, { read, values }: OwnReadCall): Plan['args'] {
  const all: SlotValues = { next: {}, open: {}, source: {}, limits: {}, budget: {}, ...values };
  const given: Record<string, JsonValue> = Object.create(null);
  for (const [name, template] of read.arguments) {
    const value = composedJson(template, all);
    if (value !== undefined) given[name] = value;
  }
  const checked = checkArguments(served.contract.arguments, given);
  if (checked.kind === 'arguments') return checked.args;
  throw new PosternError('INVALID_ARGUMENT', `What this call gives the read ${read.contract} breaks a rule of that contract.`, {
    fields: checked.violations,
  });
}

function observed(remote: Remote, asked: { question: Question; exchange: Exchange }[]): Remote {
  return {
    ask: async (question, values, options) => {
      const exchange = await remote.ask(question, values, options);
      asked.push({ question, exchange });
      return exchange;
    },
  };
}
