/**
 * An SSH host that follows a script, for what a real one never does: the real protocol on a loopback port, with faults at chosen places.
 * It writes down what clients tried, so that a test can say what never reached it.
 */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import ssh2, { type Algorithms, type AuthContext, type Connection, type ParsedKey, type ServerChannel } from 'ssh2';
import { fingerprint } from '#sidecar/execute/ssh/host-key.ts';

export interface SshKeyPair {
  readonly privateKey: string;
  readonly publicKey: ParsedKey;
  readonly fingerprint: string;
}

/** One key in a hundred that the library makes it cannot read: a leading zero is lost. */
export function ed25519Key(): SshKeyPair {
  for (;;) {
    const { private: text } = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(text) instanceof Error)) return keyPair(text);
  }
}

export function rsaKey(): SshKeyPair {
  return keyPair(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
}

function keyPair(privateKey: string): SshKeyPair {
  const parsed = ssh2.utils.parseKey(privateKey);
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key === undefined || key instanceof Error) throw new TypeError('no key was made');
  return { privateKey, publicKey: key, fingerprint: fingerprint(key.getPublicSSH()) };
}

/** What a script can do with one command. */
export interface Running {
  readonly line: string;
  readonly channel: ServerChannel;
  readonly connection: Connection;
  /** Cuts the TCP connection under everything. */
  drop(): void;
  /** Offers a key of the same kind that is another one, in a new key exchange. */
  rekeyWith(key: SshKeyPair): void;
}

export interface SshScript {
  /** Default: says hello and exits 0. */
  onCommand?(running: Running): void;
  /** Default: any key of anybody is taken. */
  onLogin?(context: AuthContext): void;
  onReady?(connection: Connection): void;
  /** The bytes of a new connection, before any SSH; nothing else happens to it. */
  onSocket?(socket: Socket): void;
  readonly algorithms?: Algorithms;
  /** Whether `ssh-forwardOut` to any place is let through. */
  readonly forwards?: boolean;
  readonly banner?: string;
}

export interface FakeSshServer extends AsyncDisposable {
  readonly port: number;
  readonly origin: string;
  readonly key: SshKeyPair;
  /** Methods tried, in order, over all connections: `publickey:ssh-ed25519:signed` and the like. */
  readonly logins: readonly string[];
  /** Lines of all commands. */
  readonly commands: readonly string[];
  /** Places it was asked to connect to. */
  readonly forwarded: readonly string[];
  readonly connections: number;
}

export async function startFakeSsh(script: SshScript = {}, key: SshKeyPair = ed25519Key()): Promise<FakeSshServer> {
  const logins: string[] = [];
  const commands: string[] = [];
  const forwarded: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const ssh = new ssh2.Server(
    {
      hostKeys: [key.privateKey],
      ...(script.algorithms === undefined ? {} : { algorithms: script.algorithms }),
      ...(script.banner === undefined ? {} : { banner: script.banner }),
    },
    (connection) => converse(connection, script, { logins, commands, forwarded }),
  );
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket)).on('close', () => sockets.delete(socket));
    if (script.onSocket === undefined) ssh.injectSocket(socket);
    else script.onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    origin: `ssh://127.0.0.1:${port}`,
    key,
    logins,
    commands,
    forwarded,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Seen {
  readonly logins: string[];
  readonly commands: string[];
  readonly forwarded: string[];
}

function converse(connection: Connection, script: SshScript, seen: Seen): void {
  connection.on('error', () => connection.end());
  connection.on('authentication', (context) => {
    seen.logins.push(described(context));
    if (script.onLogin !== undefined) script.onLogin(context);
    else if (context.method === 'publickey') context.accept();
    else context.reject(['publickey']);
  });
  connection.on('ready', () => script.onReady?.(connection));
  connection.on('tcpip', (accept, reject, info) => {
    seen.forwarded.push(`${info.destIP}:${info.destPort}`);
    if (script.forwards !== true) reject();
    else join(accept(), info.destIP, info.destPort);
  });
  connection.on('session', (accept) => {
    accept().on('exec', (acceptExec, _reject, info) => {
      seen.commands.push(info.command);
      const channel = acceptExec();
      channel.on('error', () => undefined);
      const running: Running = {
        line: info.command,
        channel,
        connection,
        drop: () => socketOf(connection).destroy(),
        rekeyWith: (other) => rekey(connection, other),
      };
      if (script.onCommand !== undefined) script.onCommand(running);
      else exitWith(channel, 0, 'hello\n');
    });
  });
}

export function exitWith(channel: ServerChannel, code: number, stdout = ''): void {
  if (stdout !== '') channel.write(stdout);
  channel.exit(code);
  channel.end();
}

function described(context: AuthContext): string {
  if (context.method !== 'publickey') return context.method;
  return `publickey:${context.key.algo}${context.signature === undefined ? '' : ':signed'}`;
}

function join(channel: ServerChannel, host: string, port: number): void {
  const socket = connect(port, host);
  socket.on('error', () => channel.end());
  channel.on('error', () => socket.destroy());
  channel.on('close', () => socket.destroy());
  channel.pipe(socket).pipe(channel);
}

/** The socket under a connection: the library has no name for it. */
function socketOf(connection: Connection): Socket {
  return Reflect.get(connection, '_sock') as Socket;
}

/** The library rekeys with the keys it began with; its table of them is changed under it. */
function rekey(connection: Connection, other: SshKeyPair): void {
  const protocol = Reflect.get(connection, '_protocol') as { _hostKeys: Record<string, ParsedKey> };
  for (const name of Object.keys(protocol._hostKeys)) protocol._hostKeys[name] = other.publicKey;
  connection.rekey();
}
