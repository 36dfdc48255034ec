/** What waits for a person, by namespace, for the metrics page. */
import type { WaitingInNamespace } from '#core/runtime/operator-metrics.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { isQuestion, isWaiting } from './standing.ts';

/** One for each namespace that has approvals, also when none waits. */
export function waitingByNamespace({ approvals }: Pick<Cluster, 'approvals'>, nowMs: number): readonly WaitingInNamespace[] {
  const found = Map.groupBy(approvals.values(), ({ namespace }) => namespace);
  return [...found].map(([namespace, all]) => {
    const open = all.filter((approval) => isWaiting(approval, nowMs));
    const calls = open.filter(isQuestion);
    const oldestMs = Math.max(0, ...calls.map(({ createdMs }) => nowMs - createdMs));
    return { namespace, waiting: calls.length, oldestMs, unknown: open.length - calls.length };
  });
}
