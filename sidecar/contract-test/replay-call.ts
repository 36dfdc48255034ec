/**
 * Runs the calls of one recorded test through the code production runs: argument check, request, walk, fold, cursor; or request and outcome.
 * Replaced are three things only: the transport, the clock, and the credential.
 */

import type { Completeness } from '#core/completeness/envelope.ts';
import { checkArguments } from '#core/contract/arguments.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { renderEffect } from '#core/contract/render-effect.ts';
import { canonicalJson, digestOf } from '#core/encoding/canonical.ts';
import { createKeyRing, createSealer, SEALING_KEY_BYTES } from '#core/encoding/seal.ts';
import { parseArguments } from '#core/encoding/strict-json.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { type CursorContext, Cursors } from '#sidecar/cursor/cursor.ts';
import { UNCONDITIONAL } from '#sidecar/execute/call-standing.ts';
import type { OpenRemote } from '#sidecar/execute/open-remotes.ts';
import { executeRead, type ReadAnswer } from '#sidecar/execute/read.ts';
import type { ContractTest, RecordedCall } from './contract-test.ts';
import type { Difference } from './match-request.ts';
import { compareOutcome, type Outcome } from './outcome.ts';
import { ReplayClock } from './replay-clock.ts';
import { replayEffect } from './replay-effect.ts';
import { ReplayTransport, type UnmatchedRequest } from './replay-transport.ts';

export interface CallResult {
  /** From 0; the second and later ones are `resume`. */
  readonly index: number;
  readonly outcome: Outcome;
  readonly differences: readonly Difference[];
  readonly unmatched: readonly UnmatchedRequest[];
  /** Indexes of exchanges nothing asked for. */
  readonly leftOver: readonly number[];
  readonly leftOverAllowed: number;
}

/** Makes the remotes of one test over the replayed transport, with a credential that is no secret of anybody. */
export type RemotesMaker = (means: { readonly transport: ReplayTransport; readonly clock: ReplayClock }) => OpenRemote;

/** Results of the calls up to the first that gave no cursor to go on with. */
export async function replayCalls(contract: CompiledContract, test: ContractTest, remotes: RemotesMaker): Promise<readonly CallResult[]> {
  const clock = new ReplayClock(test.nowMs);
  const transport = new ReplayTransport(clock);
  const replay: Replay = { contract, test, clock, transport, openRemote: remotes({ transport, clock }), cursors: replayCursors(clock) };
  const results: CallResult[] = [];
  let cursor: string | undefined;
  for (const [index, call] of test.calls.entries()) {
    if (index > 0 && cursor === undefined) break;
    clock.advance(call.afterMs);
    transport.load(call.exchanges);
    const outcome = await outcomeOf(replay, cursor);
    results.push(judge(index, call, outcome, transport));
    const continuation = outcome.completeness?.continuation;
    cursor = continuation !== undefined && 'cursor' in continuation ? continuation.cursor : undefined;
  }
  return results;
}

interface Replay {
  readonly contract: CompiledContract;
  readonly test: ContractTest;
  readonly clock: ReplayClock;
  readonly transport: ReplayTransport;
  readonly openRemote: OpenRemote;
  readonly cursors: Cursors;
}

/** A key of zeros is no secret; nothing sealed with it is ever accepted by a sidecar, which makes its own. */
function replayCursors(clock: ReplayClock): Cursors {
  return new Cursors(createSealer('cursor', createKeyRing(new Uint8Array(SEALING_KEY_BYTES))), 'contract-test', clock);
}

function judge(index: number, call: RecordedCall, outcome: Outcome, transport: ReplayTransport): CallResult {
  return {
    index,
    outcome,
    differences: compareOutcome(call.expect, outcome),
    unmatched: transport.unmatched.splice(0),
    leftOver: transport.leftOver,
    leftOverAllowed: call.expect.unconsumed,
  };
}

const OPERATION = 'op_contracttest00000000000000';

