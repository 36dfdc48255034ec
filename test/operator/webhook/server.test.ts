import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { Agent, Pool, request } from 'undici';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { createAuthority } from '#operator/certificate/issue.ts';
import { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import type { AdmissionAnswer, AdmissionRequest } from '#operator/webhook/admission-review.ts';
import { startWebhookServer, type Webhook } from '#operator/webhook/server.ts';
import { mountedAuthority } from '#test/operator/certificate/mounted-authority.ts';
import { fastClock, until } from '#test/operator/kube/fast-clock.ts';

const review = (more: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u-1', operation: 'CREATE', resource: { resource: 'pods' }, namespace: 'triage', object: { metadata: {} }, ...more },
});

interface Options {
  readonly answer?: Webhook['answer'];
  readonly ready?: boolean;
}

async function setUp({ answer = () => ({ allowed: true }), ready = true }: Options = {}) {
  const stack = new AsyncDisposableStack();
  const ca = await createAuthority(Date.now());
  const mounted = stack.use(await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem }));
  const certificates = await ServingCertificates.open({ folder: mounted.folder, hosts: ['localhost'], clock: systemClock });
  const seen: AdmissionRequest[] = [];
  const outcomes: string[] = [];
  const faults: unknown[] = [];
  const record = (request: AdmissionRequest) => {
    seen.push(request);
    return answer(request);
  };
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates,
    clock: fastClock(20),
    ready: () => ready,
    webhooks: [
      { name: 'pods', path: '/open', fails: 'open', answer: record },
      { name: 'contracts', path: '/closed', fails: 'closed', answer: record },
    ],
    onAnswer: (webhook, outcome) => outcomes.push(`${webhook} ${outcome}`),
    onFault: (_webhook, error) => faults.push(error),
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close();
    return closed;
  };
  stack.defer(close);
  const agent = new Agent({ connect: { ca: certificates.caBundle }, pipelining: 0 });
  stack.defer(() => agent.destroy());
  const origin = `https://localhost:${server.port}`;
  const post = async (path: string, body: unknown, type = 'application/json') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await request(`${origin}${path}`, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': type },
      body: text,
    });
    const answered = await response.body.text();
    return {
      status: response.statusCode,
      text: answered,
      response: response.statusCode === 200 ? JSON.parse(answered).response : undefined,
    };
  };
  return { ...{ post, seen, outcomes, faults, server, certificates, close, origin }, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('webhook server: an answer carries uid, patch and warnings', async () => {
  const patch = [{ op: 'add', path: '/spec/volumes', value: [] }];
  await using rig = await setUp({ answer: () => ({ allowed: true, patch, warnings: ['look'] }) });
  const { response } = await rig.post('/open', review());
  assert.deepEqual(response, {
    uid: 'u-1',
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    warnings: ['look'],
  });
  assert.deepEqual(rig.outcomes, ['pods allowed']);
});

test('webhook server: an empty patch is no patch', async () => {
  await using rig = await setUp({ answer: () => ({ allowed: true, patch: [] }) });
  assert.deepEqual((await rig.post('/open', review())).response, { uid: 'u-1', allowed: true });
});

test('webhook server: a refusal is a Status with our words, shown plainly', async () => {
  await using rig = await setUp({ answer: () => ({ allowed: false, message: 'spec.x: no\u202e.\nspec.y: no.' }) });
  assert.deepEqual((await rig.post('/closed', review())).response.status, {
    status: 'Failure',
    message: 'spec.x: no<U+202E>.\nspec.y: no.',
    reason: 'Forbidden',
    code: 403,
  });
  assert.deepEqual(rig.outcomes, ['contracts refused']);
});

test('webhook server: the request is read whole, and names that are none are empty', async () => {
  await using rig = await setUp();
  await rig.post('/open', review({ dryRun: true, subResource: 'status', namespace: '../x', oldObject: { metadata: null, spec: {} } }));
  assert.deepEqual(rig.seen[0], {
    uid: 'u-1',
    operation: 'CREATE',
    resource: 'pods',
    subresource: 'status',
    namespace: '',
    dryRun: true,
    object: { metadata: {} },
    oldObject: { metadata: {}, spec: {} },
  });
});

for (const [name, body] of [
  ['no JSON', '{'],
  ['another kind', { ...review(), kind: 'Pod' }],
  ['another version', { ...review(), apiVersion: 'admission.k8s.io/v1beta1' }],
  ['no request', { ...review(), request: null }],
  ['a uid with markup', review({ uid: '<script>' })],
  ['an operation nobody knows', review({ operation: 'PAINT' })],
  ['an object that is a list', review({ object: [] })],
  ['nothing', ''],
] as const) {
  test(`webhook server: ${name} is 400 in our own words, on any route`, async () => {
    await using rig = await setUp();
    for (const path of ['/open', '/closed']) {
      const { status, text } = await rig.post(path, body);
      assert.equal(status, 400);
      assert.match(text, /^(Send an|The body|request\.|bad request)/);
      assert.ok(!text.includes('script') && !text.includes('PAINT'));
    }
    assert.deepEqual(rig.seen, []);
  });
}

test('webhook server: a body over the limit, another type and another path are refused without being repeated', async () => {
  await using rig = await setUp();
  assert.equal((await rig.post('/open', JSON.stringify(review({ object: { metadata: {}, x: 'y'.repeat(9 * 1024 * 1024) } })))).status, 400);
  assert.deepEqual(await rig.post('/open', review(), 'text/plain'), { status: 400, text: 'bad request\n', response: undefined });
  assert.deepEqual(await rig.post('/secret-path', review()), { status: 404, text: 'not here\n', response: undefined });
  assert.deepEqual(rig.seen, []);
});

const late = (): Promise<AdmissionAnswer> => new Promise(() => undefined);
const fault = (): AdmissionAnswer => {
  throw new Error('canary-7f3a');
};

for (const [name, answer] of Object.entries({ 'never answers': late, throws: fault })) {
  test(`webhook server: a webhook that ${name} is an HTTP error where we fail open, a refusal where we fail closed (INJ-27)`, async () => {
    await using rig = await setUp({ answer });
    const open = await rig.post('/open', review());
    assert.equal(open.status, 500);
    const closed = await rig.post('/closed', review());
    assert.equal(closed.response.allowed, false);
    assert.match(closed.response.status.message, /could not decide/);
    assert.ok(!`${open.text}${closed.text}`.includes('canary-7f3a'));
    assert.equal(rig.faults.length, 2);
    assert.deepEqual(rig.outcomes, ['pods failed', 'contracts failed']);
  });
}

test('webhook server: before the caches hold the cluster, pods are the guards’ and contracts are asked to come again', async () => {
  await using rig = await setUp({ ready: false });
  assert.equal((await rig.post('/open', review())).status, 503);
  const { code, details } = (await rig.post('/closed', review())).response.status;
  assert.deepEqual([code, details], [429, { retryAfterSeconds: 2 }]);
  assert.deepEqual(rig.seen, []);
});

test('webhook server: what runs is answered when it stops, also on a connection that was open, and then nobody is let in', async () => {
  const gate = Promise.withResolvers<AdmissionAnswer>();
  let first = true;
  await using rig = await setUp({
    answer: () => {
      if (!first) return gate.promise;
      first = false;
      return { allowed: true };
    },
  });
  await using pool = disposable(new Pool(rig.origin, { connections: 1, connect: { ca: rig.certificates.caBundle } }));
  const post = () =>
    pool.request({ path: '/closed', method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(review()) });
  await (await post()).body.dump();
  const running = post();
  await until(() => rig.seen.length === 2, 'the second request runs');
  const closing = rig.close();
  gate.resolve({ allowed: true });
  const response = await running;
  assert.equal(response.statusCode, 200);
  assert.equal(((await response.body.json()) as { response: { allowed: boolean } }).response.allowed, true);
  await closing;
  await assert.rejects(rig.post('/open', review()));
});

function disposable(pool: Pool): Pool & AsyncDisposable {
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.destroy() });
}

