/**
 * From a read that passed the gate to an answer, in this order: recorded, read, evidence, remembered as ended, recorded.
 * Every failure on the way is recorded as an outcome. The record of the intent is made durable while the remote is asked, and nothing is
 * given before it is: a crash may lose what a read answered, never that it was asked.
 */

import type { Clock } from '#core/bounds/clock.ts';
import { evidenceFor } from '#core/completeness/evidence-claim.ts';
import type { Folded } from '#core/completeness/walk.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Cursors } from '#sidecar/cursor/cursor.ts';
import { executeRead, type ReadAnswer } from '#sidecar/execute/read.ts';
import type { Operations } from '#sidecar/journal/operations.ts';
import type { CallContext, ExecuteResult } from './calls.ts';
import type { DoubtfulReads } from './doubtful-reads.ts';
import type { EvidenceSealer } from './evidence.ts';
import type { Passed } from './gate.ts';
import type { Plan } from './plan.ts';
import type { Recorder } from './recorder.ts';
import { RemoteStatuses } from './remote-statuses.ts';
import type { Standing } from './standing.ts';

export interface ReadMeans {
  readonly clock: Clock;
  readonly operations: Operations;
  readonly recorder: Recorder;
  readonly cursors: Cursors;
  readonly evidence: EvidenceSealer;
  readonly standing: Standing;
  readonly doubtful: DoubtfulReads;
}

/** Throws PosternError; details carry the operation id and, where pages were asked, the completeness. */
export async function answerRead(passed: Passed, means: ReadMeans, context: CallContext): Promise<ExecuteResult> {
  const { plan } = passed;
  const startedMs = means.clock.monotonicMs();
  const statuses = new RemoteStatuses();
  const ended = await attempt(passed, means, { ...context, statuses });
  const durationMs = means.clock.monotonicMs() - startedMs;
  if (ended instanceof PosternError) {
    means.operations.finish(plan.operationId, { state: 'failed', error: { reason: ended.reason, message: ended.message } });
    means.doubtful.failed(plan.served.contract.action, ended);
    await means.recorder.outcome(plan, { kind: 'failed', error: ended, remote: statuses.counts }, durationMs);
    throw ended;
  }
  const { envelope, dataJson } = ended;
  const { complete, page } = envelope.completeness;
  means.operations.finish(plan.operationId, { state: 'done', complete, returned: page.returned });
  means.doubtful.answered(plan.served.contract.action, envelope);
  await means.recorder.outcome(plan, { kind: 'answered', envelope, bytes: dataJson.byteLength, remote: statuses.counts }, durationMs);
  return ended;
}

/** The answer, or why there is none: an end either way, so that it is recorded once. */
async function attempt(passed: Passed, means: ReadMeans, context: CallContext): Promise<ExecuteResult | PosternError> {
  const { plan } = passed;
  try {
    const kept = intent(passed, means);
    // Whoever waits for it below is told; a read that fails before that has an error of its own.
    kept.catch(() => {});
    // While records are known not to be taken, a remote is not asked for what could not be given.
    if (means.recorder.fault !== undefined) await kept;
    const answer = await readPlan(plan, means, context);
    await kept;
    return answer;
  } catch (thrown) {
    return PosternError.from(thrown).forCall(plan);
  }
}

async function intent(passed: Passed, means: ReadMeans): Promise<void> {
  try {
    await means.recorder.intent(passed);
  } catch (cause) {
    throw new PosternError('AUDIT_UNAVAILABLE', 'The record of this call cannot be kept, so nothing of its answer is given.', { cause });
  }
}

function read(plan: Plan, means: ReadMeans, context: CallContext): Promise<ReadAnswer> {
  const { served, args } = plan;
  const { action, revision, completeness } = served.contract;
  return executeRead(
    {
      contract: served.contract,
      args,
      operationId: plan.operationId,
      onePage: plan.onePage,
      ...(plan.deadlineMs === undefined ? {} : { deadlineMs: plan.deadlineMs }),
      ...(plan.resume === undefined ? {} : { resume: plan.resume }),
    },
    {
      clock: means.clock,
      signal: context.signal,
      standing: means.standing.of(served.contract),
      remote: (source) => {
        const remote = served.remote(args, source);
        return context.statuses?.watch(remote) ?? remote;
      },
      seal: (walks, calls) =>
        means.cursors.seal({ walks, calls }, { action, revision, argsDigest: plan.argsDigest }, completeness.cursor.ttlMs),
      onProgress: (progress) => context.onProgress(progress),
    },
  );
}

/** What the read of a plan answers. Throws PosternError where it answers nothing. */
export async function readPlan(plan: Plan, means: ReadMeans, context: CallContext): Promise<ExecuteResult> {
  return answered(plan, means, await read(plan, means, context));
}

function answered(plan: Plan, means: ReadMeans, answer: ReadAnswer): ExecuteResult {
  const { folded } = answer;
  if (folded.kind === 'error') throw failure(folded);
  const { data: _data, ...envelope } = folded.envelope;
  const { contract } = plan.served;
  const claim = evidenceFor({
    contract,
    walks: answer.walks,
    envelope: folded.envelope,
    argsDigest: plan.argsDigest,
    args: plan.args,
    nowMs: means.clock.wallMs(),
    ...(plan.served.reviewed === true ? { reviewed: true } : {}),
  });
  return {
    requestId: plan.requestId,
    operationId: plan.operationId,
    action: contract.action,
    revision: contract.revision,
    envelope,
    // Short answers come from Node's pool of buffers.
    dataJson: Buffer.from(answer.dataJson ?? '{}', 'utf8'),
    ...(claim.kind !== 'none' ? { evidence: means.evidence.seal(claim.claim) } : {}),
  };
}

function failure(folded: Extract<Folded, { kind: 'error' }>): PosternError {
  return new PosternError(folded.reason, folded.message, {
    completeness: folded.completeness,
    ...(folded.retryAfterMs === undefined ? {} : { retryAfterMs: folded.retryAfterMs }),
  });
}
