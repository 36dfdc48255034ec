/** Hosts that lie or ask for more than they get: none is believed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PosternError } from '#core/error/postern-error.ts';
import { ed25519Key, exitWith, type FakeSshServer, rsaKey, type SshScript, startFakeSsh } from '#test/fakes/ssh-server.ts';
import { noReplyOf, openRig, type Rig, type RigHost, replyOf } from './ssh-rig.ts';

const key = ed25519Key();

function hostOf(server: FakeSshServer, more: Partial<RigHost> = {}): RigHost {
  return { origin: server.origin, pins: [server.key.fingerprint], privateKey: key.privateKey, ...more };
}

async function withHost(
  script: SshScript,
  use: (rig: Rig, server: FakeSshServer) => Promise<void>,
  more: Partial<RigHost> = {},
): Promise<void> {
  await using server = await startFakeSsh(script);
  await using rig = openRig({ host: hostOf(server, more) });
  await use(rig, server);
}

/** What a read of it is called when there is no answer. */
async function readError(rig: Rig): Promise<string> {
  const { folded } = await rig.read();
  assert.equal(folded.kind, 'error');
  assert.equal(folded.kind === 'error' && folded.completeness.complete, false);
  return folded.kind === 'error' ? folded.reason : '';
}

test('SSH-01: the host key is checked before anything of the login is sent', async () => {
  await withHost(
    {},
    async (rig, server) => {
      const { cause, sent } = noReplyOf(await rig.ask());
      assert.deepEqual([cause, sent, server.connections, server.logins, server.commands], ['hostKey', false, 1, [], []]);
    },
    { pins: [ed25519Key().fingerprint] },
  );
});

test('SSH-02: a changed key is refused each time, both fingerprints are told, and nothing is learnt', async () => {
  const pinned = ed25519Key().fingerprint;
  await withHost(
    {},
    async (rig, server) => {
      assert.equal(await readError(rig), 'HOST_KEY_MISMATCH');
      assert.equal(await readError(rig), 'HOST_KEY_MISMATCH');
      const mismatch = { origin: server.origin, shown: server.key.fingerprint, pinned: [pinned] };
      assert.deepEqual([rig.mismatches, server.logins], [[mismatch, mismatch], []]);
    },
    { pins: [pinned] },
  );
});

test('SSH-03: another key in a later key exchange drops the connection, also when it is pinned too', async () => {
  const other = ed25519Key();
  const script: SshScript = {
    onCommand: ({ channel, rekeyWith }) => {
      channel.write('partial\n');
      rekeyWith(other);
    },
  };
  for (const pinned of [[], [other.fingerprint]]) {
    await using server = await startFakeSsh(script);
    await using rig = openRig({ host: hostOf(server, { pins: [server.key.fingerprint, ...pinned] }) });
    const reply = replyOf(await rig.ask());
    assert.deepEqual([reply.exit, reply.fault], [undefined, 'cut']);
    assert.deepEqual(rig.mismatches, [{ origin: server.origin, shown: other.fingerprint, pinned: [server.key.fingerprint] }]);
  }
});

const WEAK: readonly (readonly [string, NonNullable<SshScript['algorithms']>])[] = [
  ['SSH-04: chacha20-poly1305 alone', { cipher: ['chacha20-poly1305@openssh.com'] }],
  ['SSH-04: CBC with encrypt-then-mac', { cipher: ['aes256-cbc'], hmac: ['hmac-sha2-256-etm@openssh.com'] }],
  ['SSH-04: encrypt-then-mac alone', { cipher: ['aes256-ctr'], hmac: ['hmac-sha2-256-etm@openssh.com'] }],
  ['SSH-05: key exchange with SHA-1', { kex: ['diffie-hellman-group14-sha1'] }],
  ['SSH-05: a MAC of SHA-1', { cipher: ['aes256-ctr'], hmac: ['hmac-sha1'] }],
];
for (const [what, algorithms] of WEAK) {
  test(`${what} is not negotiated, and nothing of the login is sent`, async () => {
    await withHost({ algorithms }, async (rig, server) => {
      const { cause, sent } = noReplyOf(await rig.ask());
      assert.deepEqual([cause, sent, server.logins], ['protocol', false, []]);
    });
  });
}

test('SSH-05: a host key that signs with SHA-1 alone is not negotiated', async () => {
  await using server = await startFakeSsh({ algorithms: { serverHostKey: ['ssh-rsa'] } }, rsaKey());
  await using rig = openRig({ host: hostOf(server) });
  assert.deepEqual([noReplyOf(await rig.ask()).cause, server.logins], ['protocol', []]);
});

test('SSH-06: a channel that closes without an exit status is no success', async () => {
  await withHost({ onCommand: ({ channel }) => channel.end() }, async (rig) => {
    const reply = replyOf(await rig.ask());
    assert.deepEqual([reply.exit, reply.fault], [undefined, 'cut']);
    assert.equal(await readError(rig), 'REMOTE_PROTOCOL');
  });
});

test('SSH-06b: output, its end and a close without an exit status are not an answer', async () => {
  const script: SshScript = {
    onCommand: ({ channel }) => {
      channel.write('partial\n');
      channel.end();
    },
  };
  await withHost(script, async (rig) => {
    assert.equal(replyOf(await rig.ask()).exit, undefined);
    const { folded } = await rig.read();
    assert.ok(folded.kind === 'error');
    assert.deepEqual([folded.reason, folded.message], ['REMOTE_PROTOCOL', 'The host did not say how the command ended.']);
  });
});

