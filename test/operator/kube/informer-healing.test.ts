import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './fast-clock.ts';
import { type Rig, startRig } from './informer-rig.ts';
import { hangUp, refuse, statusOf } from './scripted-api-server.ts';

/** The cache follows a change made now: the informer lives. */
async function expectAlive({ server, names }: Rig, mark = 'alive'): Promise<void> {
  server.put(mark);
  await until(() => names().includes(mark), 'the cache follows');
}

test('informer: half a line is counted and heals by a list (OPR-12)', async () => {
  for (const how of ['order', 'reset'] as const) {
    await using rig = await startRig({ things: ['a'] });
    const { server, relists, counts } = rig;
    await until(() => server.watching === 1, 'watching');
    server.mute();
    server.put('b');
    server.say('{"type":"ADDED","object":{"kind":"ConfigMap","meta');
    await new Promise((resolve) => setTimeout(resolve, 100));
    server.unmute();
    if (how === 'order') server.endWatches();
    else server.breakConnections();
    await until(() => rig.names().includes('b'), 'healed');
    assert.deepEqual([counts.unreadable, relists], [1, ['started', 'unreadable']], how);
  }
});

test('informer: a deletion no watch told is healed by the periodic list and counted as a miss (OPR-13)', async () => {
  await using rig = await startRig({ things: ['a', 'phantom'], scale: 1000 });
  const { server, relists, counts } = rig;
  await until(() => rig.names().length === 2, 'listed');
  server.deleteSilently('phantom');
  await until(() => !rig.names().includes('phantom'), 'healed');
  assert.equal(relists.at(-1), 'periodic');
  assert.equal(counts.missed, 1);
  await expectAlive(rig);
  const lists = relists.length;
  await until(() => relists.length > lists, 'one more');
  assert.equal(counts.missed, 1, 'what a watch told is no miss');
});

test('informer: an ERROR frame without a version leaves the version alone (OPR-14)', async () => {
  for (const object of [statusOf(500, 'InternalError'), {}, { metadata: {} }]) {
    await using rig = await startRig({ things: ['a'] });
    const { server } = rig;
    await until(() => server.watching === 1, 'watching');
    server.mute();
    server.put('unheard');
    server.say(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    server.unmute();
    server.endWatches();
    await until(() => rig.names().includes('unheard'), 'nothing was lost');
    for (const { query } of server.seen.filter(({ what }) => what === 'watch')) assert.match(query.get('resourceVersion') ?? '', /^\d+$/);
  }
});

test('informer: a list without a version is no list (OPR-14)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server } = rig;
  await until(() => server.watching === 1, 'watching');
  server.compact();
  server.fail('list', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'ConfigMapList', metadata: {}, items: [] }));
  });
  server.endWatches('reset');
  await expectAlive(rig);
  assert.deepEqual(rig.names(), ['a', 'alive'], 'nothing was taken away meanwhile');
});

test('informer: a store set back to a backup is listed anew (OPR-14)', async () => {
  await using rig = await startRig({ things: ['a', 'b', 'c'], scale: 100 });
  const { server, relists } = rig;
  await until(() => server.watching === 1, 'watching');
  server.setBack(50);
  server.always.watch = (_response, proceed) => proceed();
  const say = setInterval(
    () => server.say(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '50' } } })}\n`),
    50,
  );
  await until(() => relists.includes('behind'), 'listed anew');
  clearInterval(say);
  await expectAlive(rig);
});

test('informer: events replayed on a reconnect change nothing (OPR-23)', async () => {
  const things = Array.from({ length: 1000 }, (_, index) => `n${index}`);
  await using rig = await startRig({ things });
  const { server, changes } = rig;
  await until(() => rig.cache.size === 1000 && server.watching === 1, 'listed');
  const replay = [...server.things().values()].map((object) => server.frame({ type: 'ADDED', object })).join('');
  server.put('n0', 'newer');
  await until(() => changes.length === 1001, 'updated');
  server.say(replay);
  await expectAlive(rig);
  assert.deepEqual(changes.slice(1000), ['updated n0', 'added alive']);
  assert.equal(rig.cache.get('default/n0')?.value, 'newer');
});

test('informer: a list that breaks off takes nothing away', async () => {
  const things = Array.from({ length: 1200 }, (_, index) => `n${index}`);
  await using rig = await startRig({ things });
  const { server, changes } = rig;
  await until(() => rig.cache.size === 1200 && server.watching === 1, 'listed');
  server.compact();
  server.fail(
    'list',
    (_, proceed) => proceed(),
    hangUp,
    (_, proceed) => proceed(),
    refuse(410, 'Expired'),
  );
  server.endWatches('reset');
  await expectAlive(rig);
  assert.equal(rig.cache.size, 1201);
  assert.deepEqual(changes.slice(1200), ['added alive']);
});
