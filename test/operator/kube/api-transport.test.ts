import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ApiTransport, createApiTransport } from '#operator/kube/api-transport.ts';
import { createKubeClient } from '#operator/kube/client.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { fastClock, until } from './fast-clock.ts';
import { startRig } from './informer-rig.ts';
import { type Fault, hangUp, refuse, ScriptedApiServer } from './scripted-api-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Scene extends AsyncDisposable {
  readonly server: ScriptedApiServer;
  readonly transport: ApiTransport;
}

async function startScene(headers?: (rejected: boolean) => Promise<Record<string, string>>): Promise<Scene> {
  const server = new ScriptedApiServer(20);
  await server.listen();
  const transport = createApiTransport({ ...server.access, ...(headers && { headers }) }, { clock: fastClock(20) });
  return {
    server,
    transport,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const ref = { namespace: 'default', name: 'a' };
const object = { metadata: ref };
const answer: Fault = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{"kind":"ConfigMap"}');
};

test('transport: what may be sent twice is sent again after 503, 429 and a broken connection', async () => {
  await using scene = await startScene();
  const client = createKubeClient(scene.transport);
  scene.server.fail('list', refuse(503, 'ServiceUnavailable', { 'retry-after': '1' }), hangUp, refuse(429, 'TooManyRequests'), answer);
  assert.deepEqual(await client.get(KINDS.configMaps, ref), { kind: 'ConfigMap' });
  assert.equal(scene.server.seen.length, 4);
  const [first, second] = scene.server.seen;
  assert((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 49, 'a second of its clock was waited');
});

test('transport: a creation is sent once, unless the API server says that it did not look at it', async () => {
  await using scene = await startScene();
  const client = createKubeClient(scene.transport);
  scene.server.fail('list', hangUp);
  await assert.rejects(
    client.create<object>(KINDS.configMaps, object),
    (error: KubeError) => error.reason === 'Unreachable' && error.status === 0,
  );
  assert.equal(scene.server.seen.length, 1);
  scene.server.fail('list', refuse(429, 'TooManyRequests'), answer);
  await client.create<object>(KINDS.configMaps, object);
  assert.equal(scene.server.seen.length, 3);
});

test('transport: an API server that never answers costs a limited time', async () => {
  await using scene = await startScene();
  scene.server.always.list = () => {};
  await assert.rejects(createKubeClient(scene.transport).create<object>(KINDS.configMaps, object), (error: unknown) => {
    assert(error instanceof KubeError);
    assert.equal(error.reason, 'TimedOut');
    assert.equal(error.message, 'The API server did not answer in time when asked to create a ConfigMap');
    return true;
  });
});

test('transport: a 401 is answered once with a newer token (OPR-15)', async () => {
  let token = 'old';
  const asked: boolean[] = [];
  await using scene = await startScene(async (rejected) => {
    asked.push(rejected);
    if (rejected) token = 'new';
    return { authorization: `Bearer ${token}` };
  });
  const checked: Fault = (response, _, request) =>
    (request.headers.authorization === 'Bearer new' ? answer : refuse(401, 'Unauthorized'))(response, () => {}, request);
  scene.server.always.list = checked;
  await createKubeClient(scene.transport).create<object>(KINDS.configMaps, object);
  assert.deepEqual(asked, [false, true]);
  assert.deepEqual(
    scene.server.seen.map(({ authorization }) => authorization),
    ['Bearer old', 'Bearer new'],
  );
});

test('transport: a token nobody accepts is an error without the token in it (OPR-15)', async () => {
  await using scene = await startScene(async () => ({ authorization: 'Bearer canary-token' }));
  scene.server.always.list = refuse(401, 'Unauthorized');
  await assert.rejects(createKubeClient(scene.transport).get(KINDS.configMaps, ref), (error: KubeError) => {
    assert.equal(error.status, 401);
    assert(!`${error.stack} ${String(error.cause)}`.includes('canary'));
    return true;
  });
  assert.equal(scene.server.seen.length, 2, 'asked twice, and no more');
});

test('transport: what stands between us and the API server is not quoted', async () => {
  await using scene = await startScene();
  scene.server.always.list = (response) => {
    response.writeHead(418, { 'content-type': 'text/html' });
    response.end('<h1>canary of a proxy</h1>');
  };
  await assert.rejects(createKubeClient(scene.transport).get(KINDS.configMaps, ref), {
    message: 'The API server answered 418 when asked to read a ConfigMap',
  });
});

test('transport: an answer without end is cut off', async () => {
  await using scene = await startScene();
  scene.server.always.list = (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  };
  await assert.rejects(
    createKubeClient(scene.transport).get(KINDS.configMaps, ref),
    (error: KubeError) => error.reason === 'AnswerTooLarge',
  );
});

test('transport: three hundred reconnects leave file descriptors and memory as they were (OPR-18)', async (t) => {
  await using rig = await startRig({ things: ['a'], scale: 1000 });
  const { server } = rig;
  const reconnect = async (count: number) => {
    for (let round = 0; round < count; round += 1) {
      await until(() => server.watching === 1, 'watching');
      server.endWatches('reset');
    }
    await until(() => server.watching === 1, 'watching');
  };
  const figures = async () => {
    await until(() => server.connections <= 2, 'old connections are gone');
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return { descriptors: readdirSync('/proc/self/fd').length, keptMb: (heapUsed + external) / 1e6 };
  };
  await reconnect(50);
  const before = await figures();
  await reconnect(300);
  const after = await figures();
  t.diagnostic(JSON.stringify({ before, after }));
  assert(after.descriptors <= before.descriptors + 3, `${before.descriptors} -> ${after.descriptors}`);
  assert(after.keptMb <= before.keptMb + 8, `${before.keptMb} -> ${after.keptMb} MB`);
  server.put('b');
  await until(() => rig.cache.size === 2, 'the cache follows');
});
