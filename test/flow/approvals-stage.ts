/** A sidecar with a state folder and a socket for people, that can be stopped, killed and started again over the same folder. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PosternError } from '#core/error/postern-error.ts';
import { type Connection, connect, type GrpcClient } from '#core/runtime/grpc-client.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import { type SidecarProcess, startSidecarProcess } from '#examples/quickstart/sidecar-process.ts';
import { ApprovalService, Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { type CallExtra, execute } from './stage.ts';

const TOKEN = 'approvals-token-0123456789';

/** An effect that waits for a person. */
export interface Waiting {
  readonly name: string;
  readonly operationId: string;
  readonly card: string;
  readonly cardDigest: string;
}

export class ApprovalsStage implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'postern-approvals-'));
  readonly socket = join(this.directory, 'approvals.sock');
  readonly #upstreamPort: number;
  #sidecar: SidecarProcess | undefined;
  #agent: Connection | undefined;
  #people: Connection | undefined;

  private constructor(upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
    const secret = join(this.directory, 'credentials', 'postern-flow');
    mkdirSync(secret, { recursive: true });
    writeFileSync(join(secret, 'token'), TOKEN);
  }

  static async start(contracts: string, upstreamPort: number): Promise<ApprovalsStage> {
    const stage = new ApprovalsStage(upstreamPort);
    stage.write(contracts);
    await stage.start();
    return stage;
  }

  /** Takes effect at the next start. */
  write(contracts: string): void {
    writeFileSync(join(this.directory, 'contracts.yaml'), contracts.replaceAll(/\bUPSTREAM\b/g, `http://127.0.0.1:${this.#upstreamPort}`));
  }

  async start(flags: readonly string[] = ['--state', join(this.directory, 'state'), '--approvals', this.socket]): Promise<void> {
    this.#sidecar = await startSidecarProcess({
      contracts: [join(this.directory, 'contracts.yaml')],
      credentials: join(this.directory, 'credentials'),
      flags: ['--log-level', 'debug', ...flags],
    });
    this.#agent = connect(this.#sidecar.address);
    this.#people = connect(`unix:${this.socket}`);
  }

  async stop(): Promise<void> {
    this.#agent?.close();
    this.#people?.close();
    await this.#sidecar?.[Symbol.asyncDispose]();
    this.#sidecar = undefined;
  }

  /** As a power cut of this process: nothing of it runs any more. */
  async kill(): Promise<void> {
    const { pid } = this.sidecar;
    this.#agent?.close();
    this.#people?.close();
    process.kill(pid, 'SIGKILL');
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
    this.#sidecar = undefined;
  }

  get sidecar(): SidecarProcess {
    assert.ok(this.#sidecar, 'the sidecar runs');
    return this.#sidecar;
  }

  get agent(): GrpcClient<typeof ActionService> {
    assert.ok(this.#agent, 'the sidecar runs');
    return this.#agent.client(ActionService);
  }

  get people(): GrpcClient<typeof ApprovalService> {
    assert.ok(this.#people, 'the sidecar runs');
    return this.#people.client(ApprovalService);
  }

  call(action: string, args: unknown, extra: CallExtra = {}): Promise<AnswerDocument> {
    return execute(this.agent, action, args, extra);
  }

  /** The error of a call that must fail. */
  async refused(action: string, args: unknown, extra: CallExtra = {}): Promise<PosternError> {
    const error = await this.call(action, args, extra).then(() => undefined, PosternError.from);
    assert.ok(error, 'an answer came where an error was expected');
    return error;
  }

  /** A call that must wait for a person. */
  async asked(action: string, args: unknown, extra: CallExtra = {}): Promise<Waiting> {
    const error = await this.refused(action, args, extra);
    assert.equal(error.reason, 'APPROVAL_REQUIRED', error.message);
    const { approval: name, card, cardDigest } = error.operation ?? {};
    const { operationId } = error;
    assert.ok(name !== undefined && card !== undefined && cardDigest !== undefined && operationId !== undefined);
    return { name, operationId, card, cardDigest };
  }

  async approve({ name, cardDigest }: Waiting): Promise<void> {
    await this.people.decide({ name, verdict: Verdict.APPROVED, cardDigest });
  }

  async deny({ name, cardDigest }: Waiting, reason = ''): Promise<void> {
    await this.people.decide({ name, verdict: Verdict.DENIED, cardDigest, reason });
  }

  async waiting(): Promise<readonly string[]> {
    return (await this.people.list({})).questions.map(({ name }) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
