import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifierText } from '#core/audit/signed-note.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { OperatorMetrics } from '#core/runtime/operator-metrics.ts';
import { createAuthority } from '#operator/certificate/issue.ts';
import { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import { type OpenAudit, openAudit } from '#operator/open-audit.ts';
import { readOperatorSettings } from '#operator/settings.ts';
import { StartRefused } from '#operator/start-refused.ts';
import { mountedAuthority } from './certificate/mounted-authority.ts';

const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const STORE = 's3://audit/postern?region=eu-central-1';
const env = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };

function settingsOf(change: Readonly<Record<string, string>>) {
  return readOperatorSettings({
    POSTERN_NAMESPACE: 'postern',
    POSTERN_SERVICE_ACCOUNT: 'postern-operator',
    POSTERN_REPLICA: 'postern-operator-0',
    POSTERN_SERVICE: 'postern-operator',
    POSTERN_SIDECAR_IMAGE: `registry.example.com/postern@sha256:${'a'.repeat(64)}`,
    ...change,
  });
}

async function opened(change: Readonly<Record<string, string>>): Promise<OpenAudit> {
  const read = settingsOf(change);
  assert.ok(read.ok, JSON.stringify(read));
  const ca = await createAuthority(Date.now());
  await using authority = await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem });
  const certificates = await ServingCertificates.open({ folder: authority.folder, hosts: ['localhost'], clock: systemClock });
  const log = createLog({ level: 'silent' });
  const common = { settings: read.settings, cluster: emptyCluster(), certificates, clock: systemClock, log };
  // Awaited here: the folder goes with this scope.
  return await openAudit({ ...common, metrics: new OperatorMetrics(systemClock), env });
}

test('audit of the operator: without recipients nothing is recorded, and no store is opened even where one is named', async () => {
  const { options, headsObjects } = await opened({ POSTERN_AUDIT_STORE: STORE });
  assert.deepEqual(options.terms.recipients, []);
  assert.equal(options.watch, undefined);
  assert.equal(headsObjects(), undefined);
});

test('audit of the operator: recipients, store and retention are taken as the chart says them, and the authority bears the name of the cluster', async () => {
  const audit = await opened({
    POSTERN_CLUSTER: 'west',
    POSTERN_AUDIT_RECIPIENTS: RECIPIENT,
    POSTERN_AUDIT_STORE: STORE,
    POSTERN_AUDIT_RETENTION: 'COMPLIANCE:400',
    POSTERN_AUDIT_MODE: 'Local',
  });
  const { terms, watch, cluster, authority } = audit.options;
  assert.deepEqual({ terms, cluster }, { terms: { recipients: [RECIPIENT], effects: 'Local' }, cluster: 'west' });
  assert.match(watch?.store.address ?? '', /retention=COMPLIANCE%3A400/);
  assert.equal(watch?.state, 'unprobed', 'nothing is stored before it was tried');
  assert.match(verifierText(authority()), /^postern\.dev\/authority\/west\+/);
  await audit.close();
});

test('audit of the operator: what cannot be meant stops the start, with the cure', async () => {
  for (const [change, message] of [
    [{ POSTERN_AUDIT_RECIPIENTS: `age1${'q'.repeat(58)}` }, /recipient/i],
    [{ POSTERN_AUDIT_RECIPIENTS: RECIPIENT, POSTERN_AUDIT_STORE: 's3://x/y' }, /address of the store/],
    [{ POSTERN_AUDIT_RECIPIENTS: RECIPIENT, POSTERN_AUDIT_STORE: `${STORE}&retenton=1` }, /address of the store/],
    [
      {
        POSTERN_AUDIT_RECIPIENTS: RECIPIENT,
        POSTERN_AUDIT_STORE: `${STORE}&retention=GOVERNANCE:1`,
        POSTERN_AUDIT_RETENTION: 'GOVERNANCE:2',
      },
      /twice/,
    ],
  ] as const)
    await assert.rejects(
      opened(change),
      (error) => error instanceof StartRefused && message.test(error.message) && /audit\./.test(error.cure),
    );
  for (const change of [
    { POSTERN_AUDIT_STORE: 'file:///audit' },
    { POSTERN_CLUSTER: 'standalone' },
    { POSTERN_AUDIT_RECIPIENTS: 'ssh-ed25519' },
  ])
    assert.ok(!settingsOf(change).ok);
});
