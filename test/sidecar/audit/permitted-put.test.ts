/** One signed PUT: what is sent, what is made of the answer, and where nothing is sent at all. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { PutFault, putPermitted } from '#sidecar/audit/permitted-put.ts';

const BYTES = Buffer.from('a sealed segment');
const never = new AbortController().signal;

async function serving(listener: RequestListener): Promise<{ readonly url: string } & AsyncDisposable> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/bucket/0000000001.seg?X-Amz-Signature=abc%2Fd`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('permitted put: sends exactly what was permitted, with a length, and tells the status', async () => {
  const seen: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  await using server = await serving(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    response.writeHead(201).end();
  });
  const headers = [
    { name: 'if-none-match', value: '*' },
    { name: 'host', value: 'elsewhere.example' },
    { name: 'content-length', value: '3' },
  ];
  assert.equal(await putPermitted({ url: server.url, headers }, BYTES, never), 201);
  const [request] = seen;
  assert.equal(seen.length, 1);
  assert.equal(request?.method, 'PUT');
  assert.equal(request?.url, '/bucket/0000000001.seg?X-Amz-Signature=abc%2Fd');
  assert.equal(request?.body, BYTES.toString());
  assert.equal(request?.headers['if-none-match'], '*');
  assert.equal(request?.headers['content-length'], String(BYTES.length));
  assert.match(String(request?.headers.host), /^127\.0\.0\.1:/);
  assert.equal(request?.headers['transfer-encoding'], undefined);
});

test('permitted put: follows nothing, and reads no more of an answer than it needs', async () => {
  let asked = 0;
  await using server = await serving((request, response) => {
    request.resume();
    asked += 1;
    if (request.url?.startsWith('/bucket/0000000001') !== true) return void response.end();
    response.writeHead(307, { location: '/elsewhere' });
    // Never ends.
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  });
  assert.equal(await putPermitted({ url: server.url, headers: [] }, BYTES, never), 307);
  assert.equal(asked, 1);
});

test('permitted put: addresses that are no https and no literal inside the cluster are not asked', async () => {
  const bad = [
    'http://store.example/a',
    'http://8.8.8.8/a',
    'http://169.254.169.254/a',
    'ftp://127.0.0.1/a',
    'https://u:p@store.example/a',
    'no address',
  ];
  for (const url of bad) {
    await assert.rejects(
      putPermitted({ url, headers: [] }, BYTES, never),
      (fault) => fault instanceof PutFault && fault.kind === 'address',
      url,
    );
  }
});

test('permitted put: an upload that is given up, and a connection that breaks, end as faults', async () => {
  const asked = Promise.withResolvers<void>();
  await using silent = await serving((request) => {
    request.resume();
    asked.resolve();
  });
  const leave = new AbortController();
  const put = putPermitted({ url: silent.url, headers: [] }, BYTES, leave.signal);
  await asked.promise;
  leave.abort();
  await assert.rejects(put, (fault) => fault instanceof PutFault && fault.kind === 'aborted');
  await using cut = await serving((request) => void request.socket.destroy());
  await assert.rejects(
    putPermitted({ url: cut.url, headers: [] }, BYTES, never),
    (fault) => fault instanceof PutFault && fault.kind === 'connection',
  );
  await assert.rejects(putPermitted({ url: cut.url, headers: [] }, BYTES, AbortSignal.abort()), PutFault);
});
