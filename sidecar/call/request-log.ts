/**
 * The recorder for whoever runs the sidecar: one log line at the end of each call, and its numbers. It keeps
 * no argument, no text of the remote and no id of an object.
 */

import type { PosternError } from '#core/error/postern-error.ts';
import type { EffectOutcome } from '#core/runtime/effect-metrics.ts';
import type { Log } from '#core/runtime/log.ts';
import type { SidecarMetrics } from '#core/runtime/metrics.ts';
import type { OperationRecord } from '#sidecar/journal/entry.ts';
import type { Passed } from './gate.ts';
import type { Plan } from './plan.ts';
import type { CallEnd, FoundOutcome, Recorder, RefusedCall, ReplayedCall } from './recorder.ts';

export class RequestLog implements Recorder {
  readonly #log: Log;
  readonly #metrics: SidecarMetrics;
  /** Operations that were let through to their first byte, until they end. */
  readonly #sent = new Set<string>();

  constructor(log: Log, metrics: SidecarMetrics) {
    this.#log = log.child({ component: 'call' });
    this.#metrics = metrics;
  }

  intent({ plan }: Passed): void {
    this.#sent.add(plan.operationId);
    this.#log.debug('call starts', { request_id: plan.requestId, operation_id: plan.operationId, action: plan.served.contract.action });
  }

  cursorUsed(action: string, outcome: 'resumed' | 'invalid' | 'expired'): void {
    this.#metrics.cursorUsed(action, outcome);
  }

  outcome(plan: Plan, end: CallEnd, durationMs: number): void {
    const { action, effect } = plan.served.contract;
    const sent = this.#sent.delete(plan.operationId);
    if (effect !== 'Read') this.#metrics.effects.ended(action, effectOutcome(end, sent));
    const ids = { request_id: plan.requestId, operation_id: plan.operationId, action, duration_ms: Math.round(durationMs) };
    if (end.kind === 'failed') {
      this.#metrics.callFailed(action, end.error.reason, durationMs);
      this.#failed({ ...ids, reason: end.error.reason }, end.error);
      return;
    }
    const { completeness, warnings, status } = end.envelope;
    this.#metrics.callAnswered(action, end.envelope, durationMs);
    this.#log.info('call answered', {
      ...ids,
      status,
      complete: completeness.complete,
      pages: completeness.page.walk.pages,
      rows: completeness.page.returned,
      bytes: end.bytes,
      count: warnings.length,
      ...(completeness.incomplete_reasons[0] === undefined ? {} : { reason: completeness.incomplete_reasons[0].code }),
    });
  }

  replayed({ requestId, operationId, action }: ReplayedCall): void {
    this.#metrics.effects.replayed(action);
    this.#log.info('the outcome of an operation was told again', { request_id: requestId, operation_id: operationId, action });
  }

  refused(call: RefusedCall, error: PosternError, durationMs: number): void {
    this.#metrics.callFailed(call.action ?? '', error.reason, durationMs);
    this.#failed(
      {
        request_id: call.requestId,
        ...(call.action === undefined ? {} : { action: call.action }),
        reason: error.reason,
        duration_ms: Math.round(durationMs),
      },
      error,
    );
  }

  found({ requestId, operationId, action }: OperationRecord, { verdict }: FoundOutcome): void {
    const status = verdict === 'notDone' ? 'not_done' : verdict;
    this.#log.info('it was found out what became of an operation', { request_id: requestId, operation_id: operationId, action, status });
  }

  /** Faults of ours need a person; what a caller or a remote did wrong is news, not an alarm. */
  #failed(fields: Parameters<Log['error']>[1], error: PosternError): void {
    if (error.reason === 'INTERNAL') this.#log.error('call failed', fields, error);
    else this.#log.info('call failed', fields);
  }
}

function effectOutcome(end: CallEnd, sent: boolean): EffectOutcome {
  if (end.kind === 'answered') return 'done';
  if (end.error.reason === 'OUTCOME_UNKNOWN') return 'unknown';
  if ((end.error.operation?.targets?.done ?? 0) > 0) return 'partly_done';
  return sent ? 'not_done' : 'refused';
}
