/**
 * Many sidecars' ends of the control stream in one process: the real protocol over TLS, one connection each, every bundle acknowledged as
 * soon as it is there. Tells its parent what came and when; the clock is that of the machine, so both processes agree on it.
 */
import { readFileSync } from 'node:fs';
import { digestOfBytes } from '#core/encoding/canonical.ts';
import { type Connection, connect } from '#core/runtime/grpc-client.ts';
import { ControlService, State } from '#proto/postern/control/v1/control_pb.ts';

export interface StreamOrders {
  readonly address: string;
  readonly ca: string;
  readonly serverName: string;
  readonly agents: readonly { readonly index: number; readonly token: string }[];
}

/** `bundle`: there and acknowledged. `revoked`: told so. `ended`: the stream is over. */
export interface StreamNews {
  readonly kind: 'bundle' | 'revoked' | 'ended';
  readonly index: number;
  /** Milliseconds since 1970 with fractions. */
  readonly atMs: number;
  readonly detail?: string;
}

/** Streams opened at once, so that the handshakes of a thousand do not time each other out. */
const OPENING = 16;

const orders = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StreamOrders;
const waiting = [...orders.agents];

function tell(kind: StreamNews['kind'], index: number, detail?: string): void {
  process.send?.({ kind, index, atMs: performance.timeOrigin + performance.now(), ...(detail === undefined ? {} : { detail }) });
}

/** Resolves with the first bundle. */
function open({ index, token }: StreamOrders['agents'][number]): Promise<void> {
  const connection: Connection = connect(orders.address, { tls: { ca: orders.ca, serverName: orders.serverName } });
  const stream = connection.client(ControlService).connect({ authorization: `Bearer ${token}` });
  const instance = digestOfBytes('instance', String(index));
  stream.send({ message: { case: 'hello', value: { version: '0.1.0', protocols: [1], instance, bundleRevision: '' } } });
  return new Promise((resolve, reject) => {
    const listen = async () => {
      for await (const { message } of stream) {
        if (message.case === 'bundle') {
          const contracts = message.value.objects
            .filter(({ kind }) => kind === 'ActionContract')
            .map(({ name }) => ({ contract: name, revision: digestOfBytes('revision', name), refused: '' }));
          stream.send({ message: { case: 'ack', value: { bundleRevision: message.value.revision, contracts } } });
          tell('bundle', index);
          resolve();
        }
        if (message.case === 'session' && message.value.state === State.REVOKED) tell('revoked', index);
      }
    };
    listen().then(
      () => tell('ended', index, 'closed'),
      (thrown: Error) => {
        tell('ended', index, thrown.message);
        reject(thrown);
      },
    );
  });
}

async function opener(): Promise<void> {
  for (let agent = waiting.shift(); agent !== undefined; agent = waiting.shift()) await open(agent).catch(() => {});
}

void Promise.all(Array.from({ length: OPENING }, opener)).then(() => process.send?.({ kind: 'opened' }));
