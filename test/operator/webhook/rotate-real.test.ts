/**
 * Goal: neither a new leaf nor a new CA fails one admission (INJ-04), and our CA stays in the webhook configurations whatever others do
 * to it (INJ-05, INJ-06). Method: two replicas behind one address, the webhook failing closed, and pods created without a pause; the
 * replicas get each change of the Secret one after the other, as two kubelets bring it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { rotateAuthority } from '#operator/certificate/authority-secret.ts';
import { certificatesIn } from '#operator/certificate/ca-bundle-contest.ts';
import { until } from '#test/operator/kube/fast-clock.ts';
import { unavailable } from '#test/servers/build.ts';
import {
  CONFIGURATIONS,
  changeWebhook,
  createNamespace,
  expectStatus,
  knowNamespace,
  startWebhookRig,
  type WebhookRig,
} from './webhook-rig.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

interface Configuration {
  readonly metadata: { readonly managedFields: readonly { readonly manager: string; readonly fieldsV1: object }[] };
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

const MUTATING = `${CONFIGURATIONS}/mutatingwebhookconfigurations/postern`;
const where = 'triage';
/** The replicas start this long ago, so that their leaves are due for renewal when it becomes 0. */
let behindMs = 13 * 3_600_000;
let rig: WebhookRig;

before(async () => {
  if (skip) return;
  rig = await startWebhookRig({ replicas: 2, clock: { ...systemClock, wallMs: () => Date.now() - behindMs } });
  await createNamespace(rig.kube, where, { 'postern.dev/enforce': '' });
  knowNamespace(rig, where);
});
after(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const pod = {
  metadata: { generateName: 'agent-' },
  spec: { serviceAccountName: 'triage-bot', containers: [{ name: 'agent', image: 'agent:1' }] },
};

interface Created {
  readonly message?: string;
  readonly spec?: { readonly initContainers?: readonly { readonly args: readonly string[] }[] };
}

/** Creates pods without a pause, several at once; a dry run asks every webhook and keeps nothing. */
function startStream() {
  const state = { created: 0, failures: [] as unknown[], pins: new Map<string, number>(), stop: false };
  const one = async () => {
    while (!state.stop) {
      const { status, body } = await rig.kube.request<Created>('POST', `/api/v1/namespaces/${where}/pods?dryRun=All`, pod);
      const pin = body.spec?.initContainers?.[0]?.args[2];
      if (status !== 201 || pin === undefined) state.failures.push({ status, message: body.message });
      else {
        state.created += 1;
        state.pins.set(pin, (state.pins.get(pin) ?? 0) + 1);
      }
    }
  };
  const running = Promise.all(Array.from({ length: 6 }, one));
  return {
    state,
    /** Until so many more were made. */
    async more(count: number) {
      const goal = state.created + count;
      await until(() => state.created >= goal || state.failures.length > 0, `${count} more pods`, 60_000);
      assert.deepEqual(state.failures, []);
    },
    async end() {
      state.stop = true;
      await running;
    },
  };
}

const bundles = async () => {
  const { body } = await rig.kube.request<Configuration>('GET', MUTATING);
  return body.webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString());
};

/** A new address makes the API server forget its connections: every admission after it begins with a handshake. */
async function freshConnections(): Promise<void> {
  const [bundle = ''] = await bundles();
  const url = `https://localhost:${await rig.front()}/mutate/pods`;
  await changeWebhook(rig.kube, { clientConfig: { url, caBundle: Buffer.from(bundle).toString('base64') } });
}

const at = (aheadMs: number) => ({ ...rig.place, clock: { ...systemClock, wallMs: () => Date.now() + aheadMs } });
const MINUTES = 60_000;

