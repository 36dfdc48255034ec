/** The sidecar's end of the control stream as a script: what it gets, and how it ends. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { digestOfBytes } from '#core/encoding/canonical.ts';
import type { BidiStream, Connection } from '#core/runtime/grpc-client.ts';
import { refusalCodeIn } from '#core/wire/control-refusal.ts';
import { type ConnectRequestSchema, type ConnectResponse, ControlService } from '#proto/postern/control/v1/control_pb.ts';

export type Message = ConnectResponse['message'];

export interface SidecarOptions {
  readonly instance?: string;
  readonly protocols?: readonly number[];
  readonly version?: string;
  /** Said before Hello. */
  readonly first?: NonNullable<MessageInitShape<typeof ConnectRequestSchema>['message']>;
  /** Acknowledges bundles at once. Default true. */
  readonly acknowledges?: boolean;
}

/** The messages a sidecar gets, and its end. */
export class TestSidecar {
  readonly messages: Message[] = [];
  /** The code it ended with, or `closed`. */
  readonly ended: Promise<string>;
  readonly #connection: Connection;
  readonly #stream: BidiStream<MessageInitShape<typeof ConnectRequestSchema>, ConnectResponse>;
  readonly #options: SidecarOptions;
  over = false;

  constructor(connection: Connection, token: string, options: SidecarOptions) {
    const { instance = 'one', protocols = [1], version = '0.1.0' } = options;
    this.#connection = connection;
    this.#options = options;
    this.#stream = connection.client(ControlService).connect({ authorization: `Bearer ${token}` });
    if (options.first !== undefined) this.send(options.first);
    const hello = { version, protocols: [...protocols], instance: digestOfBytes('instance', instance), bundleRevision: '' };
    this.send({ case: 'hello', value: hello });
    this.ended = this.#listen();
  }

  send(message: NonNullable<MessageInitShape<typeof ConnectRequestSchema>['message']>): void {
    this.#stream.send({ message });
  }

  acknowledge(bundleRevision: string, contracts: readonly string[]): void {
    const acks = contracts.map((contract) => ({ contract, revision: digestOfBytes('revision', contract), refused: '' }));
    this.send({ case: 'ack', value: { bundleRevision, contracts: acks } });
  }

  /** Names of the contracts of the newest bundle; undefined before the first. */
  get contracts(): readonly string[] | undefined {
    const bundle = this.messages.findLast((message) => message.case === 'bundle')?.value;
    return bundle?.objects.filter(({ kind }) => kind === 'ActionContract').map(({ name }) => name);
  }

  get bundles(): number {
    return this.messages.filter((message) => message.case === 'bundle').length;
  }

  /** The newest state it was told, as a number of the enum. */
  get state(): number | undefined {
    for (const message of this.messages.toReversed()) {
      if (message.case === 'session') return message.value.state;
      if (message.case === 'bundle') return message.value.session?.state;
    }
    return undefined;
  }

  leave(): void {
    this.#stream.cancel();
    this.#connection.close();
  }

  async #listen(): Promise<string> {
    try {
      for await (const { message } of this.#stream) {
        this.messages.push(message);
        if (message.case === 'bundle' && this.#options.acknowledges !== false) {
          const names = message.value.objects.filter(({ kind }) => kind === 'ActionContract').map(({ name }) => name);
          this.acknowledge(message.value.revision, names);
        }
      }
      return 'closed';
    } catch (thrown) {
      const { message } = thrown as Error;
      return refusalCodeIn(message) ?? message;
    } finally {
      this.over = true;
      this.#connection.close();
    }
  }
}

/** Waits for something to be true; the limit is for a machine that is very busy. */
export async function until(holds: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  const lastMs = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > lastMs) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
