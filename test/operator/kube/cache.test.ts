import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Cache, type Identified } from '#operator/kube/cache.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import { RecordKeeper } from '#operator/kube/record-keeper.ts';
import { contractRecord, type KubeObject, podRecord } from '#operator/kube/records.ts';

interface Thing extends Identified {
  readonly color: string;
}

const thing = (name: string, resourceVersion: string, color: string, uid = `uid-${name}`): Thing => ({
  namespace: 'n',
  name,
  uid,
  resourceVersion,
  color,
});

test('cache: is found by what a record says now, not by what it said before', () => {
  const cache = new Cache<Thing>({ color: ({ color }) => [color] });
  cache.put(thing('a', '1', 'red'));
  cache.put(thing('b', '2', 'red'));
  cache.put(thing('a', '3', 'blue'));
  assert.deepEqual(
    cache.by('color', 'red').map(({ name }) => name),
    ['b'],
  );
  assert.deepEqual(
    cache.by('color', 'blue').map(({ name }) => name),
    ['a'],
  );
  cache.remove('n/b');
  assert.deepEqual(cache.by('color', 'red'), []);
  assert.throws(() => cache.by('size', '1'), TypeError);
});

test('cache: another UID under a name is a deletion, then an addition (OPR-10); the same version is no change (OPR-23)', () => {
  const cache = new Cache<Thing>();
  const changes: string[] = [];
  cache.onChange(({ kind }) => changes.push(kind));
  cache.put(thing('a', '1', 'red'));
  cache.put(thing('a', '1', 'red'));
  cache.put(thing('a', '2', 'red', 'another'));
  assert.deepEqual(changes, ['added', 'deleted', 'added']);
});

test('cache: a handler and an index that throw hurt nobody else (OPR-11)', () => {
  const cache = new Cache<Thing>({
    color: ({ color }) => {
      if (color === 'poison') throw new TypeError('poison');
      return [color];
    },
  });
  const heard: string[] = [];
  cache.onChange(() => {
    throw new Error('a defect');
  });
  const end = cache.onChange(({ key }) => heard.push(key));
  cache.put(thing('a', '1', 'poison'));
  cache.put(thing('b', '2', 'red'));
  cache.put(thing('a', '3', 'red'));
  assert.deepEqual(heard, ['n/a', 'n/b', 'n/a']);
  assert.deepEqual(
    cache
      .by('color', 'red')
      .map(({ name }) => name)
      .sort(),
    ['a', 'b'],
  );
  assert.equal(cache.handlerFailures, 3);
  end();
  cache.remove('n/a');
  assert.equal(heard.length, 3);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function keptBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** As the API server writes it: 9 KB, most of it fields of other people. */
function podText(index: number): string {
  const name = `agent-${index}-abcde`;
  const managedFields = Array.from({ length: 4 }, (_, manager) => ({
    manager: `manager-${manager}`,
    operation: 'Update',
    fieldsV1: { 'f:spec': { 'f:x': 'y'.repeat(900) } },
  }));
  const env = Array.from({ length: 20 }, (_, count) => ({ name: `VARIABLE_${count}`, value: 'v'.repeat(120) }));
  return JSON.stringify({
    metadata: {
      name,
      namespace: `team-${index % 50}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(index + 1),
      managedFields,
    },
    spec: {
      serviceAccountName: 'triage-bot',
      nodeName: `node-${index % 100}`,
      containers: [{ name: 'agent', image: 'registry/agent:1', env }],
    },
    status: { phase: 'Running', containerStatuses: [{ name: 'agent', imageID: `registry/agent@sha256:${'a'.repeat(64)}` }] },
  });
}

test('cache: keeps of ten thousand pods what decisions need, a tenth of what was sent (OPR-19)', (t) => {
  const { pods } = emptyCluster();
  const keeper = new RecordKeeper({ cache: pods, record: podRecord, onUnreadable: () => assert.fail('unreadable') });
  const before = keptBytes();
  let sent = 0;
  for (let index = 0; index < 10_000; index += 1) {
    const text = podText(index);
    sent += text.length;
    keeper.listed(JSON.parse(text) as KubeObject);
  }
  const each = (keptBytes() - before) / 10_000;
  t.diagnostic(`${Math.round(each)} bytes kept of ${Math.round(sent / 10_000)} a pod`);
  assert.equal(pods.size, 10_000);
  assert(each < 1_500, `${each} bytes a pod`);
});

test('cache: of two thousand contracts it keeps little more than their text (OPR-19)', (t) => {
  const { contracts } = emptyCluster();
  const keeper = new RecordKeeper({ cache: contracts, record: contractRecord, onUnreadable: () => assert.fail('unreadable') });
  const before = keptBytes();
  const spec = { action: 'list', callers: [{ serviceAccount: 'triage-bot' }], credentials: ['github'], summary: 'x'.repeat(6_000) };
  const managedFields = [{ manager: 'kubectl', fieldsV1: { 'f:spec': 'y'.repeat(6_000) } }];
  for (let index = 0; index < 2_000; index += 1) {
    const metadata = { name: `c-${index}`, namespace: 'triage', uid: `uid-${index}`, resourceVersion: String(index + 1), managedFields };
    keeper.listed(JSON.parse(JSON.stringify({ metadata, spec })) as KubeObject);
  }
  const each = (keptBytes() - before) / 2_000;
  t.diagnostic(`${Math.round(each)} bytes a contract of 12000`);
  assert.equal(contracts.size, 2_000);
  assert(each < 8_500, `${each} bytes a contract`);
});
