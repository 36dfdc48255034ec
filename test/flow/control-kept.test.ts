/**
 * Goal: what a controlled sidecar keeps over a restart of its container, and what it tells of credentials. Method: as control.test.ts,
 * with one directory for several sidecars after each other.
 */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CredentialState, State } from '#proto/postern/control/v1/control_pb.ts';
import { type ControlledRig, controlledRig, ONE } from './controlled-rig.ts';
import { eventually, podDirectory, startControlledStage } from './controlled-stage.ts';

let rig: ControlledRig;
before(async () => {
  rig = await controlledRig();
});
after(() => rig[Symbol.asyncDispose]());

test('control: a restarted container serves from what was kept, with its operator away, and is the same instance', async () => {
  const directory = podDirectory();
  const first = await rig.operator();
  const { port } = first;
  {
    await using sidecar = await rig.sidecarOf(first, { directory });
    await (await first.stream(0)).heard('ack');
    await sidecar.until('get_item', 'OK', ONE);
  }
  const { instance } = (await first.stream(0)).hello;
  await first[Symbol.asyncDispose]();
  await using sidecar = await startControlledStage({ port, pin: rig.pin, directory });
  assert.equal(await sidecar.code('get_item', ONE), 'OK');
  assert.equal(await sidecar.probe('/startupz'), 'ok\n');
  await using second = await rig.operator({ port });
  const { hello } = await second.stream(0);
  assert.deepEqual([hello.instance, hello.bundleRevision], [instance, rig.bundle.value.revision]);
  rmSync(directory, { recursive: true });
});

test('control: a revocation outlives a restart of the container', async () => {
  const directory = podDirectory();
  const master = await rig.operator();
  {
    await using sidecar = await rig.sidecarOf(master, { directory });
    const stream = await master.stream(0);
    await stream.heard('ack');
    await stream.send({ case: 'session', value: { state: State.REVOKED } });
    await sidecar.until('get_item', 'SESSION_REVOKED', ONE);
  }
  await master[Symbol.asyncDispose]();
  await using sidecar = await startControlledStage({ port: master.port, pin: rig.pin, directory });
  assert.equal(await sidecar.code('get_item', ONE), 'SESSION_REVOKED');
  rmSync(directory, { recursive: true });
});

test('control: a kept bundle that somebody else wrote, or that belongs to another pod, is not taken', async () => {
  const directory = podDirectory();
  const other = podDirectory();
  const master = await rig.operator();
  for (const pod of [directory, other]) {
    await using sidecar = await rig.sidecarOf(master, { directory: pod });
    await sidecar.until('get_item', 'OK', ONE);
    await eventually(async () => (await sidecar.metric('postern_bundle_kept_state')) === 1, 'the bundle to be kept');
  }
  await master[Symbol.asyncDispose]();
  const kept = join(directory, 'state', 'bundle.v1');
  const good = readFileSync(kept, 'utf8');
  const forgeries = [
    good.replace('"phase":"Active"', '"phase":"active"'),
    good.replace(/"grantedMs":\d+/, '"grantedMs":99999999'),
    good.slice(65),
    good.slice(0, -1),
    '',
    readFileSync(join(other, 'state', 'bundle.v1'), 'utf8'),
  ];
  for (const forged of forgeries) {
    assert.notEqual(forged, good);
    writeFileSync(kept, forged);
    await using sidecar = await startControlledStage({ port: master.port, pin: rig.pin, directory });
    assert.equal(await sidecar.code('get_item', ONE), 'CONTRACT_NOT_READY');
  }
  writeFileSync(kept, good);
  await using sidecar = await startControlledStage({ port: master.port, pin: rig.pin, directory });
  assert.equal(await sidecar.code('get_item', ONE), 'OK');
  for (const pod of [directory, other]) rmSync(pod, { recursive: true });
});

test('control: a state folder that cannot be used costs the kept bundle, never a start or a call, and is said', async () => {
  const directory = podDirectory();
  writeFileSync(join(directory, 'state'), 'a file where a folder should be');
  await using master = await rig.operator();
  await using sidecar = await rig.sidecarOf(master, { directory });
  await sidecar.until('get_item', 'OK', ONE);
  assert.equal(await sidecar.metric('postern_bundle_kept_state'), 0);
  assert.ok(sidecar.log.some(({ level, message }) => level === 'warn' && String(message).includes('state folder cannot be used')));
  rmSync(directory, { recursive: true });
});

test('control: the operator hears which keys are mounted, and of a new value within a second or two, never the value', async () => {
  await using master = await rig.operator();
  await using sidecar = await startControlledStage({ port: master.port, pin: rig.pin });
  const stream = await master.stream(0);
  const missing = await stream.heard('credentials', ({ files }) => files.length > 0);
  assert.deepEqual(
    missing.files.map(({ binding, key, state, digest }) => [binding, key, state, digest]),
    [['reader', 'token', CredentialState.MISSING, '']],
  );
  sidecar.writeCredential('postern-flow', 'token', 'flow-token-0123456789');
  const present = await stream.heard('credentials', ({ files }) => files[0]?.state === CredentialState.PRESENT);
  sidecar.writeCredential('postern-flow', 'next', 'flow-token-9876543210');
  renameSync(join(sidecar.state, '../credentials/postern-flow/next'), join(sidecar.state, '../credentials/postern-flow/token'));
  const [old] = present.files;
  const [rotated] = (
    await stream.heard('credentials', ({ files: [file] }) => file !== undefined && !['', old?.digest].includes(file.digest))
  ).files;
  assert.match(rotated?.digest ?? '', /^[0-9a-f]{8}$/);
  assert.ok((rotated?.sinceMs ?? 0n) >= (old?.sinceMs ?? 0n));
  sidecar.writeCredential('postern-flow', 'token', 'short');
  await stream.heard('credentials', ({ files }) => files[0]?.state === CredentialState.UNUSABLE);
  assert.doesNotMatch(
    JSON.stringify(stream.said, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    /flow-token|short/,
  );
});
