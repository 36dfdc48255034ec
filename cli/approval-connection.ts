/** Where people decide: the unix socket of a sidecar without an operator. `--socket`, else POSTERN_APPROVALS, else a place of this user. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { connect, type GrpcClient } from '#core/runtime/grpc-client.ts';
import { ApprovalService } from '#proto/postern/approval/v1/approval_pb.ts';
import { UsageError } from './report-failure.ts';

export interface SocketOptions {
  readonly socket?: string;
}

export type ApprovalClient = GrpcClient<typeof ApprovalService>;

export function withSocket(command: Command): Command {
  return command.option(
    '--socket <path>',
    'the socket of the sidecar, as it was started with --approvals (default: POSTERN_APPROVALS, else postern/approvals.sock in XDG_RUNTIME_DIR or /run)',
  );
}

export function socketPath({ socket }: SocketOptions, env: NodeJS.ProcessEnv = process.env): string {
  const named = socket ?? env.POSTERN_APPROVALS;
  if (named !== undefined && named !== '') return resolve(named);
  const runtime = env.XDG_RUNTIME_DIR;
  return resolve(runtime === undefined || runtime === '' ? '/run' : runtime, 'postern/approvals.sock');
}

/** Calls `use` with a client and closes the connection after it. */
export async function withApprovals<T>(options: SocketOptions, use: (client: ApprovalClient) => Promise<T>): Promise<T> {
  const path = socketPath(options);
  const connection = connect(`unix:${path}`);
  try {
    return await use(connection.client(ApprovalService));
  } catch (thrown) {
    throw unreachable(thrown, path) ?? thrown;
  } finally {
    connection.close();
  }
}

function unreachable(thrown: unknown, path: string): UsageError | undefined {
  const text = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause.message : '';
  if (text.includes('EACCES'))
    return new UsageError(`this user may not open ${path}`, 'Only the user the sidecar runs as decides there, and never the agent.');
  if (/ENOENT|ECONNREFUSED|No connection established/.test(text))
    return new UsageError(`no sidecar takes decisions at ${path}`, 'Start one with --approvals PATH, or name its path with --socket.');
  return undefined;
}
