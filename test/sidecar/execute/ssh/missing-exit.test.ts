/** How often commands end without an exit status, and why, is counted; an answer of any other kind is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ed25519Key, exitWith, type SshScript, startFakeSsh } from '#test/fakes/ssh-server.ts';
import { openRig, type RigHost } from './ssh-rig.ts';

const key = ed25519Key();

const ENDS: readonly (readonly [kinds: readonly string[], what: string, script: SshScript, host?: Partial<RigHost>])[] = [
  [[], 'exit 0', {}],
  [[], 'exit 3', { onCommand: ({ channel }) => exitWith(channel, 3) }],
  [['lost'], 'a close without a word', { onCommand: ({ channel }) => channel.end() }],
  [['lost'], 'a connection cut under the command', { onCommand: ({ drop }) => drop() }],
  [['signal'], 'a signal', { onCommand: ({ channel }) => killed(channel) }],
  [['host_key'], 'another host key', {}, { pins: [ed25519Key().fingerprint] }],
  [['denied'], 'a key the host does not know', { onLogin: (context) => context.reject() }],
  [['protocol'], 'nothing to agree on', { algorithms: { hmac: ['hmac-sha1'], cipher: ['aes256-ctr'] } }],
  [['protocol'], 'a connection closed at once', { onSocket: (socket) => socket.destroy() }],
  [['unreachable'], 'a port where nobody listens', {}, { origin: 'ssh://127.0.0.1:1' }],
];

for (const [kinds, what, script, host] of ENDS) {
  test(`ssh: ${what} is counted as ${kinds[0] ?? 'an answer'}`, async () => {
    await using server = await startFakeSsh(script);
    await using rig = openRig({
      host: { origin: server.origin, pins: [server.key.fingerprint], privateKey: key.privateKey, ...host },
    });
    await rig.ask().catch(() => undefined);
    assert.deepEqual(rig.missingExits, kinds);
  });
}

test('ssh: a command that is not over in time is counted as timed_out', async () => {
  const abort = new AbortController();
  await using server = await startFakeSsh({ onCommand: () => abort.abort() });
  await using rig = openRig({ host: { origin: server.origin, pins: [server.key.fingerprint], privateKey: key.privateKey } });
  await rig.ask({}, { signal: abort.signal });
  assert.deepEqual(rig.missingExits, ['timed_out']);
});

function killed(channel: Parameters<NonNullable<SshScript['onCommand']>>[0]['channel']): void {
  channel.exit('KILL', false, '');
  channel.end();
}
