import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { until } from './fast-clock.ts';
import { startRig } from './informer-rig.ts';
import { hangUp, refuse, type ScriptedApiServer, statusOf } from './scripted-api-server.ts';

const NAMES = ['a', 'b', 'c', 'd'];

type Step = (server: ScriptedApiServer) => void;

const change = fc.oneof(
  fc
    .record({ name: fc.constantFrom(...NAMES), value: fc.constantFrom('1', '2', '3') })
    .map(({ name, value }): [string, Step] => [`put ${name}=${value}`, (server) => server.put(name, value)]),
  fc.constantFrom(...NAMES).map((name): [string, Step] => [`delete ${name}`, (server) => server.delete(name)]),
  fc.constantFrom(...NAMES).map((name): [string, Step] => [
    `recreate ${name}`,
    (server) =>
      inTurn(
        () => server.delete(name),
        () => server.put(name),
      ),
  ]),
);

const ANCIENT = { kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default', uid: 'uid-0', resourceVersion: '7' }, data: {} };

function loseWhileAway(server: ScriptedApiServer): void {
  server.mute();
  server.delete('b');
  server.put('c', 'away');
  server.compact();
  server.endWatches('reset');
  server.unmute();
}

const fault = fc.constantFrom<[string, Step]>(
  ['reset', (server) => server.endWatches('reset')],
  ['end', (server) => server.endWatches()],
  ['compact', (server) => server.compact()],
  ['mute', (server) => server.mute()],
  ['unmute', (server) => server.unmute()],
  [
    'half a line',
    (server) =>
      inTurn(
        () => server.say('{"type":"ADD'),
        () => server.endWatches(),
      ),
  ],
  [
    'ERROR 500',
    (server) =>
      inTurn(
        () => server.say(`${JSON.stringify({ type: 'ERROR', object: statusOf(500, 'InternalError') })}\n`),
        () => server.endWatches(),
      ),
  ],
  ['ERROR 410', (server) => server.say(`${JSON.stringify({ type: 'ERROR', object: statusOf(410, 'Expired') })}\n`)],
  ['replay', (server) => server.say([...server.things().values()].map((object) => server.frame({ type: 'ADDED', object })).join(''))],
  ['lost while away', (server) => loseWhileAway(server)],
  ['compacted while away', (server) => loseWhileAway(server)],
  ['a deletion of long ago', (server) => server.say(`${JSON.stringify({ type: 'DELETED', object: ANCIENT })}\n`)],
  ['watch 500', (server) => server.fail('watch', refuse(500, 'InternalError'))],
  ['watch hangs up', (server) => server.fail('watch', hangUp)],
  ['watch 410', (server) => server.fail('watch', refuse(410, 'Expired'))],
  ['list 429', (server) => server.fail('list', refuse(429, 'TooManyRequests'))],
  ['list hangs up', (server) => server.fail('list', hangUp)],
  ['list 503', (server) => server.fail('list', refuse(503, 'ServiceUnavailable', { 'retry-after': '1' }))],
);

const pause = fc.constantFrom(0, 1, 5, 30).map((ms): [string, number] => [`pause ${ms}`, ms]);

function inTurn(...steps: readonly (() => unknown)[]): void {
  for (const step of steps) step();
}

test('informer: whatever changes and fails, in whatever order, the cache equals the API server in the end', async () => {
  const steps = fc.array(fc.oneof({ weight: 4, arbitrary: change }, { weight: 2, arbitrary: fault }, { weight: 3, arbitrary: pause }), {
    minLength: 1,
    maxLength: 40,
  });
  const property = fc.asyncProperty(steps, async (script) => {
    await using rig = await startRig({ scale: 200 });
    const { server, changes } = rig;
    await rig.informer.synced;
    for (const [, step] of script) {
      if (typeof step === 'number') await new Promise((resolve) => setTimeout(resolve, step));
      else step(server);
    }
    server.unmute();
    const kept = () => JSON.stringify([...rig.cache.values()].map(({ name, uid, value }) => [name, uid, value]).sort());
    const wanted = () =>
      JSON.stringify([...server.things().values()].map(({ metadata, data }) => [metadata.name, metadata.uid, data.value]).sort());
    await until(() => kept() === wanted(), 'the cache equals the server').catch(() => assert.equal(kept(), wanted()));
    assert.equal(rig.counts.missed, 0, 'a periodic list had nothing to heal');
    // What handlers heard, played from nothing, is what is there.
    const heard = new Set<string>();
    for (const line of changes) {
      const [kind, name = ''] = line.split(' ');
      assert.equal(heard.has(name), kind !== 'added', line);
      if (kind === 'added') heard.add(name);
      if (kind === 'deleted') heard.delete(name);
    }
    assert.deepEqual([...heard].sort(), server.names());
  });
  await fc.assert(property, { numRuns: 80, endOnFailure: true });
});
