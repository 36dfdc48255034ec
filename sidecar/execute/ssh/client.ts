/**
 * One command on one host, over a connection of its own: dial, log in at each host on the way, run, read, hang up. Nothing is kept for the
 * next call, so nothing of one call is seen by another.
 *
 * Until the command is handed to its host, whatever goes wrong has done nothing (`sent: false`). From then on only an exit status says what
 * it did; the output of a lost connection has none.
 */
import type { Duplex } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { limits } from '#core/bounds/limits.ts';
import type { OutboundCommand } from '#core/contract/assemble-command.ts';
import type { RawOutput } from '#sidecar/decode/decode-output.ts';
import { CommandOutput } from './command-output.ts';
import { type LoginEvents, logIn, type SshHost } from './login.ts';
import { SshFailure } from './ssh-failure.ts';

export interface SshRoute {
  /** A vetted connection to the first host; may reject with a failure of its own. */
  dial(): Promise<Duplex>;
  /** The first is dialled, each next one through the one before it; the last runs the command. Never empty. */
  readonly hosts: readonly SshHost[];
  /** Where a host asks its neighbour to connect to: a vetted address, or the name for the neighbour to resolve. */
  place(host: SshHost): Promise<{ readonly host: string; readonly port: number }>;
}

export interface RunOptions extends LoginEvents {
  /** Aborted at the total deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  readonly stdoutBytesMax: number;
  readonly endAtCap: boolean;
}

/**
 * Rejects with SshFailure, or PosternError CREDENTIAL_INVALID, when there is no output to speak of, and with what `dial` and `place` reject
 * with. Every emitter it makes has a listener for errors until it is gone (failure case SSH-11).
 */
export async function runCommand(route: SshRoute, command: OutboundCommand, options: RunOptions): Promise<RawOutput> {
  const run = new Run(route, command, options);
  try {
    return await run.result();
  } finally {
    run.hangUp();
  }
}

class Run {
  readonly #route: SshRoute;
  readonly #command: OutboundCommand;
  readonly #options: RunOptions;
  readonly #sockets: Duplex[] = [];
  readonly #clients: Client[] = [];
  #over = false;
  #sent = false;

  constructor(route: SshRoute, command: OutboundCommand, options: RunOptions) {
    this.#route = route;
    this.#command = command;
    this.#options = options;
  }

  result(): Promise<RawOutput> {
    const { signal } = this.#options;
    return new Promise((resolve, reject) => {
      const stop = () => reject(new SshFailure('timedOut', this.#sent));
      // One time for the whole way: a host that drips bytes would renew any other (failure case SSH-23).
      const timer = setTimeout(stop, limits.sshConnectMsMax);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      };
      this.#connect()
        .then((client) => {
          clearTimeout(timer);
          return this.#execute(client);
        })
        .then(resolve, reject)
        .finally(done);
    });
  }

  hangUp(): void {
    this.#over = true;
    for (const client of this.#clients.toReversed()) client.end();
    for (const socket of this.#sockets.toReversed()) socket.destroy();
  }

  async #connect(): Promise<Client> {
    let socket = this.#keep(await this.#route.dial());
    let client: Client | undefined;
    for (const [index, host] of this.#route.hosts.entries()) {
      if (client !== undefined) socket = this.#keep(await forward(client, await this.#route.place(host)));
      client = await logIn(socket, host, this.#options);
      this.#clients.push(client);
      if (index + 1 === this.#route.hosts.length) return client;
    }
    throw new SshFailure('protocol', false);
  }

  /** What arrives after the end is closed at once. */
  #keep(socket: Duplex): Duplex {
    socket.on('error', ignore);
    if (this.#over) {
      socket.destroy();
      throw new SshFailure('timedOut', false);
    }
    this.#sockets.push(socket);
    return socket;
  }

  #execute(client: Client): Promise<RawOutput> {
    return new Promise((resolve, reject) => {
      let output: CommandOutput | undefined;
      const lose = () => {
        output?.lose();
        // Its own end follows; what came before it in the same bytes is read first.
        for (const socket of this.#sockets) socket.destroy();
      };
      client.on('error', lose).on('end', lose).on('close', lose);
      const { stdoutBytesMax, endAtCap } = this.#options;
      try {
        client.exec(this.#command.line, (error, channel) => {
          if (error !== undefined) {
            reject(new SshFailure('unreachable', this.#sent && !isOpenFailure(error), error));
            return;
          }
          output = new CommandOutput(channel, { stdoutBytesMax, endAtCap, onEnd: resolve });
          feed(channel, this.#command.stdin);
        });
        this.#sent = true;
      } catch (thrown) {
        reject(new SshFailure('unreachable', false, thrown));
      }
    });
  }
}

/** A channel to the next host. The neighbour's word that it cannot be reached is not the host's: nothing was sent. */
function forward(client: Client, { host, port }: { readonly host: string; readonly port: number }): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const fail = (error?: unknown) => reject(new SshFailure('unreachable', false, error));
    const onClose = () => fail();
    client.on('close', onClose);
    try {
      client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
        client.off('close', onClose);
        if (error === undefined) resolve(channel);
        else fail(error);
      });
    } catch (thrown) {
      fail(thrown);
    }
  });
}

/** The host would not open a channel at all: it never saw the command. Any other refusal may have come after it. */
function isOpenFailure(error: Error): boolean {
  return 'reason' in error;
}

function feed(channel: ClientChannel, stdin: Uint8Array | undefined): void {
  if (stdin === undefined) channel.end();
  else channel.end(stdin);
}

function ignore(): void {
  // The client reports it.
}
