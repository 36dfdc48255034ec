/** The operator's end of the audit, without servers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { makeSigningKey } from '#core/audit/signed-note.ts';
import { limits } from '#core/bounds/limits.ts';
import { AuditExchange } from '#operator/control/audit-exchange.ts';
import { auditMeans } from '#operator/control/audit-means.ts';
import type { StreamStatus } from '#operator/control/session-status.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { AuditIntentSchema } from '#proto/postern/control/v1/control_pb.ts';
import { HandClock } from '#test/sidecar/approval/hand-clock.ts';

test('audit exchange: a sidecar that asks at the permitted pace and hardly reads loses its stream, and fills no memory (GRPC-06)', async () => {
  const clock = new HandClock();
  const authority = makeSigningKey('postern.dev/authority/cluster');
  const terms = { recipients: [], effects: 'Local' } as const;
  const means = auditMeans({ clock, cluster: 'cluster', terms, watch: undefined, authority: () => authority });
  const session = { namespace: 'agents', uid: 'uid', spec: { pod: { uid: 'pod' } }, createdMs: 0 } as unknown as SessionRecord;
  const status: StreamStatus = {};
  const stream = { session, status, change: () => {}, written: () => Promise.resolve(), wake: () => {} };
  const exchange = new AuditExchange(means, stream);
  const value = create(AuditIntentSchema, { sequence: 1n, frame: new Uint8Array(1) });
  let sent = 0;
  const flood = async () => {
    for (; sent < 10 * limits.auditAnswersUnreadMax; sent += 1) {
      clock.pass(1_000 / limits.auditMessagesPerSecond);
      exchange.take({ case: 'auditIntent', value });
      await Promise.resolve();
    }
  };
  await assert.rejects(flood(), { code: 'READER_TOO_SLOW' });
  assert.ok(sent <= limits.auditAnswersUnreadMax + limits.auditIntentsWaitingMax);
});
