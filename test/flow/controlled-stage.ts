/**
 * A sidecar as it runs in a pod - operator, token, pin, state directory - in this process, so that it may reach an upstream on loopback,
 * which the command line refuses beside --control.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PosternError } from '#core/error/postern-error.ts';
import { connect, type GrpcClient } from '#core/runtime/grpc-client.ts';
import { createLog } from '#core/runtime/log.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { serveControlled } from '#sidecar/main.ts';
import { type CallExtra, execute, textAt } from './stage.ts';

export interface ControlledStage extends AsyncDisposable {
  readonly client: GrpcClient<typeof ActionService>;
  readonly state: string;
  readonly tokenFile: string;
  /** Lines of the log, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  call(action: string, args?: unknown, extra?: CallExtra): Promise<AnswerDocument>;
  /** The error of a call that must fail. */
  refused(action: string, args?: unknown, extra?: CallExtra): Promise<PosternError>;
  /** The code a call ends with, `OK` for an answer. */
  code(action: string, args?: unknown): Promise<string>;
  writeCredential(secret: string, key: string, value: string): void;
  /** Value of a metric by its full series name; undefined when it is not there. */
  metric(series: string): Promise<number | undefined>;
  probe(path: string): Promise<string>;
  /** Waits until a call ends with this code. */
  until(action: string, code: string, args?: unknown): Promise<void>;
  /** Waits until the log has this line. */
  logged(message: string, fields?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

export interface ControlledOptions {
  readonly host?: string;
  readonly port: number;
  readonly pin: string;
  readonly credentials?: Readonly<Record<string, string>>;
  /** A directory of a stage before: state, token and credentials are found there again. */
  readonly directory?: string;
}

/** A directory for one pod; removed by the caller. */
export function podDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'postern-pod-'));
}

export async function startControlledStage(options: ControlledOptions): Promise<ControlledStage> {
  const directory = options.directory ?? podDirectory();
  const state = join(directory, 'state');
  const credentials = join(directory, 'credentials');
  const tokenFile = join(directory, 'token');
  mkdirSync(credentials, { recursive: true });
  writeFileSync(tokenFile, 'header.token.signature\n');
  const writeCredential = (secret: string, key: string, value: string) => {
    mkdirSync(dirname(join(credentials, secret, key)), { recursive: true });
    writeFileSync(join(credentials, secret, key), value);
  };
  for (const [name, value] of Object.entries(options.credentials ?? {})) writeCredential(...(name.split('/') as [string, string]), value);
  const log: Record<string, unknown>[] = [];
  const sidecar = await serveControlled(
    { host: options.host ?? '127.0.0.1', port: options.port, pin: options.pin, tokenFile },
    {
      version: '0.1.0',
      credentials,
      host: '127.0.0.1',
      port: 0,
      adminHost: '127.0.0.1',
      adminPort: 0,
      state,
      allowLoopback: true,
      logLevel: 'debug',
    },
    createLog({ level: 'debug', destination: { write: (line: string) => log.push(JSON.parse(line)) } }),
  );
  const connection = connect(`127.0.0.1:${sidecar.port}`);
  const client = connection.client(ActionService);
  const call: ControlledStage['call'] = (action, args = {}, extra = {}) => execute(client, action, args, extra);
  const code: ControlledStage['code'] = (action, args) =>
    call(action, args).then(
      () => 'OK',
      (thrown) => PosternError.from(thrown).reason,
    );
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    connection.close();
    await sidecar.stop();
  };
  return {
    client,
    state,
    tokenFile,
    log,
    call,
    code,
    writeCredential,
    stop,
    refused: (action, args, extra) =>
      call(action, args, extra).then((answer) => {
        throw new Error(`an answer came where an error was expected: ${JSON.stringify(answer)}`);
      }, PosternError.from),
    metric: async (series) => {
      const line = (await textAt(sidecar.adminPort, '/metrics')).split('\n').find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    probe: (path) => textAt(sidecar.adminPort, path),
    until: (action, wanted, args) => eventually(async () => (await code(action, args)) === wanted, `${action} to end with ${wanted}`),
    logged: async (message, fields = {}) => {
      const find = () =>
        log.find((line) => line.message === message && Object.entries(fields).every(([name, value]) => line[name] === value));
      await eventually(async () => find() !== undefined, `the log line "${message}" ${JSON.stringify(fields)}`);
      return find() ?? {};
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Asks again until it is so; the limit is for a machine under load. */
export async function eventually(holds: () => Promise<boolean>, what: string | (() => string)): Promise<void> {
  const untilMs = performance.now() + 15_000;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
