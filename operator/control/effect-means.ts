/** What the effects of all streams of a replica have in common, from the parts that decide; and whom a change of an approval concerns. */
import { ApprovalRegister } from '#operator/approval/register.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ApprovalRecord } from '#operator/kube/records.ts';
import { standingOf } from './bundle.ts';
import type { ExchangeMeans } from './effect-exchange.ts';
import type { ControlOptions } from './service.ts';

export function effectMeans({ kube, cluster, clock, observer, serverNowMs = () => clock.wallMs() }: ControlOptions): ExchangeMeans {
  return {
    clock,
    serverNowMs,
    register: new ApprovalRegister({
      kube,
      cluster,
      clock,
      serverNowMs,
      contractOf: (namespace, account, name) => {
        const contract = cluster.contracts.get(keyOf({ namespace, name }));
        return contract?.callers.includes(account) && standingOf(contract, account) === 'served' ? contract : undefined;
      },
      onRefused: (what, because) => observer?.effectRefused?.(what, because),
    }),
    approvalOf: (namespace, name) => cluster.approvals.get(keyOf({ namespace, name })),
    onSettleFailed: (session, error) => observer?.writeFailed?.(keyOf(session), error),
  };
}

/** Sessions, as keys: the one that asked, and for what a person found out all of the account. */
export function sessionsConcerned({ sessions }: Pick<Cluster, 'sessions'>, { namespace, spec }: ApprovalRecord): readonly Key[] {
  if (spec.purpose === 'Resolve') return sessions.by('account', keyOf({ namespace, name: spec.serviceAccount })).map(keyOf);
  return spec.session === undefined ? [] : [keyOf({ namespace, name: spec.session.name })];
}
