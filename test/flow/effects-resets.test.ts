/**
 * A remote that loses replies in every way a connection can end, and a write that it does not know again. What is counted is what the remote
 * saw: more than one request for one operation would be a second effect (HTTP-10, HTTP-11, HTTP-12).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PosternError } from '#core/error/postern-error.ts';
import { FREE, READ_NOTE, startRig } from '#test/sidecar/call/effect-rig.ts';
import { type Answer, sendJson } from './stage.ts';

const OPERATIONS = 10_000;
const AT_ONCE = 100;

/** By the number in the text, so that every way comes about equally often, and on sockets that served others before. */
const WAYS: readonly ((response: Parameters<Answer>[1]) => void)[] = [
  (response) => sendJson(response, 200, { id: 'ok' }),
  // Read, done, and the connection is reset.
  (response) => response.socket?.resetAndDestroy(),
  (response) => response.destroy(),
  // Half a status line.
  (response) => response.socket?.end('HTTP/1.1 20'),
  // A whole head and half a body: it took effect.
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"id":');
    setImmediate(() => response.destroy());
  },
  (response) => sendJson(response, 503, {}),
  // Answered, and the kept connection dies under whoever comes next.
  (response) => {
    sendJson(response, 200, { id: 'ok' });
    response.once('finish', () => setImmediate(() => response.socket?.resetAndDestroy()));
  },
];

test(`effects: ${OPERATIONS} lost replies and resets are at most one request an operation, and none is called done without an answer (HTTP-11, HTTP-12)`, async () => {
  const seen = new Map<string, number>();
  await using rig = await startRig({
    contracts: { 'put-note': FREE },
    answer: ({ body }, response) => {
      const { text } = JSON.parse(body);
      seen.set(text, (seen.get(text) ?? 0) + 1);
      WAYS[Number(text.slice(1)) % WAYS.length]?.(response);
    },
  });
  const outcomes = new Map<string, number>();
  let next = 0;
  const worker = async () => {
    while (next < OPERATIONS) {
      const text = `n${next}`;
      next += 1;
      const told = await rig.execute('put_note', { id: 'one', text }).then(
        () => 'done',
        async ({ reason, operationId = '' }: PosternError) => {
          // A journal holds what nobody knows the outcome of until somebody says it: with thousands of them it would be full.
          if (reason === 'OUTCOME_UNKNOWN') await rig.decider.resolve(operationId, 'notDone', 'tess');
          return reason;
        },
      );
      if (told !== 'done' && told !== 'OUTCOME_UNKNOWN') assert.fail(`${text} was told ${told}`);
      if (told === 'done') assert.equal(seen.get(text), 1, `${text} is told done`);
      outcomes.set(told, (outcomes.get(told) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.equal([...seen.values()].filter((times) => times > 1).length, 0, 'no operation was sent twice');
  assert.equal((outcomes.get('done') ?? 0) + (outcomes.get('OUTCOME_UNKNOWN') ?? 0), OPERATIONS);
  // Whole, cut and answered-then-dead are done; the others nobody can tell.
  assert.ok((outcomes.get('done') ?? 0) >= OPERATIONS * 0.35, String(outcomes.get('done')));
  assert.ok((outcomes.get('OUTCOME_UNKNOWN') ?? 0) >= OPERATIONS * 0.5);
});

test('effects: a remote that drops each connection it kept under its next request leaves no write in doubt (HTTP-10)', async () => {
  const used = new WeakSet<object>();
  let dropped = 0;
  await using rig = await startRig({
    contracts: { 'put-note': FREE, 'read-note': READ_NOTE },
    answer: (_request, response) => {
      const socket = response.socket ?? assert.fail('no socket');
      if (!used.has(socket)) {
        used.add(socket);
        sendJson(response, 200, { id: 'one', state: 'open' });
        return;
      }
      dropped += 1;
      socket.resetAndDestroy();
    },
  });
  for (let index = 0; index < WRITES; index += 1) {
    const text = `w${index}`;
    const [{ operationId }] = await Promise.all([rig.execute('put_note', { id: 'one', text }), rig.execute('read_note', { id: 'one' })]);
    assert.ok(operationId);
  }
  assert.equal(rig.effects(), WRITES);
  assert.ok(dropped > 0, 'reads met a dropped connection, and were sent again');
});

const WRITES = 300;
