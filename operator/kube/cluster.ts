/**
 * All a replica knows of the cluster: one cache a kind, kept by informers. The only thing controllers, webhooks and the control
 * service read; what they decide goes back as objects through the API server.
 */
import { Cache } from './cache.ts';
import type { AccountRecord, ApprovalRecord, BindingRecord, ContractRecord, NamespaceRecord, PodRecord, SessionRecord } from './records.ts';

export interface Cluster {
  /** Indexes: `namespace`; `caller` (`namespace/account`); `credential` (`namespace/binding`). */
  readonly contracts: Cache<ContractRecord>;
  /** Indexes: `namespace`; `secret` (`namespace/secret`). */
  readonly bindings: Cache<BindingRecord>;
  /** Indexes: `account` (`namespace/account`); `pod` (UID). */
  readonly sessions: Cache<SessionRecord>;
  /** Indexes: `account` (`namespace/account`); `session` (UID of the one that asks); `contract` (`namespace/contract`). */
  readonly approvals: Cache<ApprovalRecord>;
  readonly namespaces: Cache<NamespaceRecord>;
  readonly accounts: Cache<AccountRecord>;
  /** Indexes: `namespace`; `account` (`namespace/account`); `secret` (`namespace/secret`, mounted in the sidecar). */
  readonly pods: Cache<PodRecord>;
}

export function emptyCluster(): Cluster {
  const namespace = (record: { namespace: string }) => [record.namespace];
  const within = (record: { namespace: string }, names: readonly string[]) => names.map((name) => `${record.namespace}/${name}`);
  return {
    contracts: new Cache<ContractRecord>({ namespace, caller: (c) => within(c, c.callers), credential: (c) => within(c, c.credentials) }),
    bindings: new Cache<BindingRecord>({ namespace, secret: (b) => within(b, [b.secret]) }),
    sessions: new Cache<SessionRecord>({ account: (s) => within(s, [s.spec.serviceAccount]), pod: (s) => [s.spec.pod.uid] }),
    approvals: new Cache<ApprovalRecord>({
      account: (a) => within(a, [a.spec.serviceAccount]),
      session: (a) => (a.spec.session === undefined ? [] : [a.spec.session.uid]),
      contract: (a) => within(a, [a.spec.contract]),
    }),
    namespaces: new Cache(),
    accounts: new Cache(),
    pods: new Cache<PodRecord>({ namespace, account: (p) => within(p, [p.serviceAccount]), secret: (p) => within(p, p.mountedSecrets) }),
  };
}
