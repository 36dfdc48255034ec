/** The operator's end of the audit, without servers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { epochKeyName } from '#core/audit/checkpoint.ts';
import { makeSigningKey, verifierText } from '#core/audit/signed-note.ts';
import { limits } from '#core/bounds/limits.ts';
import { AuditExchange } from '#operator/control/audit-exchange.ts';
import { auditMeans } from '#operator/control/audit-means.ts';
import { certified } from '#operator/control/audit-status.ts';
import type { StreamStatus } from '#operator/control/session-status.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { chainOrigin } from '#operator/witness/authority.ts';
import { AuditEpochSchema, AuditIntentSchema } from '#proto/postern/control/v1/control_pb.ts';
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
    for (; sent < 10 * limits.controlAnswersUnreadMax; sent += 1) {
      clock.pass(1_000 / limits.auditMessagesPerSecond);
      exchange.take({ case: 'auditIntent', value });
      await Promise.resolve();
    }
  };
  await assert.rejects(flood(), { code: 'READER_TOO_SLOW' });
  assert.ok(sent <= limits.controlAnswersUnreadMax + limits.auditIntentsWaitingMax);
});

test('audit exchange: a key is not certified where another replica has written one for that epoch first (AUD-04)', async () => {
  const authority = makeSigningKey('postern.dev/authority/cluster');
  const terms = { recipients: [], effects: 'Local' } as const;
  const means = auditMeans({ clock: new HandClock(), cluster: 'cluster', terms, watch: undefined, authority: () => authority });
  const session = { namespace: 'agents', uid: 'uid', spec: { pod: { uid: 'pod' } }, createdMs: 0 } as unknown as SessionRecord;
  const name = epochKeyName(chainOrigin('cluster', 'agents', 'pod'), 2);
  const [first, second] = [verifierText(makeSigningKey(name)), verifierText(makeSigningKey(name))];
  let status: StreamStatus = {};
  const stream = {
    session,
    get status() {
      return status;
    },
    change: () => {},
    written: async () => {
      status = certified(status, { epoch: 2, key: first });
    },
    wake: () => {},
  };
  const exchange = new AuditExchange(means, stream);
  exchange.next();
  exchange.take({ case: 'auditEpoch', value: create(AuditEpochSchema, { epoch: 2, key: second }) });
  await setImmediate();
  const told = exchange.next();
  assert.ok(told?.case === 'auditCertificate');
  assert.equal(told.value.note ?? '', '');
  assert.match(told.value.refused?.message ?? '', /certified with another key/);
});
