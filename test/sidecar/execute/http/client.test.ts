/**
 * The HTTP client against servers that break the protocol, hang, lie and flood. Real sockets on loopback; the scripts write raw bytes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { startRawServer } from './raw-server.ts';
import { failure, ok, sendTo, text, withServer } from './with-server.ts';

test('HTTP-02: no redirect is followed, whatever its status', async () => {
  for (const status of [300, 301, 302, 303, 307, 308]) {
    await withServer(
      (socket) => socket.write(`HTTP/1.1 ${status} R\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n`),
      async (send, server) => {
        assert.equal((await send()).status, status);
        assert.equal(server.requests.length, 1);
      },
    );
  }
});

test('HTTP-01: a redirect to another origin opens no connection there', async () => {
  await withServer(
    (socket) => socket.write(ok('')),
    async (_, other) =>
      withServer(
        (socket) => socket.write(`HTTP/1.1 302 Found\r\nLocation: ${other.origin}/\r\nContent-Length: 0\r\n\r\n`),
        async (send) => {
          assert.equal((await send({ headers: [['x-api-key', 'k']] })).status, 302);
          assert.equal(other.connections(), 0);
        },
      ),
  );
});

test('HTTP-07: a chunked body cut before its last chunk is cut', async () => {
  await withServer(
    (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'),
    async (send) => {
      const reply = await send();
      assert.deepEqual([reply.fault, text(reply)], ['cut', 'hello']);
    },
  );
});

test('HTTP-08: a body with neither length nor chunks is unframed though it ends cleanly', async () => {
  await withServer(
    (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n[]'),
    async (send) => {
      const reply = await send();
      assert.deepEqual([reply.fault, text(reply)], ['unframed', '[]']);
    },
  );
});

test('HTTP-09: a body shorter than its length is cut', async () => {
  await withServer(
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello'),
    async (send) => assert.equal((await send()).fault, 'cut'),
  );
});

for (const [what, head] of [
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ['length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ['an unknown transfer coding', 'Transfer-Encoding: gzip, chunked'],
  ['a negative length', 'Content-Length: -1'],
] as const) {
  test(`HTTP-09: ${what} is a protocol failure on a connection that is not used again`, async () => {
    await withServer(
      (socket, { index }) => socket.write(index === 1 ? `HTTP/1.1 200 OK\r\n${head}\r\n\r\n5\r\nhello\r\n0\r\n\r\n` : ok('second')),
      async (send, server) => {
        assert.equal((await failure(send())).kind, 'protocol');
        assert.equal(text(await send()), 'second');
        assert.equal(server.connections(), 2);
      },
    );
  });
}

test('HTTP-10: a read is sent once more when a reused socket dies without an answer', async () => {
  await withServer(
    (socket, { index }) => (index === 2 ? socket.resetAndDestroy() : socket.write(ok(`answer ${index}`))),
    async (send, server) => {
      assert.equal(text(await send({}, { repeatable: true })), 'answer 1');
      assert.equal(text(await send({}, { repeatable: true })), 'answer 3');
      assert.deepEqual([server.requests.length, server.connections()], [3, 2]);
    },
  );
});

test('HTTP-10: nothing is sent again on a fresh socket, after a first byte, or when it is no read', async () => {
  await withServer(
    (socket) => socket.resetAndDestroy(),
    async (send, server) => {
      const first = await failure(send({}, { repeatable: true }));
      assert.deepEqual([first.kind, first.sent, server.requests.length], ['unreachable', true, 1]);
    },
  );
  await withServer(
    (socket, { index }) => (index === 2 ? socket.end('HTTP/1.1 2') : socket.write(ok(''))),
    async (send, server) => {
      await send({}, { repeatable: true });
      assert.equal((await failure(send({}, { repeatable: true }))).sent, true);
      assert.equal(server.requests.length, 2);
    },
  );
  await withServer(
    (socket, { index }) => (index === 2 ? socket.resetAndDestroy() : socket.write(ok(''))),
    async (send, server) => {
      await send({ method: 'POST', body: Buffer.from('x') });
      await failure(send({ method: 'POST', body: Buffer.from('x') }));
      assert.equal(server.requests.length, 2);
    },
  );
});

test('HTTP-16: a body that drips is ended at the total deadline', async () => {
  await withServer(
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(timer));
    },
    async (send) => {
      const ended = await failure(send({}, { signal: AbortSignal.timeout(200) }));
      assert.deepEqual([ended.kind, ended.sent], ['timedOut', true]);
    },
  );
});

test('client: a call cancelled before it is sent reaches nobody', async () => {
  await withServer(
    (socket) => socket.write(ok('')),
    async (send, server) => {
      assert.deepEqual((await failure(send({}, { signal: AbortSignal.abort() }))).sent, false);
      const abort = new AbortController();
      const sending = failure(send({}, { signal: abort.signal }));
      abort.abort();
      const ended = await sending;
      assert.deepEqual([ended.kind, ended.sent], ['timedOut', false]);
      await sleep(50);
      assert.equal(server.requests.length, 0);
    },
  );
});

test('HTTP-17: more than 16 informational responses are a protocol failure', async () => {
  await withServer(
    (socket, { index }) => socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(index === 1 ? 17 : 16) + ok('done')),
    async (send) => {
      assert.equal((await failure(send())).kind, 'protocol');
      assert.equal(text(await send()), 'done');
    },
  );
});

for (const [id, first] of [
  ['HTTP-18', ok('first') + ok('poison')],
  ['HTTP-18b', `HTTP/1.1 204 No Content\r\nContent-Length: 44\r\n\r\n${ok('poison')}`],
] as const) {
  test(`${id}: bytes nobody asked for never answer the next call`, async () => {
    await withServer(
      (socket, { index }) => socket.write(index === 1 ? first : ok('second')),
      async (send) => {
        await send();
        assert.equal(text(await send()), 'second');
      },
    );
  });
}

test('HTTP-18: bytes that arrive while the socket is idle never answer the next call', async () => {
  await withServer(
    (socket, { index }) => {
      socket.write(ok(index === 1 ? 'first' : 'second'));
      if (index === 1) setTimeout(() => socket.write(ok('poison')), 30);
    },
    async (send) => {
      await send();
      await sleep(80);
      assert.equal(text(await send()), 'second');
    },
  );
});

test('HTTP-32: 206 to a request without a range is a protocol failure', async () => {
  await withServer(
    (socket) => socket.write('HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nab'),
    async (send) => {
      assert.equal((await failure(send())).kind, 'protocol');
      assert.equal((await send({ headers: [['range', 'bytes=0-1']] })).status, 206);
    },
  );
});

test('HTTP-36: headers named __proto__ and constructor are plain data', async () => {
  await withServer(
    (socket) => socket.write(ok('ok', '__proto__: x\r\nconstructor: y\r\n')),
    async (send) => {
      const { headers } = await send();
      assert.deepEqual(headers.slice(0, 2), [
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ]);
      assert.equal(({} as Record<string, unknown>).x, undefined);
    },
  );
});

test('HTTP-37: a cookie is neither reported nor sent back', async () => {
  await withServer(
    (socket) => socket.write(ok('ok', 'Set-Cookie: s=1\r\n')),
    async (send, server) => {
      assert(!(await send()).headers.some(([name]) => name === 'set-cookie'));
      await send();
      assert(!/cookie/i.test(server.requests[1]!));
    },
  );
});

test('LEAK-18: what is sent is exactly the contract headers and our own', async () => {
  await withServer(
    (socket) => socket.write(ok('ok')),
    async (send, server) => {
      await send({ headers: [['x-own', '1']] });
      const lines = server.requests[0]!.split('\r\n')
        .slice(1)
        .map((line) => line.split(':')[0]!.toLowerCase());
      assert.deepEqual(lines.toSorted(), ['accept-encoding', 'connection', 'host', 'user-agent', 'x-own']);
    },
  );
});

test('client: 64 calls at once use at most 64 connections and the 65th waits', async () => {
  await withServer(
    (socket) => setTimeout(() => socket.write(ok('x')), 50),
    async (send, server) => {
      await Promise.all(Array.from({ length: 100 }, () => send()));
      assert.equal(server.requests.length, 100);
      assert.equal(server.connections(), 64);
    },
  );
});

test('HTTP-18, HTTP-39: two credentials at one origin never share a connection, one credential does', async () => {
  await using server = await startRawServer((socket) => socket.write(ok('x')));
  const destinations = new Destinations({ allowLoopback: true });
  const transport = (credential: string) => destinations.transport({ origin: server.origin, credential, addresses: ['127.0.0.1'] });
  assert.equal(transport('a'), transport('a'));
  for (const credential of ['a', 'b', 'a', 'b']) await sendTo(transport(credential), server.origin);
  assert.equal(server.connections(), 2);
  destinations.close();
});
