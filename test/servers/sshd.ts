/**
 * A real OpenSSH server for tests: on a free loopback port, with host keys, users' keys and configuration in a folder of its own. It runs
 * as whoever runs the tests, and lets exactly that user in, with a key.
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, loopback, startIn } from './process.ts';

const run = promisify(execFile);
const program = '/usr/sbin/sshd';

export type KeyType = 'ed25519' | 'ecdsa' | 'rsa';

export interface SshdOptions {
  /** Kinds of its host keys. Default: ed25519. */
  readonly hostKeys?: readonly KeyType[];
  /** Lines of sshd_config that come before its own, so that they win. */
  readonly config?: readonly string[];
  /** In front of each public key in authorized_keys: `command="..."` and the like. */
  readonly keyOptions?: string;
  /** Passphrase of the key that lets its user in. */
  readonly passphrase?: string;
  readonly keyType?: KeyType;
}

export interface Sshd extends AsyncDisposable {
  readonly folder: string;
  /** Of the process that listens; each connection has a child of it. */
  readonly pid: number;
  readonly port: number;
  /** `ssh://127.0.0.1:PORT` */
  readonly origin: string;
  readonly user: string;
  /** `SHA256:...` of each host key, in the order of `hostKeys`. */
  readonly fingerprints: readonly string[];
  /** Text of the private key that it lets in. */
  readonly privateKey: string;
  /** Ends it, and whoever is logged in. */
  kill(): Promise<void>;
  logTail(): string;
}

export function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  return startIn('sshd', async (place) => {
    const { folder } = place;
    const hostKeys = options.hostKeys ?? ['ed25519'];
    const files = await Promise.all(hostKeys.map((type) => makeKey(folder, `host_${type}`, type)));
    const privateKeyFile = await makeKey(folder, 'user', options.keyType ?? 'ed25519', options.passphrase);
    const publicKey = await readFile(`${privateKeyFile}.pub`, 'utf8');
    const authorized = join(folder, 'authorized_keys');
    await writeFile(authorized, `${options.keyOptions === undefined ? '' : `${options.keyOptions} `}${publicKey}`, { mode: 0o600 });
    const [port] = (await freePorts(1)) as [number];
    const config = join(folder, 'sshd_config');
    await writeFile(config, [...(options.config ?? []), ...own(port, folder, files, authorized)].join('\n'));
    // Where it separates privileges; part of a system that runs it as a service.
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    const launched = await place.launch({
      program,
      args: ['-D', '-e', '-f', config],
      ready: () => greets(port),
    });
    return {
      folder,
      pid: launched.pid,
      port,
      origin: `ssh://${loopback}:${port}`,
      user: userInfo().username,
      fingerprints: await Promise.all(files.map(fingerprintOf)),
      privateKey: await readFile(privateKeyFile, 'utf8'),
      kill: () => launched.kill(),
      logTail: place.logTail,
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  });
}

function own(port: number, folder: string, hostKeys: readonly string[], authorized: string): readonly string[] {
  return [
    `Port ${port}`,
    `ListenAddress ${loopback}`,
    ...hostKeys.map((file) => `HostKey ${file}`),
    `AuthorizedKeysFile ${authorized}`,
    `PidFile ${join(folder, 'sshd.pid')}`,
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'PrintMotd no',
    'MaxStartups 100',
    'LogLevel VERBOSE',
    '',
  ];
}

/** A new key pair; the path of the private one. */
export async function makeKey(folder: string, name: string, type: KeyType, passphrase = ''): Promise<string> {
  const file = join(folder, name);
  await run('ssh-keygen', ['-q', '-t', type, ...(type === 'rsa' ? ['-b', '2048'] : []), '-N', passphrase, '-C', 'test', '-f', file]);
  return file;
}

export async function fingerprintOf(file: string): Promise<string> {
  const { stdout } = await run('ssh-keygen', ['-l', '-E', 'sha256', '-f', `${file}.pub`]);
  return stdout.split(' ')[1] ?? '';
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, loopback);
    socket.once('data', (banner) => {
      socket.destroy();
      resolve(banner.toString('latin1').startsWith('SSH-2.0-'));
    });
    socket.once('error', () => resolve(false));
  });
}
