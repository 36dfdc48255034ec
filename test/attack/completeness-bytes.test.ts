/** An answer cut at every byte, over a real connection: no beginning of it may be complete. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startWalk, takePage } from '#core/completeness/walk.ts';
import type { CompiledContract, ResultRules } from '#core/contract/compiled.ts';
import { decodeReply } from '#sidecar/decode/decode-reply.ts';
import { type RawReply, TransportFailure } from '#sidecar/execute/http/transport.ts';
import { contract, path } from '#test/core/completeness/build-contract.ts';
import { contextOf, exchange, foldOne, NOW_MS, noReply } from '#test/core/completeness/drive-walk.ts';
import { type Send, withServer } from '#test/sidecar/execute/http/with-server.ts';

const NO_MASK = { bytes: (body: Uint8Array) => body, text: (text: string) => text };

interface Kind {
  readonly name: string;
  readonly type: string;
  readonly body: string;
  readonly result: Partial<ResultRules>;
}

const ID = { fields: [{ name: 'id', path: path('/id'), presence: 'Required' }] } as const;
const ROOT = { kind: 'items', paths: [path('/')] } as const;
const KINDS: readonly Kind[] = [
  { name: 'JSON', type: 'application/json', body: '{"items":[{"id":1},{"id":22}]}', result: {} },
  { name: 'a JSON list', type: 'application/json', body: '[{"id":1},{"id":22}]', result: { ...ID, shape: ROOT } },
  {
    name: 'a JSON number',
    type: 'application/json',
    body: '1234567',
    result: { shape: { kind: 'object', path: path('/') }, id: [], fields: [{ name: 'n', path: path('/'), presence: 'Required' }] },
  },
  {
    name: 'NDJSON',
    type: 'application/x-ndjson',
    body: '{"id":1}\n{"id":22}\n{"id":3}',
    result: { ...ID, decoder: 'NDJSON', contentTypes: [], shape: ROOT },
  },
  {
    name: 'lines',
    type: 'text/plain',
    body: 'one\ntwo\r\nthree\n',
    result: { decoder: 'Lines', contentTypes: [], shape: ROOT, id: [path('/line')], fields: 'All' },
  },
  {
    name: 'XML',
    type: 'application/xml',
    body: '<r><i><id>1</id></i><i><id>22</id></i></r>',
    result: { ...ID, decoder: 'XML', contentTypes: [], shape: { kind: 'items', paths: [path('/r/i')] } },
  },
];

function single(result: Partial<ResultRules>): CompiledContract {
  return contract({ result, paging: { mode: 'SingleResponse', next: [], end: { nextIs: [] } } });
}

/** Whether the answer of one request, as it came, is complete. */
async function isComplete(send: Send, compiled: CompiledContract, target: string): Promise<boolean> {
  const answer = await send({ target }).then(
    (raw) => exchangeOf(raw, compiled),
    (error) => (error instanceof TransportFailure ? noReply(error.kind) : assert.fail(String(error))),
  );
  const { walk } = takePage(contextOf(compiled), startWalk(compiled, '', {}, {}), answer);
  const { folded } = foldOne(contextOf(compiled), [walk], new Map());
  return folded.kind === 'envelope' && folded.envelope.completeness.complete;
}

function exchangeOf(raw: RawReply, compiled: CompiledContract) {
  return { sent: exchange({}).sent, reply: decodeReply(raw, compiled.result, NO_MASK, NOW_MS) };
}

function chunked(body: Buffer): Buffer {
  const half = Math.ceil(body.length / 2);
  const chunks = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  return Buffer.concat([
    ...chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
    Buffer.from('0\r\n\r\n'),
  ]);
}

