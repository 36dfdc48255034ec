/** Who is measured, how each is started and how each is called. */
import { create, toBinary } from '@bufbuild/protobuf';
import { NODE_FLAGS } from '#build.ts';
import { ExecuteRequestSchema } from '#proto/postern/v1/action_pb.ts';
import type { Prepared } from './prepare.ts';
import { sidecarFiles } from './prepare.ts';

export interface Upstream {
  readonly port: number;
  readonly token: string;
}

export interface Target {
  readonly name: string;
  readonly what: string;
  readonly port: number;
  /** Program and arguments of the server. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Flags of the load generator that make the call. */
  readonly call: readonly string[];
  /** Whether its start is measured. */
  readonly cold: boolean;
}

const ARGUMENTS = '{"id":"42"}';

/** Every server of a run; undici direct has none and is driven by run.ts. All Node servers get the flags of the image. */
export function targetsOf(prepared: Prepared, upstream: Upstream): readonly Target[] {
  const origin = `http://127.0.0.1:${upstream.port}`;
  const node = [process.execPath, ...NODE_FLAGS];
  const reads = [origin, upstream.token];
  const grpc = (port: number) => ['-kind', 'grpc', '-target', `127.0.0.1:${port}`, '-request', executeRequest()];
  const mcp = (port: number) => ['-kind', 'mcp', '-target', `http://127.0.0.1:${port}/mcp`, '-request', ARGUMENTS];
  const none = {};
  return [
    {
      name: 'echo',
      what: 'grpc-js, fixed reply',
      port: 19201,
      command: [...node, prepared.peer('grpc'), 'echo', '19201'],
      env: none,
      call: grpc(19201),
      cold: false,
    },
    {
      name: 'F',
      what: 'grpc-js that forwards with undici',
      port: 19202,
      command: [...node, prepared.peer('grpc'), 'forward', '19202', ...reads],
      env: none,
      call: grpc(19202),
      cold: true,
    },
    {
      name: 'postern',
      what: 'Postern Execute',
      port: 19203,
      command: [
        ...[...node, prepared.postern, 'sidecar', ...sidecarFiles(prepared.scratch, upstream.port, upstream.token)],
        ...['--listen', '127.0.0.1:19203', '--admin-listen', '127.0.0.1:19213'],
      ],
      env: { NODE_COMPILE_CACHE: prepared.cache },
      call: grpc(19203),
      cold: true,
    },
    {
      name: 'audited',
      what: 'Postern Execute, audit on',
      port: 19206,
      command: [
        ...[...node, prepared.postern, 'sidecar', ...sidecarFiles(prepared.scratch, upstream.port, upstream.token)],
        ...['--listen', '127.0.0.1:19206', '--admin-listen', '127.0.0.1:19216', '--log-level', 'warn'],
        ...auditFlags(prepared.scratch, 'read'),
      ],
      env: { NODE_COMPILE_CACHE: prepared.cache },
      call: grpc(19206),
      cold: false,
    },
    {
      name: 'sdk',
      what: 'MCP TypeScript SDK server',
      port: 19204,
      command: [...node, prepared.peer('mcp-sdk'), '19204', ...reads],
      env: none,
      call: mcp(19204).map((part) => part.replace('/mcp', '/')),
      cold: true,
    },
    {
      name: 'fastmcp',
      what: 'FastMCP from OpenAPI',
      port: 19205,
      command: [prepared.python, new URL('peers/fastmcp_server.py', import.meta.url).pathname, '19205', ...reads],
      env: none,
      call: mcp(19205),
      cold: true,
    },
  ];
}

/** `name`: of the state, one a sidecar. */
export function auditFlags(scratch: string, name: string): readonly string[] {
  return ['--state', `${scratch}/state-${name}`, '--audit-recipient', RECIPIENT];
}

/** Nobody has its identity. */
const RECIPIENT = 'age1wda04qpkgs0hx5f33d8ah0jnfqnmp5hzxffdc2zf9jl24pnw35ms44rnjx';

/** The request is encoded once, so that the client's encoder is no part of anybody's time. */
function executeRequest(): string {
  const request = create(ExecuteRequestSchema, { action: 'get_items', argumentsJson: new TextEncoder().encode(ARGUMENTS) });
  return Buffer.from(toBinary(ExecuteRequestSchema, request)).toString('hex');
}
