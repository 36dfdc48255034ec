/**
 * Goal: an upstream that redirects, lies about its body, poisons its socket, bombs or echoes gains nothing. Method: the exchanges
 * of the corpus, byte for byte, behind a whole sidecar; then nothing of the credential may stand in replies, log or metrics.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '#core/bounds/limits.ts';
import { errorJson } from '#core/wire/status.ts';
import { answerOf, executeFrame, openCall, openSession } from '#test/core/runtime/raw-grpc.ts';
import { CREDENTIAL, type HostileStage, json, startHostileStage } from './hostile-stage.ts';

let stage: HostileStage;
const seen: string[] = [];
before(async () => {
  stage = await startHostileStage();
});
after(() => stage[Symbol.asyncDispose]());

async function answer(action = 'find', args: unknown = { q: 'x' }) {
  const document = await stage.call(action, args);
  seen.push(JSON.stringify(document));
  return document;
}

async function refused(action = 'find', args: unknown = { q: 'x' }) {
  const error = await stage.refused(action, args);
  seen.push(JSON.stringify(errorJson(error)));
  return error;
}

for (const [id, head] of [
  ['HTTP-01', 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:PORT/'],
  ['HTTP-01c', 'HTTP/1.1 301 M\r\nLocation: /v1/other'],
  ['HTTP-02', 'HTTP/1.1 307 T\r\nLocation: //127.0.0.1:PORT/'],
  ['HTTP-02', 'HTTP/1.1 308 P\r\nLocation: http://127.0.0.1:PORT/'],
  ['HTTP-02', 'HTTP/1.1 300 M\r\nLocation: http://127.0.0.1:PORT/\r\nRefresh: 0; url=http://127.0.0.1:PORT/'],
  ['HTTP-02', 'HTTP/1.1 303 S\r\nLocation: http://127.0.0.1:PORT/\r\nAlt-Svc: h2="127.0.0.1:PORT"; ma=99999'],
] as const) {
  test(`${id}: ${head.slice(9, 12)} is REDIRECT_REFUSED without its Location, and nobody else is connected to`, async () => {
    let connections = 0;
    const other = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    stage.play((socket) => socket.write(`${head.replaceAll('PORT', String(port))}\r\nContent-Length: 0\r\n\r\n`));
    const error = await refused();
    assert.equal(error.reason, 'REDIRECT_REFUSED');
    assert.ok(!JSON.stringify(errorJson(error)).includes(String(port)));
    assert.equal(stage.server.requests.length, 1);
    assert.equal(connections, 0);
    await new Promise((resolve) => other.close(resolve));
  });
}

test('HTTP-08: a body that ends with the connection is never complete, though it parses', async () => {
  stage.play((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[]'));
  const { completeness } = await answer('list', {});
  assert.equal(completeness.complete, false);
  assert.deepEqual(
    completeness.incomplete_reasons.map(({ code }) => code),
    ['COMPLETENESS_UNPROVEN'],
  );
  stage.play((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n[]'));
  assert.equal((await refused('list', {})).reason, 'REMOTE_PROTOCOL');
});

test('HTTP-09: a body shorter than its length is REMOTE_PROTOCOL', async () => {
  stage.play((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[]'));
  assert.equal((await refused('list', {})).reason, 'REMOTE_PROTOCOL');
});

for (const [id, head] of [
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 40'],
  ['length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked'],
  ['a chunked that is not', 'Transfer-Encoding: xchunked'],
  ['a coding before chunked', 'Transfer-Encoding: gzip, chunked'],
  ['a space before the colon', 'Content-Length : 2'],
  ['a folded header', 'Content-Length: 2\r\nX-A: b\r\n c'],
  ['a length with a sign', 'Content-Length: +2'],
  ['a hexadecimal length', 'Content-Length: 0x2'],
  ['a negative length', 'Content-Length: -1'],
] as const) {
  test(`HTTP-09: ${id} never shows what was smuggled behind it`, async () => {
    const smuggled = json('{"smuggled":true}');
    stage.play(
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}\r\n\r\n{}${smuggled}`),
      (socket) => socket.write(json('{"own":true}')),
    );
    await stage.call('find', { q: 'x' }, { deadlineMs: 400 }).catch(() => undefined);
    assert.deepEqual((await answer()).data, { it: { own: true } });
  });
}

test('HTTP-14: two layers of gzip around 100 MiB of zeros are RESPONSE_TOO_LARGE', async () => {
  const bomb = gzipSync(gzipSync(Buffer.alloc(100 * 1024 * 1024)));
  stage.play((socket) => {
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip, gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`,
    );
    socket.write(bomb);
  });
  assert.equal((await refused()).reason, 'RESPONSE_TOO_LARGE');
});

for (const [id, first] of [
  ['HTTP-18', json('{"n":1}') + json('{"poison":true}')],
  ['HTTP-18b', `HTTP/1.1 204 No Content\r\nContent-Length: 44\r\n\r\n${json('{"poison":true}')}`],
] as const) {
  test(`${id}: bytes behind an answer never answer the next call`, async () => {
    stage.play(
      (socket) => socket.write(first),
      (socket) => socket.write(json('{"n":2}')),
    );
    await stage.call('find', { q: 'x' }).catch(() => undefined);
    assert.deepEqual((await answer()).data, { it: { n: 2 } });
  });
}

for (const [id, wait] of [
  ['HTTP-31.0', '0'],
  ['HTTP-31.1', '-5'],
  ['HTTP-31.3', '99999999999'],
  ['HTTP-31.4', 'Wed, 21 Oct 2015 07:28:00 GMT'],
  ['HTTP-31.5', 'soon'],
] as const) {
  test(`${id}: Retry-After ${wait} is REMOTE_RATE_LIMITED with a bounded wait, asked once`, async () => {
    stage.play((socket) => socket.write(`HTTP/1.1 429 T\r\nRetry-After: ${wait}\r\nContent-Length: 0\r\n\r\n`));
    const error = await refused();
    assert.equal(error.reason, 'REMOTE_RATE_LIMITED');
    const { retryAfterMs = 0 } = error;
    assert.ok(retryAfterMs >= limits.rateLimitFloorMsDefault && retryAfterMs <= limits.rateLimitCeilingMsDefault, String(retryAfterMs));
    assert.equal(stage.server.requests.length, 1);
  });
}

test('HTTP-36: headers named __proto__ and constructor are data', async () => {
  stage.play((socket) => socket.write(json('{"ok":1,"__proto__":{"polluted":1}}', '200 OK', '__proto__: x\r\nconstructor: y\r\n')));
  await answer();
  assert.equal((await answer()).completeness.complete, true);
});

test('HTTP-37: a cookie is not sent back', async () => {
  stage.play((socket) => socket.write(json('{}', '200 OK', 'Set-Cookie: s=1\r\n')));
  await answer();
  await answer();
  assert.equal(stage.server.requests.length, 2);
  for (const head of stage.server.requests) assert.doesNotMatch(head, /cookie/i);
});

test('HTTP-40: a page for people is REMOTE_PROTOCOL', async () => {
  stage.play((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<h1>login</h1'));
  assert.equal((await refused()).reason, 'REMOTE_PROTOCOL');
});

for (const [id, body] of [
  ['LEAK-05.b64', '{"seen": "U1lOL3NlY3JldCt2YWx1ZT00Mn4="}'],
  ['LEAK-05.b64url', '{"seen": "U1lOL3NlY3JldCt2YWx1ZT00Mn4"}'],
  ['LEAK-05.b64_off1', '{"seen": "eFNZTi9zZWNyZXQrdmFsdWU9NDJ+eXk="}'],
  ['LEAK-05.basic', '{"seen": "dXNlcjpTWU4vc2VjcmV0K3ZhbHVlPTQyfg=="}'],
  ['LEAK-05.hex', '{"seen": "53594e2f7365637265742b76616c75653d34327e"}'],
  ['LEAK-05.HEX', '{"seen": "53594E2F7365637265742B76616C75653D34327E"}'],
  ['LEAK-05.percent', '{"seen": "SYN%2Fsecret%2Bvalue%3D42~"}'],
  ['LEAK-05.percent_twice', '{"seen": "SYN%252Fsecret%252Bvalue%253D42~"}'],
  ['LEAK-05.json_u', '{"seen":"SYN\\u002fsecret\\u002bvalue\\u003d42~"}'],
] as const) {
  test(`${id}: is masked, and the answer says CREDENTIAL_REFLECTED`, async () => {
    stage.play((socket) => socket.write(json(body)));
    const { data, warnings } = await answer();
    assert.match(JSON.stringify(data), /\[masked\]/);
    assert.ok(warnings.some(({ code }) => code === 'CREDENTIAL_REFLECTED'));
  });
}

test('LEAK-01: a failure with the credential in its headers says a class of status and nothing of them', async () => {
  const head = `HTTP/1.1 500 E\r\nX-Debug: Authorization: Bearer ${CREDENTIAL}\r\nContent-Type: text/plain\r\nContent-Length: 8`;
  stage.play((socket) => socket.write(`${head}\r\n\r\nbad auth`));
  const error = await refused();
  assert.equal(error.reason, 'REMOTE_UNAVAILABLE');
  assert.doesNotMatch(JSON.stringify(errorJson(error)), /bad auth|debug/i);
});

test('LEAK-22: a right guess that is echoed is answered like a wrong one, and counted', async () => {
  stage.play((socket, head) => socket.write(json(JSON.stringify({ q: decodeURIComponent(/q=([^ ]*)/.exec(head)?.[1] ?? '') }))));
  const right = await stage.call('find', { q: CREDENTIAL });
  const wrong = await stage.call('find', { q: 'SYN/secret+value=43~' });
  assert.deepEqual(right.data, { it: { q: CREDENTIAL } });
  assert.deepEqual(right.warnings, wrong.warnings);
  assert.match(await stage.metrics(), /postern_credential_guesses_total 1/);
});

for (const [id, value] of [
  ['GRPC-10.1', '99999999H'],
  ['GRPC-10.2', '-1S'],
  ['GRPC-10.5', '99999999n'],
] as const) {
  test(`${id}: grpc-timeout ${value} neither fails at once by overflow nor lifts the contract's own time`, async () => {
    stage.play((socket) => socket.write(json('{}')));
    const session = await openSession(Number(stage.sidecar.address.split(':').at(-1)));
    const frame = executeFrame({ action: 'find', argumentsJson: Buffer.from('{"q":"x"}') });
    assert.equal((await answerOf(openCall(session, { 'grpc-timeout': value }).end(frame))).code, 0);
    session.destroy();
  });
}

test('LEAK-01: after all of it, no form of the credential stands in a reply, the log or the metrics', async () => {
  const shown = [...seen, stage.sidecar.log(), await stage.metrics()].join('\n');
  assert.ok(shown.length > 10_000);
  assert.doesNotMatch(shown, /SYN|secret.{1,6}value|c2VjcmV0|73656372/);
});
