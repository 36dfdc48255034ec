import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { type Probes, startProbes } from '#core/runtime/probes.ts';

const missing: string[] = [];
const waiting: string[] = [];
let probes: Probes | undefined;
after(() => probes?.close());

async function get(path: string, method = 'GET'): Promise<{ status: number; text: string; type: string }> {
  probes ??= await startProbes({
    host: '127.0.0.1',
    port: 0,
    notReady: () => missing,
    notStarted: () => waiting,
    metrics: async () => ({ text: 'postern_calls_total 1\n', contentType: 'text/plain; version=0.0.4' }),
  });
  const { port } = probes;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, type: response.headers['content-type'] ?? '' }));
    });
    sent.on('error', reject).end();
  });
}

test('probes: alive is alive, whatever is missing', async () => {
  missing.splice(0, missing.length, 'contracts');
  assert.equal((await get('/livez')).status, 200);
});

test('probes: readiness names what is missing, in closed words', async () => {
  missing.splice(0, missing.length, 'contracts');
  assert.deepEqual(await get('/readyz').then(({ status, text }) => [status, text]), [503, 'contracts\n']);
  missing.splice(0, missing.length);
  assert.equal((await get('/readyz')).status, 200);
});

test('probes: the start is over once nothing is waited for, whatever is not ready', async () => {
  missing.splice(0, missing.length, 'lease');
  waiting.splice(0, waiting.length, 'bundle');
  assert.deepEqual(await get('/startupz').then(({ status, text }) => [status, text]), [503, 'bundle\n']);
  waiting.splice(0, waiting.length);
  assert.equal((await get('/startupz')).status, 200);
  missing.splice(0, missing.length);
});

test('probes: metrics come with their content type', async () => {
  const { status, text, type } = await get('/metrics');
  assert.equal(status, 200);
  assert.equal(text, 'postern_calls_total 1\n');
  assert.match(type, /version=0\.0\.4/);
});

for (const [method, path] of [
  ['GET', '/s3cr3t'],
  ['POST', '/metrics'],
  ['GET', '/%2e%2e/x'],
  ['GET', '/livez/../metrics/s3cr3t'],
  ['GET', '/debug/pprof'],
] as const) {
  test(`probes: ${method} ${path} is not here, and the answer repeats nothing`, async () => {
    const { status, text } = await get(path, method);
    assert.equal(status, 404);
    assert.equal(text, 'not here\n');
  });
}

test('probes: a port full of connections that say nothing still answers the kubelet (GRPC-01)', async () => {
  await get('/livez');
  const peer = { port: probes?.port ?? 0, host: '127.0.0.1', localAddress: '127.0.0.66' };
  const silent = Array.from({ length: limits.probeConnectionsMax }, () => connect(peer).on('error', () => undefined));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  assert.equal((await get('/livez')).status, 200);
  for (const socket of silent) socket.destroy();
});
