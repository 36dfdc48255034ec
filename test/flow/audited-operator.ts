/**
 * An operator for the audit of one sidecar: a real gRPC stream, the real exchange of operator/control behind it, a real S3 server behind
 * that. Effects are admitted without a question; what becomes of the status is in memory.
 */
import type { SecureContext } from 'node:tls';
import { create } from '@bufbuild/protobuf';
import { makeSigningKey, type SigningKey } from '#core/audit/signed-note.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { AuditExchange } from '#operator/control/audit-exchange.ts';
import { auditMeans } from '#operator/control/audit-means.ts';
import { isAudit } from '#operator/control/audit-messages.ts';
import type { StreamStatus } from '#operator/control/session-status.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import type { StoreWatch } from '#operator/witness/store-watch.ts';
import { ConnectResponseSchema } from '#proto/postern/control/v1/control_pb.ts';
import { type bundleOf, type Conversation, type FakeOperator, startFakeOperator } from '#test/fakes/operator.ts';

export const CLUSTER = 'flow-cluster';
export const POD_UID = '6f2d4c0e-0000-4000-8000-000000000001';

export interface AuditedOperatorOptions {
  readonly certificate: SecureContext;
  readonly bundle: ReturnType<typeof bundleOf>;
  readonly recipients: readonly string[];
  readonly watch: StoreWatch | undefined;
  /** To go on with what another replica wrote. */
  readonly before?: AuditedOperator;
  readonly port?: number;
}

export interface AuditedOperator extends AsyncDisposable {
  readonly fake: FakeOperator;
  readonly key: SigningKey;
  readonly session: SessionRecord;
  readonly status: StreamStatus;
}

export async function startAuditedOperator(options: AuditedOperatorOptions): Promise<AuditedOperator> {
  const { certificate, bundle, recipients, watch, before, port } = options;
  const key = before?.key ?? makeSigningKey(`postern.dev/authority/${CLUSTER}`);
  const means = auditMeans({
    clock: systemClock,
    cluster: CLUSTER,
    terms: { recipients, effects: 'Acknowledged' },
    watch,
    authority: () => key,
  });
  const spec = { serviceAccount: 'agent', pod: { name: 'agent-1', uid: POD_UID } };
  const session =
    before?.session ??
    ({
      namespace: 'flow',
      name: 'agent-1',
      uid: 'uid-of-session',
      createdMs: Date.now(),
      spec,
      status: undefined,
    } as unknown as SessionRecord);
  let status: StreamStatus = before?.status ?? {};
  let exchange: AuditExchange | undefined;
  const drain = () => {
    const told = [];
    for (let next = exchange?.next(); next !== undefined; next = exchange?.next())
      told.push(create(ConnectResponseSchema, { message: next }).message);
    return told;
  };
  const send = (message: Parameters<Conversation['send']>[0]) =>
    void fake.streams
      .at(-1)
      ?.send(message)
      .catch(() => undefined);
  const fake = await startFakeOperator({
    certificate,
    ...(port === undefined ? {} : { port }),
    welcome: { case: 'welcome', value: { session: 'agent-1', namespace: 'flow', protocol: 3, heartbeatMs: 1_000n } },
    greeting: () => {
      exchange?.stop();
      exchange = new AuditExchange(means, {
        session,
        get status() {
          return status;
        },
        change: (update) => {
          status = update(status, Date.now());
        },
        written: async () => {},
        wake: () =>
          setImmediate(() => {
            for (const told of drain()) send(told);
          }),
      });
      const requester = { session: 'agent-1', serviceAccount: 'agent', pod: 'agent-1', image: 'agent', controller: '' };
      return [...drain(), { case: 'requester', value: requester }, bundle];
    },
    onSaid: (said) => {
      if (isAudit(said)) exchange?.take(said);
      else if (said.case === 'intent' && said.value.plan !== undefined)
        send({ case: 'verdict', value: { operationId: said.value.plan.operationId, verdict: { case: 'admitted', value: {} } } });
      else if (said.case === 'settled') send({ case: 'kept', value: { operationId: said.value.operationId } });
    },
  });
  return {
    fake,
    key,
    session,
    get status() {
      return status;
    },
    [Symbol.asyncDispose]: async () => {
      exchange?.stop();
      await fake[Symbol.asyncDispose]();
    },
  };
}
