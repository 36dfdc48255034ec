/** Counts of objects for the metrics page, read from the caches when somebody asks. */
import { endOfDay } from '#core/bounds/calendar-day.ts';
import type { OperatorReadings } from '#core/runtime/operator-metrics.ts';
import { waitingByNamespace } from '#operator/approval/waiting.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ContractRecord } from '#operator/kube/records.ts';
import { contractsBehind } from '#operator/session/behind.ts';

type ObjectReadings = Pick<
  OperatorReadings,
  'sessions' | 'sessionsBehind' | 'contracts' | 'bindings' | 'declaredWarnings' | 'approvals' | 'auditSessions' | 'auditBroken'
>;

/** `isAsked`: only the leader counts objects, or every sum over replicas would count them twice. */
export function objectReadings(cluster: Cluster, isAsked: () => boolean, nowMs: () => number = Date.now): ObjectReadings {
  const none = { ready: 0, notReady: 0 };
  return {
    sessions: () => (isAsked() ? sessionsByState(cluster) : {}),
    sessionsBehind: () => (isAsked() ? sessionsBehind(cluster) : 0),
    contracts: () => (isAsked() ? readyAmong(cluster.contracts.values()) : none),
    bindings: () => (isAsked() ? readyAmong(cluster.bindings.values()) : none),
    auditSessions: () => (isAsked() ? sessionsByAudit(cluster) : {}),
    auditBroken: () => (isAsked() ? brokenByNamespace(cluster) : {}),
    approvals: () => (isAsked() ? waitingByNamespace(cluster, nowMs()) : []),
    declaredWarnings: () => (isAsked() ? [...cluster.contracts.values()].flatMap(warningsOf) : []),
  };
}

function sessionsByState(cluster: Pick<Cluster, 'sessions'>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { Pending: 0, Active: 0, Suspended: 0, Revoked: 0, Ended: 0 };
  for (const { status } of cluster.sessions.values()) {
    const state = status?.state ?? 'Pending';
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

function sessionsByAudit(cluster: Pick<Cluster, 'sessions'>): Readonly<Record<string, number>> {
  const counts = { off: 0, local: 0, shipped: 0 };
  for (const { status } of cluster.sessions.values()) {
    if (status?.state !== 'Ended') counts[AUDIT_MODES[status?.audit?.mode ?? 'Off']] += 1;
  }
  return counts;
}

const AUDIT_MODES = { Off: 'off', Local: 'local', Shipped: 'shipped' } as const;

/** Ended ones too: a chain does not mend by its pod's end. They go with their session, a day later. */
function brokenByNamespace(cluster: Pick<Cluster, 'sessions'>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { namespace, status } of cluster.sessions.values()) {
    counts[namespace] ??= 0;
    if (status?.audit?.conflict !== undefined) counts[namespace] += 1;
  }
  return counts;
}

/** Active sessions that lack the present revision of a contract they are to serve. */
export function sessionsBehind(cluster: Cluster): number {
  let count = 0;
  for (const session of cluster.sessions.values())
    if (session.status?.state === 'Active' && contractsBehind(session, cluster).length > 0) count += 1;
  return count;
}

interface Judged {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } | undefined;
}

function readyAmong(records: Iterable<Judged>): { readonly ready: number; readonly notReady: number } {
  let ready = 0;
  let all = 0;
  for (const { status } of records) {
    all += 1;
    if (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true) ready += 1;
  }
  return { ready, notReady: all - ready };
}

/** Parsed only where there may be some: of 10,000 contracts few declare one. */
function warningsOf({ namespace, name, specJson }: ContractRecord): ReturnType<OperatorReadings['declaredWarnings']> {
  if (!specJson.includes('"warnings":[{')) return [];
  const { warnings = [] } = JSON.parse(specJson) as { readonly warnings?: readonly Readonly<Record<string, string>>[] };
  return warnings.flatMap(({ code = '', owner = '', expires = '' }) => {
    const expiresMs = endOfDay(expires);
    return expiresMs === undefined ? [] : [{ namespace, contract: name, code, owner, expiresMs }];
  });
}
