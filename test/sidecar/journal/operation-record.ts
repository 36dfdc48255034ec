/** A plan as the journal takes it. */
import type { OperationRecord } from '#sidecar/journal/entry.ts';

export function operation(operationId: string, changes: Partial<OperationRecord> = {}): OperationRecord {
  return {
    operationId,
    requestId: 'req_1',
    action: 'restart_service',
    contract: 'restart-service',
    revision: 'sha256:1',
    argsDigest: `sha256:args-${operationId}`,
    planDigest: `sha256:plan-${operationId}`,
    effect: 'Write',
    idempotency: 'None',
    plannedAtMs: 0,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    plan: { service: 'api' },
    ...changes,
  };
}
