/** Heads in a real S3 server. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { StoreFault } from '#core/audit/object-store.ts';
import { isSignedBy, makeSigningKey, parseNote } from '#core/audit/signed-note.ts';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { createS3Objects } from '#core/runtime/s3-objects.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { HeadsObjects } from '#operator/witness/heads-objects.ts';
import { StoreWatch } from '#operator/witness/store-watch.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Seaweedfs, startSeaweedfs } from '#test/servers/seaweedfs.ts';

const skip = await unavailable('weed');
const authority = makeSigningKey('postern.dev/authority/cluster');
let s3: Seaweedfs;
let watch: StoreWatch;
before(
  async () => {
    if (skip !== false) return;
    s3 = await startSeaweedfs();
    await s3.createBucket('audit');
    const address = parseStoreAddress(`s3://audit?region=${s3.region}&endpoint=${encodeURIComponent(s3.endpoint)}`);
    assert.ok(address.kind === 's3');
    const env = { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey };
    watch = new StoreWatch({ store: createS3Objects(address, { clock: systemClock, env }), clock: systemClock });
    await watch.probe();
  },
  { timeout: 120_000 },
);
after(async () => {
  await watch?.store[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
});

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
const line = (uid: string, size: number) => `postern.dev/audit/cluster/agents/${uid} ${size} ${digest(`${size}`).toString('base64')}`;

function session(uid: string, size: number): SessionRecord {
  const head = { sequence: size, hash: `sha256:${digest(`${size}`).toString('hex')}` };
  return { namespace: 'agents', spec: { pod: { uid } }, status: { head } } as unknown as SessionRecord;
}

class Term {
  readonly outcomes: string[] = [];
  readonly #objects: HeadsObjects;
  sessions: SessionRecord[] = [];

  constructor(of: StoreWatch = watch) {
    this.#objects = new HeadsObjects({
      watch: of,
      clock: systemClock,
      cluster: 'cluster',
      authority: () => authority,
      sessions: () => this.sessions,
      onObject: (outcome, count) => this.outcomes.push(`${outcome} ${count}`),
    });
  }

  async write(...sessions: SessionRecord[]): Promise<void> {
    this.sessions = sessions;
    await this.#objects.write();
  }
}

test('heads: what moved goes into one signed object that names the one before, also over a change of the leader', { skip }, async () => {
  const term = new Term();
  await term.write(session('a', 11), session('b', 4));
  await term.write(session('a', 11), session('b', 4));
  assert.deepEqual(term.outcomes, ['written 2'], 'nothing moved, nothing is written');
  const first = await last();
  const note = parseNote(first.text);
  assert.ok(note && isSignedBy(note, authority));
  assert.deepEqual(note.text.split('\n').slice(2), ['-', line('a', 11), line('b', 4), '']);
  await term.write(session('a', 12), session('b', 4));
  const second = await last();
  assert.deepEqual(second.text.split('\n').slice(2, 4), [`${first.name} ${hash('sha256', first.text)}`, line('a', 12)]);
  // Another leader, in the same second perhaps, does not know what was told, but where to go on.
  await new Term().write(session('a', 12));
  assert.equal((await last()).text.split('\n')[2], `${second.name} ${hash('sha256', second.text)}`);
});

test('heads: a store that is away loses no head: it is in the object after', { skip }, async () => {
  let away = true;
  const { store } = watch;
  const create: typeof store.create = (object) => (away ? Promise.reject(new StoreFault('unavailable', 'away')) : store.create(object));
  const broken = new StoreWatch({ store: { ...store, create }, clock: systemClock });
  await broken.probe();
  const term = new Term(broken);
  await term.write(session('c', 5));
  away = false;
  await term.write(session('c', 6));
  assert.deepEqual(term.outcomes, ['failed 1', 'written 1']);
  assert.ok((await last()).text.includes(line('c', 6)));
});

test('heads: more than one object holds waits its turn', { skip }, async () => {
  const term = new Term();
  const many = Array.from({ length: 60_000 }, (_, index) => session(`d-${index}-${'x'.repeat(150)}`, 3));
  await term.write(...many);
  await term.write(...many);
  assert.equal(term.outcomes.length, 2);
  assert.equal(
    term.outcomes.reduce((sum, outcome) => sum + Number(outcome.split(' ')[1]), 0),
    many.length,
  );
  assert.ok((await last()).text.length <= limits.auditHeadsBytesMax);
});

async function last(): Promise<{ readonly name: string; readonly text: string }> {
  const names: string[] = [];
  for await (const { name } of watch.store.list('heads/cluster/')) names.push(name);
  const name = names.sort().at(-1) ?? assert.fail('no object of heads');
  return { name, text: String(await watch.store.read(name, limits.auditHeadsBytesMax)) };
}