test('rotation: a renewed leaf and a new CA in three steps fail no admission (INJ-04)', { skip }, async (t) => {
  await changeWebhook(rig.kube, { failurePolicy: 'Fail' });
  await until(async () => {
    const answer = await rig.kube.request<Created>('POST', `/api/v1/namespaces/${where}/pods?dryRun=All`, pod);
    return answer.status === 201 && answer.body.spec?.initContainers !== undefined;
  }, 'the API server trusts us');
  const stream = startStream();
  const startMs = performance.now();
  const oldPin = rig.pin;
  const [one, two] = rig.replicas;
  assert.ok(one !== undefined && two !== undefined);
  const options = { atOnce: false, abandon: false };
  try {
    await stream.more(50);

    const leaves = () => rig.replicas.map(({ certificates }) => certificates.identity.certificatePem);
    const before = leaves();
    behindMs = 0;
    for (const { certificates } of rig.replicas) await certificates.check();
    for (const [index, leaf] of leaves().entries()) assert.notEqual(leaf, before[index]);
    await freshConnections();
    await stream.more(50);

    await rotateAuthority({ ...at(0), ...options, stage: 'next' });
    await assert.rejects(rotateAuthority({ ...at(10 * MINUTES), ...options, stage: 'switch' }), /do not trust the next CA yet/);
    await one.sync();
    await rig.bundle.check();
    assert.equal(certificatesIn((await bundles())[0] ?? '').length, 2);
    await stream.more(50);
    await two.sync();
    await stream.more(50);

    await assert.rejects(rotateAuthority({ ...at(MINUTES), ...options, stage: 'switch' }), /due in [0-9]+ minutes/);
    await rotateAuthority({ ...at(10 * MINUTES), ...options, stage: 'switch' });
    await one.sync();
    await rig.bundle.check();
    await freshConnections();
    await stream.more(100); // one replica shows the new CA, the other the old one
    await two.sync();
    await freshConnections();
    await stream.more(50);

    await assert.rejects(rotateAuthority({ ...at(20 * MINUTES), ...options, stage: 'drop' }), /due in [0-9]+ minutes/);
    await rotateAuthority({ ...at(25 * 60 * MINUTES), ...options, stage: 'drop' });
    await one.sync();
    await rig.bundle.check();
    assert.equal(certificatesIn((await bundles())[0] ?? '').length, 1);
    await freshConnections();
    await stream.more(50);
    await two.sync();
    await stream.more(50);
  } finally {
    await stream.end();
  }
  assert.deepEqual(stream.state.failures, []);
  assert.deepEqual(rig.faults, []);
  assert.notEqual(rig.pin, oldPin);
  assert.deepEqual([...stream.state.pins.keys()].sort(), [`--control-pin=${oldPin}`, `--control-pin=${rig.pin}`].sort());
  const seconds = (performance.now() - startMs) / 1_000;
  t.diagnostic(`${stream.state.created} pods in ${seconds.toFixed(1)} s, 0 failed`);
});

test('caBundle: a re-apply that blanks it is answered at the next look (INJ-06)', { skip }, async () => {
  const [wanted] = await bundles();
  await changeWebhook(rig.kube, { clientConfig: { url: `https://localhost:${await rig.front()}/mutate/pods` } });
  assert.deepEqual(await bundles(), ['']);
  const stop = new AbortController();
  const running = rig.bundle.run(stop.signal);
  const startMs = performance.now();
  await until(async () => (await bundles())[0] === wanted, 'the CA is back');
  stop.abort();
  await running;
  assert.ok(performance.now() - startMs < 30_000);
});

test('caBundle: the operator owns that field alone, so that a diff of the chart stays empty (INJ-06)', { skip }, async () => {
  const { body } = await rig.kube.request<Configuration>('GET', MUTATING);
  const ours = body.metadata.managedFields.find(({ manager }) => manager === 'postern-operator');
  assert.deepEqual(ours?.fieldsV1, {
    'f:webhooks': { 'k:{"name":"pods.postern.dev"}': { '.': {}, 'f:clientConfig': { 'f:caBundle': {} }, 'f:name': {} } },
  });
});

test('caBundle: a second writer is named and not fought with (INJ-05)', { skip }, async () => {
  const theirs = Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString('base64');
  const apply = () =>
    rig.place.client.apply(
      {
        group: 'admissionregistration.k8s.io',
        version: 'v1',
        plural: 'mutatingwebhookconfigurations',
        kind: 'MutatingWebhookConfiguration',
        namespaced: false,
      },
      { metadata: { name: 'postern' }, webhooks: [{ name: 'pods.postern.dev', clientConfig: { caBundle: theirs } }] } as never,
      { manager: 'cert-manager-cainjector', force: true },
    );
  rig.reports.length = 0;
  for (let round = 0; round < 12; round += 1) {
    await apply();
    await rig.bundle.check();
  }
  const written = rig.reports.filter(({ event }) => event === 'written');
  assert.ok(written.length <= 3, `${written.length} times in 12 rounds`);
  const contested = rig.reports.filter((report) => report.event === 'contested');
  assert.equal(contested.length, 1);
  assert.deepEqual(contested[0]?.event === 'contested' && contested[0].owners, ['cert-manager-cainjector']);
  assert.deepEqual(rig.bundle.contested, ['MutatingWebhookConfiguration']);
  assert.deepEqual(
    rig.reports.filter(({ event }) => event === 'failed'),
    [],
  );
});

test('caBundle: without the chart nothing is written and nothing fails', { skip }, async () => {
  for (const kind of ['mutating', 'validating']) {
    expectStatus(await rig.kube.request('DELETE', `${CONFIGURATIONS}/${kind}webhookconfigurations/postern`), 200);
  }
  rig.reports.length = 0;
  await rig.bundle.check();
  assert.deepEqual(rig.reports, []);
  expectStatus(await rig.kube.request('GET', MUTATING), 404);
});
