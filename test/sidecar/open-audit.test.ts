/** The end of a sidecar's audit: in order where all answer, and in time whoever does not. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '#core/bounds/limits.ts';
import { createLog } from '#core/runtime/log.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import type { SegmentSink } from '#sidecar/audit/segment-sink.ts';
import { Audit } from '#sidecar/open-audit.ts';
import { IDENTITY, makeAuthority, ORIGIN, readChain } from './audit/chain-stage.ts';
import { VirtualClock } from './audit/virtual-clock.ts';

/** Default of Kubernetes for a pod; what a sidecar is given to end. */
const GRACE_MS = 30_000;
const never = () => new Promise<never>(() => {});

interface Rig {
  readonly audit: Audit;
  readonly clock: VirtualClock;
  readonly folder: string;
  readonly logged: readonly { readonly level: string; readonly msg: string }[];
}

async function open(t: TestContext, authority: Authority, sink: SegmentSink): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-open-audit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const clock = new VirtualClock();
  const logged: { level: string; msg: string }[] = [];
  const log = createLog({ level: 'info', destination: { write: (line: string) => void logged.push(JSON.parse(line)) } });
  const audit = new Audit({ clock, log, metrics: new SidecarMetrics(clock, 'test') }, { folder, authority });
  await audit.open({ origin: ORIGIN, recipients: [IDENTITY.recipient] });
  await audit.ship({ sink });
  audit.recorder.tell({ record: 'session', event: 'started', version: 'test', operator: true });
  await audit.recorder.flush();
  return { audit, clock, folder, logged };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(5);
}

const errorsOf = ({ logged }: Rig) => logged.filter(({ level }) => level === 'error' || level === 'warn').map(({ msg }) => msg);

test('open audit: an end in order is written, witnessed and shipped with its manifest, and nothing is told as a fault', async (t) => {
  const witnessed: string[] = [];
  const shipped: string[] = [];
  const rig = await open(t, makeAuthority(undefined, witnessed), {
    put: async ({ kind }) => {
      shipped.push(kind);
      return 'created';
    },
  });
  await rig.audit.end();
  await rig.audit.close();
  assert.deepEqual(shipped.slice(-2), ['segment', 'manifest']);
  assert.ok(witnessed.length > 0);
  assert.deepEqual(errorsOf(rig), []);
});

for (const [who, faults] of [
  ['the witness does not answer', { witness: never }],
  ['the store does not answer', { put: never }],
  ['witness and store do not answer', { witness: never, put: never }],
] as const)
  test(`open audit: where ${who}, all that an end does takes no longer than its one budget (AUD-12)`, async (t) => {
    let asked = 0;
    const shipped: string[] = [];
    const count = <T>(answer: () => Promise<T>) => {
      asked += 1;
      return answer();
    };
    const { witness, put } = { witness: undefined, put: undefined, ...faults };
    const authority = makeAuthority();
    const rig = await open(
      t,
      { ...authority, witness: (note) => count(() => (witness ?? (() => authority.witness(note)))()) },
      {
        put: ({ kind }) =>
          count<'created'>(
            put ??
              (async () => {
                shipped.push(kind);
                return 'created';
              }),
          ),
      },
    );
    const beganMs = rig.clock.monotonicMs();
    let ended = false;
    const end = rig.audit.end().then(() => {
      ended = true;
    });
    // The disk is real, so time passes only once the end is on it.
    let kinds: readonly string[] = [];
    await until(() => asked > 0);
    while (!kinds.includes('end')) {
      await wait(5);
      kinds = (await readChain(rig.folder)).frames.flatMap(({ heads }) => heads.map(({ kind }) => kind));
    }
    await wait(20);
    if (witness !== undefined) await rig.clock.passUntil(() => rig.clock.monotonicMs() - beganMs >= limits.auditLastReceiptMs);
    if (put === undefined) await until(() => shipped.at(-1) === 'manifest' && ended);
    await rig.clock.passUntil(() => ended);
    await end;
    const tookMs = rig.clock.monotonicMs() - beganMs;
    assert.ok(tookMs <= limits.auditFlushMs, `${tookMs} ms`);
    let closed = false;
    const close = rig.audit.close().then(() => {
      closed = true;
    });
    await rig.clock.passUntil(() => closed);
    await close;
    assert.deepEqual(
      rig.logged.filter(({ level }) => level === 'error').map(({ msg }) => msg),
      [],
    );
  });

test('open audit: drain and end together fit the grace of a pod', () => {
  assert.ok(limits.drainMsMax + limits.auditFlushMs < GRACE_MS);
});
