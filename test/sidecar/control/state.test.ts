/** What counts when: the order of what an operator says, what is written, and what a disk that fails costs. */
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { type Bundle, BundleSchema, State } from '#proto/postern/control/v1/control_pb.ts';
import { KeptBundle, type KeptState } from '#sidecar/control/kept-bundle.ts';
import type { BootClock } from '#sidecar/control/lease.ts';
import { ControlState } from '#sidecar/control/state.ts';

const BOOT = '11111111-2222-3333-4444-555555555555';

class Disk extends KeptBundle {
  readonly written: KeptState[] = [];
  full = false;
  override async write(state: KeptState): Promise<void> {
    if (this.full) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    this.written.push(state);
    await super.write(state);
  }
}

function rig(directory = mkdtempSync(join(tmpdir(), 'postern-kept-')), key = createSecretKey(randomBytes(32))) {
  const clock = { ms: 1_000, bootId: BOOT as string | undefined };
  const boot: BootClock = {
    nowMs: () => clock.ms,
    get bootId() {
      return clock.bootId;
    },
  };
  const disk = new Disk(directory, key);
  const kept: boolean[] = [];
  const alarms: number[] = [];
  let changes = 0;
  const state = new ControlState({
    clock: boot,
    kept: disk,
    onChange: () => {
      changes += 1;
    },
    onKept: (good) => kept.push(good),
    alarm: (ms) => {
      alarms.push(ms);
      return () => {};
    },
    credentials: () => ({ 'reader/token': { digest: 'abcdef01', sinceMs: 5 } }),
  });
  return {
    clock,
    disk,
    kept,
    alarms,
    state,
    directory,
    key,
    changes: () => changes,
    again: () => rig(directory, key),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function bundle(state: State, leaseMs = 60_000): Bundle {
  return create(BundleSchema, { revision: 'sha256:1', session: { state, because: 'why' }, leaseMs: BigInt(leaseMs) });
}

test('state: a bundle allows only once it is served, and restricts at once', () => {
  using r = rig();
  const served = r.state.arrives(bundle(State.ACTIVE));
  assert.deepEqual([r.state.session.phase, r.state.leaseLeftMs], ['Pending', 0]);
  served();
  assert.deepEqual([r.state.session.phase, r.state.leaseLeftMs], ['Active', 60_000]);
  r.state.arrives(bundle(State.SUSPENDED));
  assert.equal(r.state.session.phase, 'Suspended');
});

test('state: a revocation that came while a bundle was compiled is not undone by it, a renewal neither', () => {
  using r = rig();
  const served = r.state.arrives(bundle(State.ACTIVE, 60_000));
  r.state.says({ state: State.REVOKED, because: 'now' });
  r.state.renews(10_000);
  served();
  assert.deepEqual([r.state.session.phase, r.state.leaseLeftMs], ['Revoked', 10_000]);
});

test('state: the lease of a bundle counts from its arrival, not from when it was compiled', () => {
  using r = rig();
  const served = r.state.arrives(bundle(State.ACTIVE, 60_000));
  r.clock.ms += 5_000;
  served();
  assert.equal(r.state.leaseLeftMs, 55_000);
  assert.equal(r.alarms.at(-1), 55_001);
});

test('state: what was said last is what a restart finds', async () => {
  using r = rig();
  r.state.welcomed('agent-1', 'flow');
  r.state.arrives(bundle(State.ACTIVE))();
  r.state.says({ state: State.SUSPENDED, because: 'leak' });
  await r.state.save();
  r.clock.ms += 20_000;
  const after = r.again();
  after.clock.ms = r.clock.ms;
  const found = await after.state.restore();
  assert.equal(found?.bundle.revision, 'sha256:1');
  assert.deepEqual(found?.credentials, { 'reader/token': { digest: 'abcdef01', sinceMs: 5 } });
  assert.deepEqual(after.state.session, { name: 'agent-1', namespace: 'flow', phase: 'Suspended', because: 'leak' });
  assert.equal(after.state.leaseLeftMs, 40_000);
});

test('state: after a reboot of the node the bundle is found and its lease is over', async () => {
  using r = rig();
  r.state.arrives(bundle(State.ACTIVE))();
  await r.state.save();
  const after = r.again();
  after.clock.bootId = '99999999-2222-3333-4444-555555555555';
  assert.ok((await after.state.restore()) !== undefined);
  assert.equal(after.state.leaseLeftMs, 0);
});

test('state: renewals are written when a tenth of the lease is gained or any is lost, not each', async () => {
  using r = rig();
  r.state.arrives(bundle(State.ACTIVE, 100_000))();
  await r.state.save();
  const before = r.disk.written.length;
  for (let beat = 0; beat < 10; beat += 1) {
    r.clock.ms += 1_000;
    r.state.renews(100_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(r.disk.written.length, before);
  r.clock.ms += 1_000;
  r.state.renews(100_000);
  await r.state.save();
  assert.ok(r.disk.written.length > before);
  const shorter = r.disk.written.length;
  r.state.renews(1_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(r.disk.written.length > shorter);
});

test('state: a full disk is told once, costs nothing but the file, and is tried again at the next word', async () => {
  using r = rig();
  r.state.arrives(bundle(State.ACTIVE))();
  await r.state.save();
  r.disk.full = true;
  for (const state of [State.SUSPENDED, State.ACTIVE, State.SUSPENDED]) {
    r.state.says({ state, because: '' });
    await r.state.save();
  }
  assert.deepEqual(r.kept, [true, false]);
  assert.equal(r.state.session.phase, 'Suspended');
  r.disk.full = false;
  await r.state.save();
  assert.deepEqual(r.kept, [true, false, true]);
});

for (const [what, say] of [
  ['a revocation', ({ state }: ReturnType<typeof rig>) => state.says({ state: State.REVOKED, because: '' })],
  ['a bundle', ({ state }: ReturnType<typeof rig>) => state.arrives(bundle(State.ACTIVE))()],
  ['a shorter lease', ({ state }: ReturnType<typeof rig>) => state.renews(1_000)],
] as const) {
  test(`state: ${what} that a full disk does not take is not undone by a restart: nothing is found then (OPR-24)`, async () => {
    using r = rig();
    r.state.arrives(bundle(State.ACTIVE))();
    await r.state.save();
    r.disk.full = true;
    say(r);
    await r.state.save();
    assert.equal(await r.again().state.restore(), undefined);
  });
}

test('state: a longer lease that a full disk does not take leaves what was kept, with the lease it had', async () => {
  using r = rig();
  r.state.arrives(bundle(State.ACTIVE, 10_000))();
  await r.state.save();
  r.disk.full = true;
  r.state.renews(60_000);
  await r.state.save();
  const after = r.again();
  assert.notEqual(await after.state.restore(), undefined);
  assert.deepEqual([after.state.session.phase, after.state.leaseLeftMs], ['Active', 10_000]);
});

test('state: what is kept is readable by its owner only, and nothing is left beside it', async () => {
  using r = rig();
  r.state.arrives(bundle(State.ACTIVE))();
  await r.state.save();
  assert.deepEqual(readdirSync(r.directory), ['bundle.v1']);
  assert.equal(statSync(join(r.directory, 'bundle.v1')).mode & 0o777, 0o600);
});
