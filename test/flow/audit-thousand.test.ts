/**
 * A thousand sessions rotate and ship at once into a real S3 server, by the permits of the operator's real exchange, while streams break,
 * replicas forget what they had not written, and the way to the store loses requests and replies. In the end each chain is whole in the
 * bucket, up to the head that was witnessed: no segment is lost, and none is there twice (AUD-19).
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { chainFolder } from '#core/audit/object-name.ts';
import { makeSigningKey } from '#core/audit/signed-note.ts';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { openStore } from '#core/runtime/open-store.ts';
import { auditMeans } from '#operator/control/audit-means.ts';
import { knownHead } from '#operator/control/audit-status.ts';
import { StoreWatch, type WitnessStore } from '#operator/witness/store-watch.ts';
import { type Permit, PutFault, putPermitted } from '#sidecar/audit/permitted-put.ts';
import { unavailable } from '#test/servers/build.ts';
import { startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { makeIdentity } from '#test/sidecar/audit/chain-stage.ts';
import { AuditedSession } from './audited-session.ts';

const skip = await unavailable('weed');
const SESSIONS = Number(process.env.POSTERN_TEST_SESSIONS ?? 1_000);
const ROUNDS = 2;
const AT_ONCE = 48;
const CLUSTER = 'thousand';

test('audit: a thousand sessions rotate and ship, and no segment is lost or doubled', { skip }, async (t) => {
  await using s3 = await startSeaweedfs();
  await s3.createBucket('audit');
  await using opened = await openStore(parseStoreAddress(`s3://audit/kept?endpoint=${s3.endpoint}`), {
    clock: systemClock,
    env: { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey },
  });
  const store = opened as WitnessStore;
  const home = mkdtempSync(join(tmpdir(), 'postern-thousand-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const authority = makeSigningKey(`postern.dev/authority/${CLUSTER}`);
  const watch = new StoreWatch({ store, clock: systemClock });
  await watch.probe();
  assert.equal(watch.state, 'safe');
  const means = auditMeans({
    clock: systemClock,
    cluster: CLUSTER,
    terms: { recipients: [makeIdentity().recipient], effects: 'Acknowledged' },
    watch,
    authority: () => authority,
  });
  const way = lossyWay();
  const sessions = Array.from(
    { length: SESSIONS },
    (_, index) => new AuditedSession({ means, folder: join(home, String(index)), namespace: `ns-${index % 10}`, put: way.put }),
  );
  await each(sessions, async (session) => {
    session.connect();
    await session.begin();
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    await each(sessions, async (session) => {
      await session.write();
      if (chance(0.2)) session.disconnect(chance(0.5));
      await session.write();
      await session.chain.closeSegment();
      session.connect();
      // Only a pace: most of a round goes out while the way is bad, and what is late goes with the next one.
      for (let turns = 0; turns < 20 && session.chain.closed().length > 0; turns += 1) await wait(25);
    });
  }
  way.mend();
  await each(sessions, async (session) => {
    const ended = await session.end(120_000);
    assert.deepEqual(ended, { shipped: true, manifest: true });
  });
  let segments = 0;
  await each(sessions, async (session) => {
    const found = await judge(session, store, authority);
    segments += found;
  });
  t.diagnostic(`${segments} segments of ${SESSIONS} chains; ${way.lost} requests or replies lost on the way`);
  assert.ok(segments >= SESSIONS * (ROUNDS + 1));
  assert.ok(way.lost > 0);
});

/** Its segments in the bucket, checked as a stranger would; their number. */
async function judge(session: AuditedSession, store: WitnessStore, key: ReturnType<typeof makeSigningKey>): Promise<number> {
  const { record, chain, recorded, status } = session;
  const { namespace, spec, createdMs } = record;
  const folder = chainFolder({ cluster: CLUSTER, namespace, session: spec.pod.uid, beganMs: createdMs });
  const names: string[] = [];
  for await (const { name } of store.list(folder)) names.push(name);
  const known = knownHead(status);
  assert.ok(known !== undefined);
  const found: string[] = [];
  const verifier = new ChainVerifier({
    keys: [key],
    heads: [{ many: false, heads: [{ origin: chain.origin, ...known }] }],
    onFrame: ({ heads }) => {
      for (const { operationId } of heads) if (operationId !== undefined) found.push(operationId);
    },
  });
  const files = names.filter((name) => name.endsWith('.seg'));
  for (const name of files.sort()) {
    const bytes = await store.read(name, limits.auditSegmentFileBytesMax);
    assert.ok(bytes !== undefined);
    verifier.begin(bytes.length);
    verifier.push(bytes);
    verifier.end();
  }
  const verdict = verifier.verdict();
  assert.ok(verdict.good, JSON.stringify(verdict));
  assert.equal(verdict.tail.is, 'complete');
  assert.equal(verdict.lastSequence, chain.head.size);
  assert.ok(verdict.ended);
  assert.deepEqual(found.sort(), recorded.sort());
  assert.equal(names.filter((name) => name.includes('manifest-')).length, 1);
  return files.length;
}

/** One in ten requests never arrives, one in ten replies never comes back, one in twenty is refused for a moment. */
function lossyWay() {
  let busy = 0;
  let mended = false;
  const way = {
    lost: 0,
    mend: () => {
      mended = true;
    },
    put: async (permit: Permit, bytes: Uint8Array, signal: AbortSignal): Promise<number> => {
      // One machine plays a thousand; their sockets would be most of the work.
      while (busy >= AT_ONCE) await wait(5);
      busy += 1;
      try {
        const fate = mended ? 1 : Math.random();
        if (fate < 0.25) way.lost += 1;
        if (fate < 0.1) throw new PutFault('connection');
        if (fate < 0.15) return 503;
        const status = await putPermitted(permit, bytes, signal);
        if (fate < 0.25) throw new PutFault('connection');
        return status;
      } finally {
        busy -= 1;
      }
    },
  };
  return way;
}

function chance(share: number): boolean {
  return Math.random() < share;
}

async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
