/** Who is told of calls, of questions and of the session: the log and the numbers, and the audit. */
import type { SessionRecord } from '#core/audit/record.ts';
import type { Log } from '#core/runtime/log.ts';
import type { SidecarMetrics } from '#core/runtime/metrics.ts';
import type { QuestionWatch } from '#sidecar/approval/watched-decider.ts';
import type { AuditRecorder } from '#sidecar/audit/recorder.ts';
import { AuditedRecorder } from '#sidecar/call/audited-recorder.ts';
import { askedRecord, decidedRecord } from '#sidecar/call/call-records.ts';
import { RequestLog } from '#sidecar/call/request-log.ts';
import type { Configuration } from '#sidecar/configuration.ts';
import type { SessionEvents } from '#sidecar/session-events.ts';

export interface RecordMeans {
  readonly log: Log;
  readonly metrics: SidecarMetrics;
  readonly events: SessionEvents;
  readonly configuration: Configuration;
  readonly audit: AuditRecorder;
  readonly version: string;
}

export interface RecordedCalls {
  readonly recorder: AuditedRecorder;
  /** Says once more who this is and what is served: what was said while nothing was recorded is not in the chain. */
  sayAgain(): void;
}

/** The first record of the process is written here. */
export function recordCalls({ log, metrics, events, configuration, audit, version }: RecordMeans): RecordedCalls {
  const started = { record: 'session', event: 'started', version, operator: configuration.decider !== undefined } as const;
  let isStartTold = !audit.isOff;
  audit.tell(started);
  let known = '';
  events.listen((event) => {
    const requester = requesterRecord(configuration);
    const text = JSON.stringify(requester);
    if (requester !== undefined && text !== known) audit.tell(requester);
    known = text ?? known;
    audit.tell(event);
  });
  const masked = (text: string) => configuration.bundle()?.actions()[0]?.masked?.(text) ?? text;
  return {
    recorder: new AuditedRecorder({ told: new RequestLog(log, metrics), audit, masked }),
    sayAgain: () => {
      known = '';
      // Once a process, so that starts can be counted.
      if (!isStartTold) audit.tell(started);
      isStartTold = true;
      events.tellAgain();
    },
  };
}

function requesterRecord({ decider }: Configuration): SessionRecord | undefined {
  try {
    const requester = decider?.requester();
    if (requester?.kind !== 'pod') return undefined;
    const { session, pod, serviceAccount, image, controller } = requester;
    return { record: 'session', event: 'requester', session, pod, service_account: serviceAccount, image, controller };
  } catch {
    // The operator has not said so yet; it has by the next bundle.
    return undefined;
  }
}

export function questionWatch(audit: AuditRecorder): QuestionWatch {
  return {
    asked: (question) => audit.tell(askedRecord(question)),
    ended: (name, state, operationId) => audit.tell(decidedRecord(name, state, operationId)),
    used: ({ approval, operationId, action, contract, revision, argsDigest, planDigest }) => {
      if (approval === undefined) return;
      audit.tell({
        record: 'approval',
        event: 'used',
        approval,
        operation_id: operationId,
        action,
        contract,
        revision,
        plan_digest: planDigest,
        arguments_digest: argsDigest,
      });
    },
  };
}