test('webhook server: TLS 1.3 only, and a peer that names no server gets the current certificate', async () => {
  await using rig = await setUp();
  const options = { host: '127.0.0.1', port: rig.server.port, ca: rig.certificates.caBundle };
  const nameless = connect({ ...options, checkServerIdentity: () => undefined });
  await once(nameless, 'secureConnect');
  assert.equal(nameless.getProtocol(), 'TLSv1.3');
  assert.match(nameless.getPeerX509Certificate()?.subjectAltName ?? '', /DNS:localhost/);
  nameless.destroy();
  const old = connect({ ...options, servername: 'localhost', maxVersion: 'TLSv1.2' });
  const outcome = await new Promise((resolve) => {
    old.once('secureConnect', () => resolve('connected'));
    old.once('error', resolve);
  });
  old.destroy();
  assert.match(String(outcome), /protocol version|handshake/i);
});

test('webhook server: a port full of connections that say nothing still answers the API server (INJ-03)', {
  timeout: 120_000,
}, async () => {
  await using rig = await setUp();
  const peer = { port: rig.server.port, host: '127.0.0.1', localAddress: '127.0.0.66' };
  const silent = Array.from({ length: limits.admissionConnectionsMax }, () => connectTcp(peer).on('error', () => undefined));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  const { response } = await rig.post('/open', review());
  assert.equal(response.allowed, true);
  for (const socket of silent) socket.destroy();
});