test('SSH-07: a connection that is lost in the middle of a command is no answer, although the stream ends', async () => {
  const script: SshScript = {
    onCommand: ({ channel, drop }) => {
      channel.write('partial\n', () => setImmediate().then(drop));
    },
  };
  await withHost(script, async (rig) => {
    const reply = replyOf(await rig.ask());
    assert.deepEqual([reply.exit, reply.fault], [undefined, 'cut']);
    assert.equal(await readError(rig), 'REMOTE_PROTOCOL');
  });
});

test('SSH-07: an exit status before the end of the output does not make the output whole', async () => {
  const script: SshScript = {
    onCommand: ({ channel, drop }) => {
      channel.exit(0);
      channel.write('partial\n', () => setImmediate().then(drop));
    },
  };
  await withHost(script, async (rig) => {
    const reply = replyOf(await rig.ask());
    assert.deepEqual([reply.exit, reply.fault], [{ code: 0 }, 'cut']);
    assert.equal(await readError(rig), 'REMOTE_PROTOCOL');
  });
});

test('SSH-08: a command ended by a signal is no answer, and the error names the signal', async () => {
  const script: SshScript = {
    onCommand: ({ channel }) => {
      channel.exit('KILL', false, 'killed');
      channel.end();
    },
  };
  await withHost(script, async (rig) => {
    assert.deepEqual(replyOf(await rig.ask()).exit, { signal: 'KILL' });
    const { folded } = await rig.read();
    assert.equal(folded.kind === 'error' && folded.message, 'The command was ended by the signal KILL.');
  });
});

test('SSH-09: output that comes after the exit status is part of the answer', async () => {
  const script: SshScript = {
    onCommand: ({ channel }) => {
      channel.write('early\n');
      channel.exit(0);
      setTimeout(() => channel.end('late\n'), 50);
    },
  };
  await withHost(script, async (rig) => {
    const { folded, dataJson } = await rig.read();
    assert.equal(folded.kind === 'envelope' && folded.envelope.status, 'ok');
    assert.equal(dataJson, '{"lines":[{"line":"early"},{"line":"late"}]}');
  });
});

test('SSH-20: the key is the only method that is ever tried, and it is tried once', async () => {
  for (const left of [['keyboard-interactive'], ['password', 'hostbased', 'publickey']] as const) {
    await withHost({ onLogin: (context) => context.reject([...left]) }, async (rig, server) => {
      await assert.rejects(rig.ask(), (error) => error instanceof PosternError && error.reason === 'CREDENTIAL_INVALID');
      assert.deepEqual(server.logins, ['publickey:ssh-ed25519']);
    });
  }
});

test('SSH-20: a second factor that a host asks for after the key is the end', async () => {
  await withHost({ onLogin: (context) => context.reject(['keyboard-interactive'], true) }, async (rig, server) => {
    await assert.rejects(rig.ask(), (error) => error instanceof PosternError && error.reason === 'CREDENTIAL_INVALID');
    assert.deepEqual(server.logins, ['publickey:ssh-ed25519']);
  });
});

test('SSH-21: channels that a host opens are refused and counted, and the command goes on', async () => {
  const refused: string[] = [];
  const script: SshScript = {
    onCommand: ({ channel, connection }) => {
      const noted = (kind: string) => (error: Error | undefined) => {
        refused.push(`${kind}: ${error === undefined ? 'opened' : 'refused'}`);
        if (refused.length === 3) exitWith(channel, 0, 'done\n');
      };
      connection.x11('127.0.0.1', 6000, noted('x11'));
      connection.forwardOut('127.0.0.1', 22, '127.0.0.1', 1, noted('forwarded-tcpip'));
      connection.openssh_forwardOutStreamLocal('/tmp/agent', noted('forwarded-streamlocal'));
    },
  };
  await withHost(script, async (rig) => {
    assert.deepEqual(replyOf(await rig.ask()).body, [{ line: 'done' }]);
    assert.deepEqual(refused.toSorted(), ['forwarded-streamlocal: refused', 'forwarded-tcpip: refused', 'x11: refused']);
    assert.equal(rig.foreign(), 3);
  });
});

test('SSH-21: an agent channel is refused and counted', async () => {
  const script: SshScript = {
    onCommand: ({ channel, connection }) => {
      const protocol = Reflect.get(connection, '_protocol') as { openssh_authAgent(chan: number, window: number, packet: number): void };
      protocol.openssh_authAgent(77, 1024, 1024);
      setTimeout(() => exitWith(channel, 0, 'done\n'), 100);
    },
  };
  await withHost(script, async (rig) => {
    assert.deepEqual(replyOf(await rig.ask()).body, [{ line: 'done' }]);
    assert.equal(rig.foreign(), 1);
  });
});

test('SSH-21: a host that goes on asking for channels is cut off', async () => {
  const script: SshScript = {
    onCommand: ({ connection }) => {
      for (let count = 0; count < 20; count += 1) connection.x11('127.0.0.1', 6000, () => undefined);
    },
  };
  await withHost(script, async (rig) => assert.deepEqual([replyOf(await rig.ask()).fault, rig.foreign() > 8], ['cut', true]));
});
