/**
 * The recorder of a sidecar with an audit: whoever runs it is told as before, and everything goes into the chain. What the chain does not
 * take stops the call where the recorder's own terms say so.
 */

import { limits } from '#core/bounds/limits.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import type { CallEnd as ServedCallEnd } from '#core/runtime/grpc-call.ts';
import type { AuditRecorder } from '#sidecar/audit/recorder.ts';
import type { OperationRecord } from '#sidecar/journal/entry.ts';
import { foundRecord, intentRecord, type Masked, outcomeRecord, refusedRecord } from './call-records.ts';
import type { Passed } from './gate.ts';
import type { Plan } from './plan.ts';
import type { CallEnd, FoundOutcome, Recorder, RefusedCall, ReplayedCall, SentStep } from './recorder.ts';

export interface AuditedMeans {
  readonly told: Recorder;
  readonly audit: AuditRecorder;
  /** Takes the credentials of the bundle that is served now out of a text. */
  readonly masked: Masked;
}

export class AuditedRecorder implements Recorder {
  readonly #means: AuditedMeans;
  /** Requests under way that have a record; with some that ended before, for reads that go on without their caller. */
  readonly #recorded = new Set<string>();
  /** Operations of which a person's word is recorded: whoever decides may say it again. */
  readonly #resolved = new Set<string>();

  constructor(means: AuditedMeans) {
    this.#means = means;
  }

  get fault(): string | undefined {
    return this.#means.audit.fault;
  }

  intent(passed: Passed, step?: SentStep): Promise<void> | void {
    const { told, audit } = this.#means;
    const { plan } = passed;
    remember(this.#recorded, plan.requestId);
    if (audit.isOff) return told.intent(passed, step);
    const kept = audit.intent(intentRecord(plan, step));
    void told.intent(passed, step);
    return kept;
  }

  cursorUsed(action: string, outcome: 'resumed' | 'invalid' | 'expired'): void {
    this.#means.told.cursorUsed(action, outcome);
  }

  outcome(plan: Plan, end: CallEnd, durationMs: number): Promise<void> | void {
    const { told, audit } = this.#means;
    void told.outcome(plan, end, durationMs);
    if (audit.isOff) return undefined;
    const kept = audit.outcome(outcomeRecord(plan, end, durationMs));
    // A crash may lose what a read answered, and nobody waits for that.
    return plan.served.contract.effect === 'Read' ? undefined : kept;
  }

  replayed(call: ReplayedCall): void {
    const { requestId, operationId, action } = call;
    this.#means.told.replayed(call);
    remember(this.#recorded, requestId);
    this.#means.audit.tellOften('replayed', 'OK', () => ({
      record: 'replayed',
      action,
      request_id: requestId,
      operation_id: operationId,
    }));
  }

  refused(call: RefusedCall, error: PosternError, durationMs: number): void {
    const { told, audit, masked } = this.#means;
    told.refused(call, error, durationMs);
    remember(this.#recorded, call.requestId);
    audit.tellOften('refused', error.reason, () => refusedRecord(call, error, durationMs, masked));
  }

  found(operation: OperationRecord, found: FoundOutcome): void {
    const { told, audit } = this.#means;
    if (typeof found.by !== 'string') {
      if (this.#resolved.has(operation.operationId)) return;
      remember(this.#resolved, operation.operationId);
    }
    told.found(operation, found);
    // What a start finds is told from what the chain lacks: left-open.ts.
    if (found.by !== 'start') audit.tell(foundRecord(operation, found));
  }

  /** The server's own word about a request at its end: what no other record speaks of gets one. */
  served({ method, requestId, durationMs, error, code }: ServedCallEnd): void {
    if (this.#recorded.delete(requestId)) return;
    const word = error?.reason ?? (code === 0 ? 'OK' : 'CANCELLED');
    this.#means.audit.tellOften(method, word, () => ({
      record: 'request',
      method,
      code: word,
      request_id: requestId,
      duration_ms: Math.round(durationMs),
    }));
  }

  /** Turned away before it was a request: a flood, a stream that breaks the rules. */
  turnedAway(event: string): void {
    this.#means.audit.count('stream', event);
  }
}

/** The newest; those of calls under way are among them. */
function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > limits.callsInFlightMax * REMEMBERED && oldest !== undefined) ids.delete(oldest);
}

/** Ids remembered for each call that there may be. */
const REMEMBERED = 4;