async function outcomeOf(replay: Replay, cursor: string | undefined): Promise<Outcome> {
  const { contract } = replay;
  try {
    checkServed(contract);
    if (contract.effect === 'Read') return answered(contract, await read(replay, cursor));
    const args = readArguments(contract, replay.test);
    // Refused before anything is sent, as a plan would be.
    renderEffect({ contract, args, operationId: OPERATION });
    const means = { clock: replay.clock, remote: replay.openRemote(args, undefined), deadlineMs: contract.completeness.limits.timeMs };
    return await replayEffect({ contract, args, operationId: OPERATION }, { ...means, signal: new AbortController().signal });
  } catch (thrown) {
    // A fault of Postern itself must not be mistaken for an outcome somebody may expect.
    if (!(thrown instanceof PosternError) || thrown.reason === 'INTERNAL') throw thrown;
    return failed(thrown);
  }
}

function checkServed(contract: CompiledContract): void {
  if (contract.suspended !== undefined) throw new PosternError('SESSION_SUSPENDED', 'This action is suspended by its owner.');
  if (contract.notReady !== undefined) throw new PosternError('CONTRACT_NOT_READY', contract.notReady);
}

async function read(replay: Replay, cursor: string | undefined): Promise<ReadAnswer> {
  const { contract, test, clock, cursors } = replay;
  const args = readArguments(contract, test);
  const context: CursorContext = { action: contract.action, revision: contract.revision, argsDigest: digestOf('arguments', args) };
  const resume = cursor === undefined ? undefined : cursors.open(cursor, context);
  return await executeRead(
    {
      contract,
      args,
      operationId: OPERATION,
      onePage: test.onePage,
      ...(test.deadlineMs === undefined ? {} : { deadlineMs: test.deadlineMs }),
      ...(resume === undefined ? {} : { resume }),
    },
    {
      clock,
      signal: new AbortController().signal,
      standing: UNCONDITIONAL,
      remote: (source) => replay.openRemote(args, source),
      seal: (walks, calls) => cursors.seal({ walks, calls }, context, contract.completeness.cursor.ttlMs),
      onProgress: () => {},
    },
  );
}

/** As the agent's text, so that the strict parser sees it too. */
function readArguments(contract: CompiledContract, test: ContractTest): Readonly<Record<string, JsonValue>> {
  const checked = checkArguments(contract.arguments, parseArguments(new TextEncoder().encode(canonicalJson(test.arguments))));
  if (checked.kind === 'arguments') return checked.args;
  throw new PosternError('INVALID_ARGUMENT', 'The arguments break a rule of the contract.', { fields: checked.violations });
}

function answered(contract: CompiledContract, { folded, dataJson }: ReadAnswer): Outcome {
  if (folded.kind === 'error') {
    return {
      status: 'error',
      code: folded.reason,
      message: folded.message,
      completeness: folded.completeness,
      ...(folded.retryAfterMs === undefined ? {} : { retryAfterMs: folded.retryAfterMs }),
      warnings: [],
      omitted: [],
    };
  }
  const { envelope } = folded;
  // The bytes the agent would get, not the values they were made of.
  const data = JSON.parse(dataJson ?? '{}') as { readonly [key: string]: JsonValue };
  const rows = data[contract.result.as];
  return {
    status: envelope.status,
    completeness: envelope.completeness,
    warnings: envelope.warnings,
    omitted: envelope.omitted_fields,
    data,
    items: Array.isArray(rows) ? rows.length : 1,
  };
}

function failed(error: PosternError): Outcome {
  return {
    status: 'error',
    code: error.reason,
    message: error.message,
    fields: error.fields.map(({ path, rule }) => `${path}: ${rule}`),
    // Whoever throws it puts the envelope of design section 5 there and nothing else.
    ...(error.completeness === undefined ? {} : { completeness: error.completeness as Completeness }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    warnings: [],
    omitted: [],
  };
}
