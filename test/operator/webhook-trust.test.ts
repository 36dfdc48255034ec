/**
 * Goal: somebody else who writes the CA into our webhook configurations is seen by people (INJ-05). Method: the whole operator, with the
 * rights of the chart, on a real API server; cert-manager's part is played.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RunningOperator } from '#operator/main.ts';
import { unavailable } from '#test/servers/build.ts';
import { OperatorRig } from './operator-rig.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const PATH = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/postern';
let rig: OperatorRig;
let operator: RunningOperator;

before(async () => {
  if (skip) return;
  rig = await OperatorRig.start();
  const webhook = {
    name: 'pods.postern.dev',
    // Nobody is asked: only the field matters here.
    namespaceSelector: { matchLabels: { 'test.postern.dev/none': 'true' } },
    clientConfig: { url: 'https://localhost:9/mutate/pods' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
  };
  await rig.call('POST', PATH.slice(0, PATH.lastIndexOf('/')), { metadata: { name: 'postern' }, webhooks: [webhook] });
  operator = await rig.replica();
});
after(() => rig?.[Symbol.asyncDispose]());

interface Configuration {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}
interface Events {
  readonly items: readonly { readonly reason: string; readonly note: string; readonly regarding: object }[];
}

const page = async () => (await fetch(`http://127.0.0.1:${operator.adminPort}/metrics`)).text();
const bundle = async () => {
  const configuration = await rig.call<Configuration>('GET', PATH);
  return { configuration, found: configuration.webhooks[0]?.clientConfig.caBundle };
};

test('webhook trust: one writer is no contest', { skip }, async () => {
  await until(async () => (await bundle()).found !== undefined);
  assert.match(await page(), /^postern_operator_ca_bundle_contested_state\{configuration="MutatingWebhookConfiguration"\} 0$/m);
});

test('webhook trust: a second writer is told in an Event that names the object, and on the metrics page (INJ-05)', { skip }, async () => {
  const theirs = Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString('base64');
  const contested = /^postern_operator_ca_bundle_contested_state\{configuration="MutatingWebhookConfiguration"\} 1$/m;
  await until(async () => {
    const { configuration, found } = await bundle();
    if (found !== theirs) {
      const webhooks = configuration.webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: { ...webhook.clientConfig, caBundle: theirs },
      }));
      // The operator may have written in between.
      await rig.api.request('PUT', PATH, { ...configuration, webhooks });
    }
    return contested.test(await page());
  });
  assert.match(await page(), /^postern_operator_ca_bundle_contested_state\{configuration="ValidatingWebhookConfiguration"\} 0$/m);
  let event: Events['items'][number] | undefined;
  await until(async () => {
    const { items } = await rig.call<Events>('GET', '/apis/events.k8s.io/v1/namespaces/default/events');
    event = items.find(({ reason }) => reason === 'CaBundleContested');
    return event !== undefined;
  });
  assert.match(event?.note ?? '', /keeps replacing webhooks\[\]\.clientConfig\.caBundle of MutatingWebhookConfiguration postern/);
  assert.partialDeepStrictEqual(event?.regarding, { kind: 'MutatingWebhookConfiguration', name: 'postern' });
});
