import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { type ApiTransport, createApiTransport } from '#operator/kube/api-transport.ts';
import { createKubeClient, type KubeClient } from '#operator/kube/client.ts';
import { EventTeller, type Told } from '#operator/kube/events.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { accessTo } from './real-access.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

let kube: KubeApiserver;
let transport: ApiTransport;
let client: KubeClient;
before(async () => {
  if (skip !== false) return;
  kube = await startKubeApiserver();
  transport = createApiTransport(accessTo(kube));
  client = createKubeClient(transport);
});
after(async () => {
  await transport?.close();
  await kube?.[Symbol.asyncDispose]();
});

interface EventObject {
  readonly metadata: { readonly namespace: string };
  readonly note: string;
  readonly type: string;
  readonly regarding: { readonly uid: string };
  readonly series?: { readonly count: number };
}

const about = (uid: string): Told => ({ kind: KINDS.sessions, namespace: 'default', name: 'told', uid });
const telling = { type: 'Warning', reason: 'Exposed', action: 'Reconcile', note: 'The pod can read Secrets.' } as const;

async function eventsOf(uid: string): Promise<readonly EventObject[]> {
  const events: EventObject[] = [];
  for await (const event of client.list<EventObject>(KINDS.events, { namespace: 'default' }))
    if (event.regarding.uid === uid) events.push(event);
  return events;
}

test('events: one that comes again is counted in the first one', { skip }, async () => {
  let monotonicMs = 0;
  const teller = new EventTeller({ client, replica: 'postern-1', clock: { ...systemClock, monotonicMs: () => monotonicMs } });
  for (let round = 0; round < 5; round += 1) {
    teller.tell(about('uid-again'), telling);
    await teller.settled();
    monotonicMs += 61_000;
  }
  const [event, ...others] = await eventsOf('uid-again');
  assert.deepEqual(others, []);
  assert.equal(event?.series?.count, 5);
  assert.equal(event?.type, 'Warning');
  assert.equal(teller.dropped, 0);
});

test('events: a noisy object uses up its own allowance, and its text is sanitized', { skip }, async () => {
  const teller = new EventTeller({ client, replica: 'postern-1' });
  for (let round = 0; round < 40; round += 1) {
    teller.tell(about('uid-noisy'), { ...telling, note: `number ${round} \u202e` });
    await teller.settled();
  }
  teller.tell({ ...about('uid-quiet'), kind: KINDS.namespaces, namespace: '', name: 'triage' }, telling);
  await teller.settled();
  const noisy = await eventsOf('uid-noisy');
  assert.equal(noisy.length, 10);
  assert(noisy.every(({ note }) => /^number \d+ <U\+202E>$/.test(note)));
  assert.equal(teller.dropped, 30);
  assert.equal((await eventsOf('uid-quiet')).length, 1);
});

test('events: an API server that refuses them fails nobody', async () => {
  const refuse = async (): Promise<never> => {
    throw new KubeError('no', { status: 403, reason: 'Forbidden' });
  };
  const teller = new EventTeller({ client: { create: refuse, patch: refuse }, replica: 'postern-1' });
  teller.tell(about('uid'), telling);
  await teller.settled();
  assert.equal(teller.dropped, 1);
});
