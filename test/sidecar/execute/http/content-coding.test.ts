/** Content codings through the real client: bombs stop at the cap, what cannot be decoded is never a body. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { failure, ok, text, withServer } from './with-server.ts';

const bomb = (mib: number) => Buffer.alloc(mib * 1024 * 1024);
for (const [what, encoding, body, expected] of [
  ['one layer', 'gzip', gzipSync(bomb(100)), 'tooLarge'],
  ['two layers', 'gzip, gzip', gzipSync(gzipSync(bomb(100))), 'tooLarge'],
  ['brotli', 'br', brotliCompressSync(bomb(4)), 'tooLarge'],
  ['six layers', 'gzip, gzip, gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzipSync(gzipSync(gzipSync(bomb(1))))))), 'protocol'],
  ['an unknown coding', 'zstd', Buffer.from('x'), 'protocol'],
] as const) {
  test(`HTTP-14: a bomb of ${what} ends as ${expected}`, async () => {
    await withServer(
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`);
        socket.write(body);
      },
      async (send) => {
        const before = process.memoryUsage().rss;
        if (expected === 'protocol') assert.equal((await failure(send())).kind, 'protocol');
        else assert.equal((await send()).fault, 'tooLarge');
        assert(process.memoryUsage().rss - before < 48 * 1024 * 1024, 'memory is bounded by the cap, not by the bomb');
      },
    );
  });
}

test('client: gzip, deflate and br bodies are decoded, two layers at most', async () => {
  const bodies = [
    ['gzip', gzipSync('one')],
    ['deflate', deflateSync('one')],
    ['br', brotliCompressSync('one')],
    ['br, GZIP', gzipSync(brotliCompressSync('one'))],
    ['identity', Buffer.from('one')],
  ] as const;
  await withServer(
    (socket, { index }) => {
      const [encoding, body] = bodies[index - 1]!;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    },
    async (send) => {
      for (const [encoding] of bodies) assert.equal(text(await send()), 'one', encoding);
    },
  );
});

test('client: a gzip body that ends early is cut', async () => {
  const body = gzipSync(Buffer.from('x'.repeat(1000) + Math.random())).subarray(0, 20);
  await withServer(
    (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    },
    async (send) => {
      const reply = await send();
      assert.deepEqual([reply.fault, reply.body.length], ['cut', 0]);
    },
  );
});

test('client: wire cap and body cap end as tooLarge without the body', async () => {
  await withServer(
    (socket) => socket.write(ok('x'.repeat(2000))),
    async (send) => {
      for (const caps of [{ wireBytesMax: 1999 }, { bodyBytesMax: 1999 }]) {
        const reply = await send({}, caps);
        assert.deepEqual([reply.fault, reply.body.length], ['tooLarge', 0]);
      }
      assert.equal((await send({}, { wireBytesMax: 2000, bodyBytesMax: 2000 })).fault, undefined);
    },
  );
});
