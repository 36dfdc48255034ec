import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { OperatorMetrics } from '#core/runtime/operator-metrics.ts';
import { createAuthority } from '#operator/certificate/issue.ts';
import { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import { connectionTo } from '#operator/kube/connect.ts';
import { LEASE, Leader } from '#operator/leader.ts';
import { openAudit } from '#operator/open-audit.ts';
import { readOperatorSettings } from '#operator/settings.ts';
import { unavailable } from '#test/servers/build.ts';
import { startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { mountedAuthority } from './certificate/mounted-authority.ts';
import { accessTo } from './kube/real-access.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

test('leader: a lease that was taken away is a warning, one that is given away at the stop is not', { skip }, async () => {
  await using api = await startKubeApiserver();
  const ca = await createAuthority(Date.now());
  await using authority = await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem });
  const read = readOperatorSettings({
    POSTERN_NAMESPACE: 'default',
    POSTERN_SERVICE_ACCOUNT: 'postern-operator',
    POSTERN_REPLICA: 'postern-operator-0',
    POSTERN_SERVICE: 'postern-operator',
    POSTERN_SIDECAR_IMAGE: `registry.example.com/postern@sha256:${'a'.repeat(64)}`,
    POSTERN_AUTHORITY: authority.folder,
  });
  assert.ok(read.ok);
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk, _, done) => {
      const { level, message } = JSON.parse(String(chunk));
      if (/\blead/.test(message)) lines.push(`${level} ${message}`);
      done();
    },
  });
  const connection = connectionTo(accessTo(api));
  const means = {
    settings: read.settings,
    cluster: emptyCluster(),
    certificates: await ServingCertificates.open({
      folder: authority.folder,
      hosts: ['localhost'],
      clock: systemClock,
      onProblem: () => {},
    }),
    clock: systemClock,
    log: createLog({ level: 'info', destination }),
    metrics: new OperatorMetrics(systemClock),
  };
  const leader = new Leader({ ...means, connection, audit: await openAudit({ ...means, env: {} }) }, {});
  leader.start();
  await until(() => leader.isLeading);
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${LEASE}`;
  await api.request('PATCH', path, { spec: { holderIdentity: 'another', leaseDurationSeconds: 1 } });
  await until(() => lines.length === 3);
  await leader.stop();
  await connection.close();
  assert.deepEqual(lines, [
    'info this replica leads',
    'warn this replica no longer leads',
    'info this replica leads',
    'info this replica gives the lead away',
  ]);
});
