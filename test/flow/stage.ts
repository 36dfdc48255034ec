/**
 * A whole sidecar as its own process, real gRPC, and an upstream that is a real HTTP server with a script. Nothing of
 * Postern is replaced.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PosternError } from '#core/error/postern-error.ts';
import { connect, type GrpcClient, type RequestOptions } from '#core/runtime/grpc-client.ts';
import { type AnswerDocument, answerDocument } from '#core/wire/answer-document.ts';
import { type SidecarProcess, startSidecarProcess } from '#examples/quickstart/sidecar-process.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';

export interface Upstream extends AsyncDisposable {
  readonly port: number;
  /** Requests in order, as they came. */
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
}

export type Answer = (
  request: { method: string; url: URL; headers: IncomingMessage['headers']; body: string },
  response: ServerResponse,
) => void;

export async function startUpstream(answer: Answer): Promise<Upstream> {
  const requests: Upstream['requests'] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers, body });
    answer({ method, url: new URL(url, 'http://upstream.invalid'), headers, body }, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers });
  response.end(text);
}

export interface Stage extends AsyncDisposable {
  readonly client: GrpcClient<typeof ActionService>;
  readonly sidecar: SidecarProcess;
  readonly directory: string;
  /** Rejects with PosternError. */
  call(action: string, args?: unknown, extra?: CallExtra): Promise<AnswerDocument>;
  /** The error of a call that must fail. */
  refused(action: string, args?: unknown, extra?: CallExtra): Promise<PosternError>;
  writeCredential(secret: string, key: string, value: string): void;
  metrics(): Promise<string>;
}

export interface CallExtra extends RequestOptions {
  readonly cursor?: string;
  readonly onePage?: boolean;
  readonly deadlineMs?: number;
  readonly operationId?: string;
  readonly evidence?: readonly string[];
  /** Sent as they are, instead of `args` as JSON. */
  readonly raw?: Uint8Array;
}

export interface StageOptions {
  /** YAML of contracts and bindings; `UPSTREAM` stands for `http://127.0.0.1:PORT`. */
  readonly contracts: string;
  readonly upstreamPort: number;
  /** `secret/key` to value. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** A command that becomes the sidecar's. */
  readonly under?: readonly string[];
}

export async function startStage(options: StageOptions): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-flow-'));
  const credentials = join(directory, 'credentials');
  const writeCredential = (secret: string, key: string, value: string) => {
    const path = join(credentials, secret, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, value);
  };
  for (const [name, value] of Object.entries(options.credentials)) writeCredential(...splitName(name), value);
  const contracts = join(directory, 'contracts.yaml');
  writeFileSync(contracts, options.contracts.replaceAll(/\bUPSTREAM\b/g, `http://127.0.0.1:${options.upstreamPort}`));
  const sidecar = await startSidecarProcess({
    contracts: [contracts],
    credentials,
    flags: ['--log-level', 'debug', ...(options.flags ?? [])],
    ...(options.under === undefined ? {} : { under: options.under }),
  });
  const connection = connect(sidecar.address);
  const client = connection.client(ActionService);
  const call: Stage['call'] = (action, args = {}, extra = {}) => execute(client, action, args, extra);
  return {
    client,
    sidecar,
    directory,
    call,
    refused: (action, args, extra) =>
      call(action, args, extra).then((answer) => {
        throw new Error(`an answer came where an error was expected: ${JSON.stringify(answer)}`);
      }, PosternError.from),
    writeCredential,
    metrics: () => textAt(sidecar.adminPort, '/metrics'),
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await sidecar[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function execute(
  client: GrpcClient<typeof ActionService>,
  action: string,
  args: unknown,
  extra: CallExtra,
): Promise<AnswerDocument> {
  const request = {
    action,
    argumentsJson: extra.raw ?? new TextEncoder().encode(JSON.stringify(args)),
    cursor: extra.cursor ?? '',
    onePage: extra.onePage === true,
    deadlineMs: extra.deadlineMs ?? 0,
    operationId: extra.operationId ?? '',
    evidence: [...(extra.evidence ?? [])],
  };
  for await (const { event } of client.execute(request, extra)) {
    if (event.case === 'result') return answerDocument(event.value);
  }
  throw new Error('the call ended without an answer');
}

function splitName(name: string): [string, string] {
  const [secret = '', key = ''] = name.split('/');
  return [secret, key];
}

/** Plain HTTP GET on loopback. */
export function textAt(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    }).on('error', reject);
  });
}
