import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { until } from './fast-clock.ts';
import { type Rig, startRig, thingRecord } from './informer-rig.ts';
import { refuse } from './scripted-api-server.ts';

/** The cache follows a change made now: the informer lives. */
async function expectAlive({ server, names }: Rig, mark = 'alive'): Promise<void> {
  server.put(mark);
  await until(() => names().includes(mark), 'the cache follows');
}

test('informer: a connection destroyed in mid-watch is followed by a watch from the same version (OPR-01)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server, relists } = rig;
  await until(() => server.watching === 1, 'watching');
  server.breakConnections();
  server.put('while-away');
  await expectAlive(rig);
  assert.deepEqual(rig.names(), ['a', 'alive', 'while-away']);
  assert.deepEqual(relists, ['started']);
});

test('informer: one HTTP 500 on the watch is survived, and consumers hear "stale" meanwhile (OPR-02)', async () => {
  await using rig = await startRig();
  const { server, informer } = rig;
  await until(() => server.watching === 1, 'watching');
  const problems: (string | undefined)[] = [];
  server.fail('watch', refuse(500, 'InternalError'), (_, proceed) => {
    problems.push(informer.problem);
    assert.equal(informer.isStale, true);
    proceed();
  });
  server.endWatches('reset');
  await expectAlive(rig);
  assert.match(problems[0] ?? '', /^configmaps: The API server answered 500 when asked to watch configmaps/);
  assert.equal(informer.problem, undefined);
});

test('informer: after 410 a list that gets 429 comes again after Retry-After (OPR-03)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server, informer, relists } = rig;
  await until(() => server.watching === 1, 'watching');
  server.compact();
  let stale = false;
  server.fail('list', refuse(429, 'TooManyRequests', { 'retry-after': '2' }), (_, proceed) => {
    stale = informer.isStale;
    proceed();
  });
  server.endWatches('reset');
  server.put('b');
  await until(() => rig.names().includes('b'), 'listed again');
  assert.equal(stale, true);
  assert.deepEqual(relists, ['started', 'expired']);
  const [refused, listed] = server.seen.filter(({ what }) => what === 'list').slice(-2);
  // Twenty times as fast as the clock of the wall: two seconds are a tenth of one.
  assert((listed?.atMs ?? 0) - (refused?.atMs ?? 0) >= 99, 'Retry-After was respected');
});

test('informer: a connection that is dead without a word is noticed within 45 s (OPR-04)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server, informer } = rig;
  await until(() => server.watching === 1, 'watching');
  server.mute();
  server.put('unheard');
  const before = server.count('watch');
  await until(() => server.count('watch') > before, 'a new watch');
  for (const { query } of server.seen.filter(({ what }) => what === 'watch'))
    assert(Number(query.get('timeoutSeconds')) <= limits.kubeWatchSeconds);
  assert(limits.kubeWatchSeconds * 1000 + limits.kubeWatchGraceMs <= 45_000);
  server.unmute();
  await until(() => rig.names().includes('unheard'), 'heard after all');
  await until(() => !informer.isStale, 'fresh again');
});

test('informer: a quiet kind is asked for again over the same connections, without a list (OPR-05)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server, relists } = rig;
  await until(() => server.count('watch') >= 4, 'four watches');
  await expectAlive(rig);
  assert.deepEqual(relists, ['started']);
  const ports = new Set(server.seen.map(({ port }) => port));
  assert(ports.size <= 2, `${ports.size} connections`);
});

test('informer: bookmarks carry a quiet kind over a compaction (OPR-06)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server, relists } = rig;
  await until(() => server.watching === 1, 'watching');
  // Others write; this kind is quiet, and a compaction takes away the version it was listed at.
  server.compact();
  const before = server.count('watch');
  await until(() => server.count('watch') >= before + 2, 'a bookmark, and a watch from it');
  await expectAlive(rig);
  assert.deepEqual(relists, ['started']);
});

test('informer: when the API server comes back there is one watch and at most one list (OPR-07)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server } = rig;
  await until(() => server.watching === 1, 'watching');
  await server.vanish();
  // A minute of its clock.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const lists = server.count('list');
  const watches = server.count('watch');
  await server.listen();
  await expectAlive(rig);
  assert(server.count('list') - lists <= 1, 'at most one list');
  assert(server.count('watch') - watches <= 1, 'one watch');
});

