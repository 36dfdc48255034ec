/**
 * Goal: the port for probes and metrics, which the agent can reach too, gives nothing but its three pages, repeats nothing, and
 * cannot be held by slow or many peers. Method: bytes by hand.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { type Probes, startProbes } from '#core/runtime/probes.ts';

let probes: Probes;
before(async () => {
  probes = await startProbes({
    host: '127.0.0.1',
    port: 0,
    notReady: () => [],
    metrics: async () => ({ text: 'm 1\n', contentType: 'text/plain' }),
  });
});
after(() => probes.close());

/** What comes back until the server closes; the peer closes its own side at once. */
function say(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(probes.port, '127.0.0.1');
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.end(bytes);
  });
}

const END = 'Host: h\r\nConnection: close\r\n\r\n';
const HOSTILE: readonly (readonly [what: string, bytes: string, status: number])[] = [
  ['a path that is no URL', `GET /%zz-s3cret HTTP/1.1\r\n${END}`, 400],
  ['a traversal', `GET /livez/../s3cret HTTP/1.1\r\n${END}`, 404],
  ['an encoded traversal', `GET /%2e%2e/s3cret HTTP/1.1\r\n${END}`, 404],
  ['a double slash', `GET //metrics HTTP/1.1\r\n${END}`, 404],
  ['an inspector’s page', `GET /json/version HTTP/1.1\r\n${END}`, 404],
  ['a POST', `POST /metrics HTTP/1.1\r\nContent-Type: text/s3cret\r\nContent-Length: 6\r\n${END}s3cret`, 404],
  ['a DELETE', `DELETE /livez HTTP/1.1\r\n${END}`, 404],
  ['TRACE', `TRACE /livez HTTP/1.1\r\nX-A: s3cret\r\n${END}`, 404],
  ['OPTIONS', `OPTIONS * HTTP/1.1\r\n${END}`, 404],
  ['a method that Node knows and the router does not', `QUERY /metrics HTTP/1.1\r\n${END}`, 400],
  ['a method nobody knows', `BREW /s3cret HTTP/1.1\r\n${END}`, 400],
  ['headers beyond 16 KiB', `GET /livez HTTP/1.1\r\nX-A: ${'s3cret'.repeat(4000)}\r\n${END}`, 431],
  ['length and chunks', `GET /livez HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n${END}0\r\n\r\n`, 400],
  ['two lengths', `GET /livez HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 6\r\n${END}s3cret`, 400],
  ['no host', 'GET /s3cret HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['half a JSON body', `DELETE /s3cret HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 8\r\n${END}{"s3cret`, 400],
];
for (const [what, bytes, status] of HOSTILE) {
  test(`admin port: ${what} is ${status}, and nothing of it is repeated`, async () => {
    const answer = await say(bytes);
    assert.equal(Number(answer.slice(9, 12)), status, answer.slice(0, 200));
    assert.doesNotMatch(answer, /s3cret|FST_|fastify/i);
  });
}

test('admin port: CONNECT opens no way to anywhere', async () => {
  assert.equal(await say(`CONNECT 127.0.0.1:1 HTTP/1.1\r\n${END}`), '');
});

test('admin port: peers that hold connections are bounded, and the port answers when they leave', async () => {
  const sockets = Array.from({ length: limits.probeConnectionsMax + 10 }, () =>
    connect(probes.port, '127.0.0.1').on('error', () => undefined),
  );
  const closed = sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()).resume()));
  // The excess is closed by the server; which ones is up to the kernel.
  await Promise.any(closed);
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  while (!(await say(`GET /livez HTTP/1.1\r\n${END}`)).startsWith('HTTP/1.1 200')) await new Promise((resolve) => setImmediate(resolve));
});

test('admin port: a request that drips is closed although it never pauses', async () => {
  const socket = connect(probes.port, '127.0.0.1').on('error', () => undefined);
  socket.write('GET /livez HTTP/1.1\r\nHost: h\r\n');
  const drip = setInterval(() => socket.write('X-A: b\r\n'), 500);
  await new Promise<void>((resolve) => socket.once('close', () => resolve()).resume());
  clearInterval(drip);
});
