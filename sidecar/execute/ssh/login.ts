/**
 * One host: key exchange, its key against the pin, then our login with exactly one method, the key of its binding. No agent, no password, no
 * keyboard, nothing asked of the host about what it would take (failure case SSH-20).
 */
import type { Duplex } from 'node:stream';
import ssh2, { type ParsedKey, type PublicKeyAuthMethod } from 'ssh2';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { ALGORITHMS } from './algorithms.ts';
import { hostKeyCheck } from './host-key.ts';
import { type HostKeyMismatch, SshFailure } from './ssh-failure.ts';

export interface SshHost {
  /** Canonical origin, `ssh://host:port`. */
  readonly origin: string;
  readonly user: string;
  readonly key: ParsedKey;
  /** Fingerprints, not empty. */
  readonly hostKeys: readonly string[];
}

export interface LoginEvents {
  onHostKeyMismatch(mismatch: HostKeyMismatch): void;
  /** The host asked to open a channel to us; it was refused (failure case SSH-21). */
  onForeignChannel(): void;
}

/** A client that is logged in. Rejects with SshFailure (`sent: false`), or PosternError CREDENTIAL_INVALID when the host does not take the key. */
export function logIn(socket: Duplex, host: SshHost, events: LoginEvents): Promise<ssh2.Client> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    let mismatched = false;
    let foreign = 0;
    const fail = (error: unknown) => {
      // A destroyed socket may still be told of an error; nobody else listens.
      reject(failureOf(error, mismatched));
      socket.destroy();
    };
    client.on('ready', () => resolve(client));
    client.on('error', fail);
    client.on('close', () => fail(new SshFailure('unreachable', false)));
    client.on('end', () => fail(new SshFailure('unreachable', false)));
    const onDebug = (message: string) => {
      if (!message.startsWith(CHANNEL_OPEN)) return;
      foreign += 1;
      events.onForeignChannel();
      if (foreign > limits.sshForeignChannelsMax) socket.destroy();
    };
    client.connect({
      sock: socket,
      username: host.user,
      algorithms: ALGORITHMS,
      hostVerifier: hostKeyCheck(host.origin, host.hostKeys, (mismatch) => {
        mismatched = true;
        events.onHostKeyMismatch(mismatch);
      }),
      authHandler: onlyKey(host, () => fail(notAccepted())),
      keepaliveInterval: limits.sshKeepaliveMs,
      keepaliveCountMax: limits.sshKeepalivesMax,
      // The deadline of the whole way is ours.
      readyTimeout: 0,
      agentForward: false,
      tryKeyboard: false,
      debug: onDebug,
    });
  });
}

/** The key, once; whatever the host says then, it is the end. */
function onlyKey({ user, key }: SshHost, onRefused: () => void): ssh2.AuthHandlerMiddleware {
  let tried = false;
  return (_left, _partial, next) => {
    if (tried) {
      onRefused();
      return;
    }
    tried = true;
    const method: PublicKeyAuthMethod = { type: 'publickey', username: user, key };
    next(method);
  };
}

function notAccepted(): PosternError {
  return new PosternError('CREDENTIAL_INVALID', 'The host did not accept the SSH key of this action.');
}

function failureOf(error: unknown, mismatched: boolean): SshFailure | PosternError {
  if (mismatched) return new SshFailure('hostKey', false, error);
  if (error instanceof SshFailure || error instanceof PosternError) return error;
  const level = error instanceof Error && 'level' in error ? error.level : undefined;
  if (level === 'client-authentication')
    return new PosternError('CREDENTIAL_INVALID', 'The host did not accept the SSH key of this action.');
  return new SshFailure(level === 'client-socket' ? 'unreachable' : 'protocol', false, error);
}

/** What the library says of every channel a host opens; it refuses those we did not ask for without an event. */
const CHANNEL_OPEN = 'Inbound: CHANNEL_OPEN ';
