/** A standalone sidecar and a store of its own that is not what it should be. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import { STORE_WARNINGS } from '#core/runtime/open-store.ts';
import type { Audit } from '#sidecar/open-audit.ts';
import { ownAuditOrRefuse } from '#sidecar/own-audit.ts';
import type { SidecarSettings } from '#sidecar/settings.ts';
import { type Carelessness, startCarelessS3 } from '#test/fakes/careless-s3.ts';
import { unavailable } from '#test/servers/build.ts';
import { startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { makeIdentity } from './audit/chain-stage.ts';

const skip = await unavailable('weed');

interface Own {
  readonly audit: Audit;
  readonly logged: string[];
  metrics(): Promise<string>;
}

async function open(t: TestContext, endpoint: string, keys: { id: string; secret: string }): Promise<Own> {
  const state = mkdtempSync(join(tmpdir(), 'postern-own-audit-'));
  const logged: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line: string) => void logged.push(line) } });
  const metrics = new SidecarMetrics(systemClock, 'test');
  const settings = {
    state,
    audit: {
      recipients: [makeIdentity().recipient],
      keyFile: join(state, 'audit-key'),
      store: parseStoreAddress(`s3://audit/kept?region=us-east-1&endpoint=${encodeURIComponent(endpoint)}`),
      env: { AWS_ACCESS_KEY_ID: keys.id, AWS_SECRET_ACCESS_KEY: keys.secret },
    },
  } as unknown as SidecarSettings;
  const audit = await ownAuditOrRefuse({ clock: systemClock, log, metrics }, settings);
  t.after(async () => {
    await audit.close();
    rmSync(state, { recursive: true, force: true });
  });
  return { audit, logged, metrics: async () => (await metrics.exposition()).text };
}

async function careless(t: TestContext, how: Carelessness) {
  const s3 = await startCarelessS3(how);
  t.after(() => s3[Symbol.asyncDispose]());
  return s3;
}

test('own audit: a store that replaces what it has gets nothing; log, probe and metrics say so, and records are kept (AUD-18)', async (t) => {
  for (const how of [{}, { heedsPut: true }]) {
    const s3 = await careless(t, how);
    const { audit, logged, metrics } = await open(t, s3.endpoint, { id: 'id', secret: 'secret' });
    assert.ok(
      logged.some((line) => line.includes('replaces what it has')),
      logged.join(''),
    );
    assert.deepEqual(audit.notReady(), ['audit_store'], 'calls are not refused');
    audit.recorder.tell({ record: 'session', event: 'started', version: 'test', operator: false });
    await audit.recorder.flush();
    await audit.chain?.closeSegment();
    await until(async () => (await metrics()).includes('postern_audit_shipping_fault_state{fault="unsafe"} 1'));
    assert.ok((audit.chain?.closed().length ?? 0) > 0);
    assert.ok(![...s3.objects.keys()].some((name) => name.endsWith('.seg')), [...s3.objects.keys()].join());
    assert.equal(audit.recorder.fault, undefined);
  }
});

test('own audit: a store that its credentials may change is used, with a warning that says what to do (AUD-20)', { skip }, async (t) => {
  await using s3 = await startSeaweedfs();
  await s3.createBucket('audit');
  const { audit, logged, metrics } = await open(t, s3.endpoint, { id: s3.accessKeyId, secret: s3.secretAccessKey });
  assert.deepEqual(audit.notReady(), []);
  const text = logged.join('');
  assert.ok(text.includes(STORE_WARNINGS.deletable) || text.includes(STORE_WARNINGS.hideable), text);
  audit.recorder.tell({ record: 'session', event: 'started', version: 'test', operator: false });
  await audit.recorder.flush();
  await audit.chain?.closeSegment();
  await until(async () => /^postern_audit_last_shipped_seconds 1[0-9.e+]+/m.test(await metrics()));
  assert.match(await metrics(), /^postern_audit_poisoned_segments 0$/m);
  await audit.close();
});

async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await fact()); turns += 1) {
    assert.ok(turns < 3_000, 'it did not come to that within a minute');
    await wait(20);
  }
}
