/** Connections that break, stall, or carry something else: a value or an error of ours, never a fault of the process. */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { ed25519Key, exitWith, type FakeSshServer, type SshScript, startFakeSsh } from '#test/fakes/ssh-server.ts';
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

test('SSH-11: a connection that breaks after any number of bytes is a value or an error of ours, never a fault of the process', async () => {
  await using server = await startFakeSsh({ onCommand: ({ channel }) => exitWith(channel, 0, 'x'.repeat(3000)) });
  for (let bytes = 0; bytes < 4200; bytes += 97) {
    await using proxy = await cutter(server.port, bytes);
    await using rig = openRig({ host: hostOf(server, { origin: `ssh://127.0.0.1:${proxy.port}` }) });
    const { reply } = await rig.ask();
    if (reply.kind === 'noReply') assert.ok(['unreachable', 'protocol'].includes(reply.cause), reply.cause);
    else if (reply.fault === undefined) assert.deepEqual([reply.exit, reply.bytes], [{ code: 0 }, 3000]);
  }
});

test('SSH-11: garbage in place of any part of the protocol is a value, never a fault of the process', async () => {
  for (const bytes of [
    '',
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    'SSH-1.5-old\r\n',
    'SSH-2.0-x\r\n\0\0\0\0\0\0\0\0',
    `SSH-2.0-x\r\n${'\xff'.repeat(100)}`,
    `${'a'.repeat(20_000)}\r\n`,
  ]) {
    await withHost({ onSocket: (socket) => socket.end(bytes, 'latin1') }, async (rig) => {
      const { sent } = noReplyOf(await rig.ask());
      assert.equal(sent, false);
    });
  }
});

test('SSH-11: nobody listening is unreachable, and a loopback host that no binding names is not dialled', async () => {
  const server = await startFakeSsh();
  await using rig = openRig({ host: hostOf(server) });
  await using closed = openRig({
    host: hostOf(server, { origin: 'ssh://host.test:22', addresses: null }),
    resolve: async () => ['127.0.0.1'],
  });
  await server[Symbol.asyncDispose]();
  assert.equal(noReplyOf(await rig.ask()).cause, 'unreachable');
  assert.equal(noReplyOf(await closed.ask()).cause, 'egressDenied');
});

describe('hosts that are slow', { concurrency: true }, () => {
  test('SSH-23: a host that drips its identification byte by byte ends at the connect deadline', async () => {
    await withHost({ onSocket: dripping }, async (rig) => {
      const signal = AbortSignal.timeout(300_000);
      const { cause, sent } = noReplyOf(await rig.ask({}, { signal }));
      assert.deepEqual([cause, sent, signal.aborted], ['timedOut', false, false]);
    });
  });

  test('SSH-10: a host that answers nothing any more is noticed by keepalive, long before the deadline', async () => {
    const script: SshScript = {
      onCommand: ({ connection }) => {
        const socket = Reflect.get(connection, '_sock') as Socket;
        socket.pause();
      },
    };
    await withHost(script, async (rig) => {
      const reply = replyOf(await rig.ask({}, { signal: AbortSignal.timeout(300_000) }));
      assert.deepEqual([reply.exit, reply.fault], [undefined, 'cut']);
    });
  });
});

/** A greeting of endless lines, as RFC 4253 section 4.2 allows them. */
function dripping(socket: Socket): void {
  const timer = setInterval(() => socket.write('a'), 200);
  socket.on('error', () => undefined).on('close', () => clearInterval(timer));
}

/** Passes `bytes` bytes of the server on, and hangs up. */
async function cutter(port: number, bytes: number): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let left = bytes;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('error', end).on('close', end);
    upstream.on('error', end).on('close', end);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      client.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) client.end(end);
    });
    if (bytes === 0) end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
