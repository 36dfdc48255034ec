/** A host behind a hop: each with its own pin and its own key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ed25519Key, type FakeSshServer, startFakeSsh } from '#test/fakes/ssh-server.ts';
import { type Sshd, startSshd } from '#test/servers/sshd.ts';
import { noReplyOf, openRig, type RigHost, replyOf } from './ssh-rig.ts';

const real = (server: Sshd, more: Partial<RigHost> = {}): RigHost => ({
  origin: server.origin,
  pins: server.fingerprints,
  privateKey: server.privateKey,
  user: server.user,
  ...more,
});

const fake = (server: FakeSshServer, more: Partial<RigHost> = {}): RigHost => ({
  origin: server.origin,
  pins: [server.key.fingerprint],
  privateKey: ed25519Key().privateKey,
  ...more,
});

test('SSH-22: a command reaches a real host through a real hop, with a key for each', async () => {
  await using hop = await startSshd();
  await using target = await startSshd();
  await using rig = openRig({ host: real(target, { via: real(hop) }), ssh: 'argv: [printenv, SSH_CONNECTION]\nshell: Posix' });
  const { body } = replyOf(await rig.ask());
  assert.match(JSON.stringify(body), new RegExp(`127.0.0.1 [0-9]+ 127.0.0.1 ${target.port}"`));
  assert.match(hop.logTail(), /direct-tcpip|Accepted publickey/);
});

test('SSH-22: a hop with another key gets no login, and the host behind it is not reached', async () => {
  await using hop = await startFakeSsh({ forwards: true });
  await using target = await startFakeSsh();
  await using rig = openRig({ host: fake(target, { via: fake(hop, { pins: [target.key.fingerprint] }) }) });
  assert.equal(noReplyOf(await rig.ask()).cause, 'hostKey');
  assert.deepEqual([hop.logins, hop.forwarded, target.connections], [[], [], 0]);
  assert.equal(rig.mismatches[0]?.origin, hop.origin);
});

test('SSH-22: a host with another key behind a good hop gets no login', async () => {
  await using hop = await startFakeSsh({ forwards: true });
  await using target = await startFakeSsh();
  await using rig = openRig({ host: fake(target, { pins: [hop.key.fingerprint], via: fake(hop) }) });
  assert.equal(noReplyOf(await rig.ask()).cause, 'hostKey');
  assert.deepEqual([target.logins, target.connections, rig.mismatches[0]?.origin], [[], 1, target.origin]);
});

test('SSH-22: a hop that does not connect us is unreachable, and nothing was sent', async () => {
  await using hop = await startFakeSsh();
  await using target = await startFakeSsh();
  await using rig = openRig({ host: fake(target, { via: fake(hop) }) });
  const { cause, sent } = noReplyOf(await rig.ask());
  assert.deepEqual([cause, sent, target.connections], ['unreachable', false, 0]);
});

test('SSH-22: a name behind a hop is vetted here where its binding names addresses, else the hop gets the name', async () => {
  const resolve = async (name: string) => (name === 'inside.test' ? ['10.1.2.3'] : ['127.0.0.1']);
  for (const [addresses, told] of [
    [['10.1.0.0/16'], ['10.1.2.3:22']],
    [['10.2.0.0/16'], []],
    [null, ['inside.test:22']],
  ] as const) {
    await using hop = await startFakeSsh();
    const host = {
      origin: 'ssh://inside.test:22',
      pins: [ed25519Key().fingerprint],
      privateKey: ed25519Key().privateKey,
      addresses,
      via: fake(hop),
    };
    await using rig = openRig({ host, resolve });
    const { cause } = noReplyOf(await rig.ask());
    assert.deepEqual([cause, hop.forwarded], [told.length === 0 ? 'egressDenied' : 'unreachable', told]);
  }
});

test('SSH-22: a hop that is lost in the middle of a command leaves nobody knowing what it did', async () => {
  await using hop = await startFakeSsh({ forwards: true });
  await using target = await startFakeSsh({
    onCommand: ({ channel }) => {
      channel.write('partial\n');
      void hop[Symbol.asyncDispose]();
    },
  });
  await using rig = openRig({ host: fake(target, { via: fake(hop) }) });
  const { reply } = await rig.ask();
  assert.deepEqual(target.commands, ["'status'"]);
  if (reply.kind === 'noReply') assert.equal(reply.sent, true);
  else assert.deepEqual([reply.exit, reply.fault], [undefined, 'cut']);
});
