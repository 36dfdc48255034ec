/** Which socket a request leaves on: what may not be sent twice takes none that a remote might be closing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { ok, withServer } from './with-server.ts';

const READ = { repeatable: true };
const EFFECT = { freshConnection: true };

test('HTTP-10: an effect leaves on a socket that has served nothing, which serves reads afterwards', async () => {
  const served: number[] = [];
  await withServer(
    (socket, { connection }) => {
      served.push(connection);
      socket.write(ok(''));
    },
    async (send) => {
      for (const options of [READ, EFFECT, EFFECT, READ, EFFECT]) await send({}, options);
      assert.deepEqual(served, [1, 2, 3, 3, 4]);
    },
  );
});

test('HTTP-10: an effect that waited for a connection does not take over the socket of who had it before', async () => {
  const served: number[] = [];
  const held: (() => void)[] = [];
  const all = Promise.withResolvers<void>();
  await withServer(
    (socket, { connection }) => {
      served.push(connection);
      const answer = () => socket.write(ok(''));
      if (served.length > limits.httpConnectionsMax) answer();
      else if (held.push(answer) === limits.httpConnectionsMax) all.resolve();
    },
    async (send) => {
      const reads = Array.from({ length: limits.httpConnectionsMax }, () => send({}, READ));
      await all.promise;
      const effect = send({}, EFFECT);
      for (const answer of held) answer();
      await Promise.all([...reads, effect]);
      assert.equal(served.at(-1), limits.httpConnectionsMax + 1);
    },
  );
});
