/** A segment that the disk of its pod has lost: what comes behind it still goes into a real S3 server, by the operator's permits. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { StoreWatch, type WitnessStore } from '#operator/witness/store-watch.ts';
import { putPermitted } from '#sidecar/audit/permitted-put.ts';
import { unavailable } from '#test/servers/build.ts';
import { startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { makeIdentity } from '#test/sidecar/audit/chain-stage.ts';
import { AuditedSession } from './audited-session.ts';

const skip = await unavailable('weed');

test('audit: a segment that was damaged on disk is passed; the ones behind it are shipped, and the gap is named', { skip }, async (t) => {
  await using s3 = await startSeaweedfs();
  await s3.createBucket('audit');
  await using opened = await openStore(parseStoreAddress(`s3://audit/kept?endpoint=${s3.endpoint}`), {
    clock: systemClock,
    env: { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey },
  });
  const store = opened as WitnessStore;
  const folder = mkdtempSync(join(tmpdir(), 'postern-gap-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const watch = new StoreWatch({ store, clock: systemClock });
  await watch.probe();
  const authority = makeSigningKey('postern.dev/authority/gap');
  const terms = { recipients: [makeIdentity().recipient], effects: 'Acknowledged' } as const;
  const means = auditMeans({ clock: systemClock, cluster: 'gap', terms, watch, authority: () => authority });
  const session = new AuditedSession({ means, folder, namespace: 'agents', put: putPermitted });
  session.connect();
  await session.begin();
  const close = async () => {
    await session.write();
    await session.chain.closeSegment();
  };
  await close();
  while (session.status.audit?.shippedSegments !== 1) await wait(20);

  // In a segment that is still open: nobody has read it for shipping.
  await session.write();
  damageLast(folder);
  const broken = session.chain.head.size;
  await session.chain.closeSegment();
  await close();
  await close();
  assert.deepEqual(await session.end(120_000), { shipped: true, manifest: true });

  const { namespace, spec, createdMs } = session.record;
  const names: string[] = [];
  for await (const { name } of store.list(chainFolder({ cluster: 'gap', namespace, session: spec.pod.uid, beganMs: createdMs })))
    names.push(name);
  const segments = names.filter((name) => name.endsWith('.seg')).sort();
  const numbers = segments.map((name) => Number(name.slice(-14, -4)));
  assert.deepEqual(numbers.slice(0, 3), [1, 3, 4]);
  assert.ok(names.some((name) => name.includes('manifest-')));
  const verifier = new ChainVerifier({ keys: [authority], heads: [] });
  for (const name of segments) {
    const bytes = (await store.read(name, limits.auditSegmentFileBytesMax)) ?? assert.fail(name);
    verifier.begin(bytes.length);
    verifier.push(bytes);
    verifier.end();
  }
  const verdict = verifier.verdict();
  assert.ok(!verdict.good);
  assert.ok((verdict.broken?.sequence ?? broken + 1) <= broken, 'the first record of the segment that is missing');
  const { shippedSegments, shippedSequence } = session.status.audit ?? {};
  assert.deepEqual({ shippedSegments, shippedSequence }, { shippedSegments: 1, shippedSequence: (verdict.broken?.sequence ?? 0) - 1 });
});

/** One bit of what was appended last. */
function damageLast(folder: string): void {
  const path = join(folder, readdirSync(folder).find((name) => name.endsWith('.wal')) ?? assert.fail(readdirSync(folder).join()));
  const content = readFileSync(path);
  const last = content.findLastIndex((byte) => byte !== 0);
  content[last] = (content[last] ?? 0) ^ 1;
  writeFileSync(path, content, { flag: 'r+' });
}