const FRAMINGS: Readonly<Record<string, (head: string, body: Buffer) => Buffer>> = {
  length: (head, body) => Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body]),
  chunks: (head, body) => Buffer.concat([Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n`), chunked(body)]),
  'gzip and length': (head, body) => {
    const packed = gzipSync(body);
    return Buffer.concat([Buffer.from(`${head}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`), packed]);
  },
  'gzip and chunks': (head, body) =>
    Buffer.concat([Buffer.from(`${head}content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n`), chunked(gzipSync(body))]),
};

describe('attacks by cutting', () => {
  for (const { name, type, body, result } of KINDS) {
    for (const [framing, frame] of Object.entries(FRAMINGS)) {
      test(`${name} by ${framing}: whole it is complete, cut at any byte it is not`, async () => {
        const whole = frame(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n`, Buffer.from(body));
        const compiled = single(result);
        await withServer(
          (socket, { head }) => socket.end(whole.subarray(0, Number(/^GET \/(\d+)/.exec(head)?.[1]))),
          async (send) => {
            assert.equal(await isComplete(send, compiled, `/${whole.length}`), true);
            for (let bytes = 0; bytes < whole.length; bytes += 1) {
              assert.equal(await isComplete(send, compiled, `/${bytes}`), false, `cut after ${bytes} bytes of ${whole.length}`);
            }
          },
        );
      });
    }

    test(`${name}: without length or chunks it is never complete`, async () => {
      await withServer(
        (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${body}`),
        async (send) => assert.equal(await isComplete(send, single(result), '/'), false),
      );
    });

    test(`${name}: packed, cut and framed anew it is never complete`, async () => {
      const packed = { gzip: gzipSync(body), deflate: deflateSync(body), br: brotliCompressSync(body) };
      await withServer(
        (socket, { head }) => {
          const [, coding = '', bytes] = /^GET \/(\w+)\/(\d+)/.exec(head) ?? [];
          const part = packed[coding as keyof typeof packed].subarray(0, Number(bytes));
          socket.end(
            Buffer.concat([
              Buffer.from(
                `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-encoding: ${coding}\r\ncontent-length: ${part.length}\r\n\r\n`,
              ),
              part,
            ]),
          );
        },
        async (send) => {
          for (const [coding, { length }] of Object.entries(packed)) {
            assert.equal(await isComplete(send, single(result), `/${coding}/${length}`), true);
            for (let bytes = 0; bytes < length; bytes += 1)
              assert.equal(await isComplete(send, single(result), `/${coding}/${bytes}`), false, `${coding} cut after ${bytes}`);
          }
        },
      );
    });
  }

  const ODD: readonly (readonly [string, string])[] = [
    ['100 and then nothing', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['103 with the body', 'HTTP/1.1 103 Early Hints\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"items":[]}'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['205', 'HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n'],
    ['304', 'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n'],
    ['200 of no bytes', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n'],
    ['206', 'HTTP/1.1 206 Partial Content\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"items":[]}'],
    ['another type', 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 12\r\n\r\n{"items":[]}'],
    ['no type', 'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{"items":[]}'],
    ['two types', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-type: text/html\r\ncontent-length: 12\r\n\r\n{"items":[]}'],
    ['another charset', 'HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-16\r\ncontent-length: 12\r\n\r\n{"items":[]}'],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 12\r\ntransfer-encoding: chunked\r\n\r\nc\r\n{"items":[]}\r\n0\r\n\r\n',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 12\r\ncontent-length: 14\r\n\r\n{"items":[]}  '],
    [
      'an unknown coding',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: zz\r\ncontent-length: 12\r\n\r\n{"items":[]}',
    ],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{"items":[]}'],
    ['HTTP/0.9', '{"items":[]}'],
  ];
  for (const [name, bytes] of ODD) {
    test(`${name} is no complete answer`, async () => {
      await withServer(
        (socket) => socket.end(bytes),
        async (send) => assert.equal(await isComplete(send, single({}), '/'), false),
      );
    });
  }

  test('informational answers before the final one change nothing', async () => {
    const final = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"items":[]}';
    await withServer(
      (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=next\r\n\r\n${final}`),
      async (send) => assert.equal(await isComplete(send, single({}), '/'), true),
    );
  });
});