test('informer: a watch that ends at once, again and again, makes no storm (OPR-07)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server } = rig;
  await until(() => server.watching === 1, 'watching');
  server.always.watch = (response) => {
    response.writeHead(200);
    response.end();
  };
  const before = server.seen.length;
  server.endWatches();
  // A minute of its clock: waits of 0.2 s to 10 s.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const asked = server.seen.length - before;
  assert(asked >= 5 && asked <= 40, `${asked} requests in a minute`);
  server.always = {};
  await expectAlive(rig);
});

test('informer: a watch closed before its end starts exactly one other (OPR-08)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server } = rig;
  await until(() => server.watching === 1, 'watching');
  for (let round = 0; round < 10; round += 1) {
    server.endWatches('reset');
    await until(() => server.watching >= 1, 'watching again');
    assert.equal(server.watching, 1);
  }
  await expectAlive(rig);
  assert.equal(server.watching, 1);
});

test('informer: starting again ends the loop before (OPR-08)', async () => {
  await using rig = await startRig({ things: ['a'] });
  const { server, informer } = rig;
  await until(() => server.watching === 1, 'watching');
  for (let round = 0; round < 5; round += 1) informer.start();
  await expectAlive(rig);
  await until(() => server.watching === 1, 'one watch is left');
  assert.deepEqual(
    rig.changes.filter((change) => change === 'added alive'),
    ['added alive'],
  );
});

test('informer: 300 events and a deletion in one write before the end are all heard (OPR-09)', async () => {
  for (const how of ['order', 'end', 'reset'] as const) {
    await using rig = await startRig({ things: ['doomed'] });
    const { server, changes } = rig;
    await until(() => server.watching === 1, 'watching');
    server.endWatches();
    server.fail('watch', (response) => {
      server.mute();
      for (let index = 0; index < 300; index += 1) server.put(`n${index}`);
      server.delete('doomed');
      server.unmute();
      response.writeHead(200);
      response.flushHeaders();
      const version = Number(server.version) - 301;
      const log = [...server.things().values()].filter(({ metadata }) => Number(metadata.resourceVersion) > version);
      const gone = {
        type: 'DELETED',
        object: {
          kind: 'ConfigMap',
          metadata: { name: 'doomed', namespace: 'default', uid: 'uid-1', resourceVersion: server.version },
          data: {},
        },
      };
      const text = `${log.map((object) => server.frame({ type: 'ADDED', object })).join('')}${JSON.stringify(gone)}\n`;
      if (how === 'order') response.end(text);
      else response.write(text, () => (how === 'end' ? response.socket?.end() : response.socket?.resetAndDestroy()));
    });
    await until(() => changes.includes('deleted doomed'), 'everything was heard');
    assert.equal(rig.cache.size, 300, how);
    assert.equal(changes.filter((change) => change.startsWith('added n')).length, 300, how);
  }
});

test('informer: an object recreated under its name while away is deleted, then added (OPR-10)', async () => {
  for (const expired of [false, true]) {
    await using rig = await startRig({ things: ['a'] });
    const { server, changes, cache } = rig;
    await until(() => server.watching === 1, 'watching');
    const uid = cache.get('default/a')?.uid;
    server.mute();
    server.delete('a');
    server.put('a');
    if (expired) server.compact();
    server.unmute();
    server.endWatches('reset');
    await until(() => cache.get('default/a')?.uid !== uid, 'the new one');
    assert.deepEqual(changes, ['added a', 'deleted a', 'added a'], expired ? 'by list' : 'by watch');
  }
});

test('informer: a handler that throws, and an object that cannot be read, stop nobody else (OPR-11)', async () => {
  const record: typeof thingRecord = (thing) => {
    if (thing.data.value === 'poison') throw new TypeError('poison');
    return thingRecord(thing);
  };
  await using rig = await startRig({ things: ['a'], record });
  const { server, cache, counts } = rig;
  const heard: string[] = [];
  cache.onChange(() => {
    throw new Error('a defect');
  });
  cache.onChange(({ key }) => heard.push(key));
  await until(() => server.watching === 1, 'watching');
  server.put('a', 'poison');
  server.put('b');
  await until(() => heard.includes('default/b'), 'the others are heard');
  assert.deepEqual(rig.names(), ['b'], 'an object that cannot be read does not stay as it was');
  assert.equal(counts.unreadable, 1);
  assert(cache.handlerFailures >= 2);
  server.put('a', 'healed');
  await until(() => rig.names().includes('a'), 'back');
});
