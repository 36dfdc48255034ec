/** Where the sidecar is: `--address`, else POSTERN_ADDRESS, else the default port on loopback. */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError } from 'commander';
import { connect, type GrpcClient } from '#core/runtime/grpc-client.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { UsageError } from './report-failure.ts';

const DEFAULT_ADDRESS = '127.0.0.1:7717';

export interface ConnectionOptions {
  readonly address?: string;
}

export function withAddress(command: Command): Command {
  return command.option('--address <host:port>', `the sidecar to ask (default: POSTERN_ADDRESS, else ${DEFAULT_ADDRESS})`, parseAddress);
}

/** A literal address and a port. Names are not resolved: the hosts file of a pod is the agent's to write. */
export function parseAddress(text: string): string {
  const [, v4, v6, port] = /^(?:([\d.]+)|\[([0-9a-fA-F:.]+)\]):(\d{1,5})$/.exec(text) ?? [];
  if (isIP(v4 ?? v6 ?? '') !== 0 && Number(port) <= 65_535) return text;
  throw new InvalidArgumentError('Write a literal address and a port, such as 127.0.0.1:7717.');
}

/** Calls `use` with a client and closes the connection after it. */
export async function withClient<T>(options: ConnectionOptions, use: (client: GrpcClient<typeof ActionService>) => Promise<T>): Promise<T> {
  const address = options.address ?? addressOfEnvironment() ?? DEFAULT_ADDRESS;
  const connection = connect(address);
  try {
    return await use(connection.client(ActionService));
  } catch (thrown) {
    if (isUnreachable(thrown))
      throw new UsageError(
        `no sidecar answers at ${address}`,
        'Start one with "postern sidecar --contracts DIR --credentials DIR", or name it with --address.',
      );
    throw thrown;
  } finally {
    connection.close();
  }
}

function addressOfEnvironment(): string | undefined {
  const text = process.env.POSTERN_ADDRESS;
  if (text === undefined || text === '') return undefined;
  try {
    return parseAddress(text);
  } catch {
    throw new UsageError('POSTERN_ADDRESS is not a literal address and a port', 'Write one such as 127.0.0.1:7717.');
  }
}

function isUnreachable(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !(thrown.cause instanceof Error)) return false;
  return thrown.cause.message.includes('ECONNREFUSED') || thrown.cause.message.includes('No connection established');
}
