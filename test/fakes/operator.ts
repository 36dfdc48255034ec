/**
 * An operator played by a test: the real protocol on a real gRPC server over TLS, with certificates of a real authority. What a test
 * does not script happens by itself: welcome, and a renewal every heartbeat.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { readYaml } from '#core/contract/read-yaml.ts';
import { pinServerName } from '#core/resource/names.ts';
import { CONTROL_BOUNDS } from '#core/runtime/grpc-bounds.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import {
  type ConnectRequest,
  type ConnectResponseSchema,
  ControlService,
  type Hello,
  State,
} from '#proto/postern/control/v1/control_pb.ts';
import type { Authority, KeyAndCertificate } from '#test/servers/certificates.ts';

type Response = MessageInitShape<typeof ConnectResponseSchema>['message'];
type Said = ConnectRequest['message'];

/** One stream, as the operator sees it. */
export interface Conversation {
  readonly hello: Hello;
  readonly authorization: string | undefined;
  /** Everything said after the hello. */
  readonly said: readonly Said[];
  send(message: Response): Promise<void>;
  /** Sends nothing by itself any more. */
  mute(): void;
  /** Ends the stream, with an error if one is given. */
  end(error?: Error): void;
  /** The first message of this kind that `fits`; waits for it. */
  heard<Case extends NonNullable<Said['case']>>(
    kind: Case,
    fits?: (value: Extract<Said, { case: Case }>['value']) => boolean,
  ): Promise<Extract<Said, { case: Case }>['value']>;
  readonly ended: Promise<void>;
}

export interface FakeOperator extends AsyncDisposable {
  readonly port: number;
  readonly streams: readonly Conversation[];
  /** The stream of this index, once it was welcomed. */
  stream(index: number): Promise<Conversation>;
}

export interface FakeOperatorOptions {
  readonly certificate: SecureContext;
  readonly port?: number;
  readonly host?: string;
  readonly heartbeatMs?: number;
  readonly leaseMs?: number;
  /** Said right after each welcome. */
  readonly greeting?: (hello: Hello) => readonly Response[];
  /** Throw to refuse a stream. */
  readonly admit?: (hello: Hello) => void;
  /** Hears everything said after the hello. */
  readonly onSaid?: (said: Said) => void;
  /** In place of the welcome. */
  readonly welcome?: Response;
}

export async function startFakeOperator(options: FakeOperatorOptions): Promise<FakeOperator> {
  const { heartbeatMs = 1_000, leaseMs = 3_600_000, greeting = () => [], admit = () => {}, host = '127.0.0.1' } = options;
  const streams: Conversation[] = [];
  const news = new EventEmitter().setMaxListeners(0);
  const welcome: Response = options.welcome ?? {
    case: 'welcome',
    value: { session: 'agent-1', namespace: 'flow', protocol: 1, heartbeatMs: BigInt(heartbeatMs) },
  };
  const server = new GrpcServer({ bounds: CONTROL_BOUNDS, tls: { contextFor: () => options.certificate } });
  server.add(ControlService, {
    async connect(messages, send, { authorization, signal }) {
      const incoming = messages[Symbol.asyncIterator]();
      const first = await incoming.next();
      if (first.done === true || first.value.message.case !== 'hello') throw new Error('the first message is no hello');
      const hello = first.value.message.value;
      admit(hello);
      const said: Said[] = [];
      const over = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => over.resolve());
      const timer = setInterval(
        () => void send({ message: { case: 'renewal', value: { leaseMs: BigInt(leaseMs) } } }).catch(() => over.resolve()),
        heartbeatMs,
      );
      const conversation: Conversation = {
        hello,
        authorization,
        said,
        send: (message) => send({ message: message as NonNullable<Response> }),
        mute: () => clearInterval(timer),
        end: (error) => (error === undefined ? over.resolve() : over.reject(error)),
        async heard(kind, fits = () => true) {
          for (;;) {
            const found = said.find((each) => each.case === kind && fits(each.value as never));
            if (found !== undefined) return found.value as never;
            await once(news, 'news', { signal: AbortSignal.timeout(20_000) });
          }
        },
        ended: ended.promise,
      };
      void (async () => {
        for (let next = await incoming.next(); next.done !== true; next = await incoming.next()) {
          said.push(next.value.message);
          options.onSaid?.(next.value.message);
          news.emit('news');
        }
      })().catch(() => {});
      try {
        await send({ message: welcome as NonNullable<Response> });
        for (const message of greeting(hello)) await send({ message: message as NonNullable<Response> });
        streams.push(conversation);
        news.emit('news');
        await over.promise;
      } finally {
        clearInterval(timer);
        ended.resolve();
      }
    },
  });
  const port = await server.listen(host, options.port ?? 0);
  return {
    port,
    streams,
    async stream(index) {
      for (;;) {
        const found = streams[index];
        if (found !== undefined) return found;
        await once(news, 'news', { signal: AbortSignal.timeout(20_000) });
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const stream of streams) stream.end();
      await server.close(0);
    },
  };
}

/** What the pin of a sidecar says of this CA. */
export function pinOfPem(caPem: string): string {
  const spki = new X509Certificate(caPem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** Leaf and CA, as a replica presents them. */
export function presenting({ certificatePem, keyPem }: KeyAndCertificate, ...chain: readonly string[]): SecureContext {
  return createSecureContext({ key: keyPem, cert: [certificatePem, ...chain].join('\n'), minVersion: 'TLSv1.3' });
}

/** A good certificate of this authority. */
export async function replicaCertificate(authority: Authority): Promise<SecureContext> {
  const leaf = await authority.issue({ commonName: 'operator', hosts: [pinServerName(pinOfPem(authority.caPem))] });
  return presenting(leaf, authority.caPem);
}

/** A bundle of the objects in a YAML text; UIDs are made of the names. */
export function bundleOf(
  yaml: string,
  {
    revision = `sha256:${createHash('sha256').update(yaml).digest('hex')}`,
    state = State.ACTIVE,
    because = '',
    leaseMs = 3_600_000,
  }: { revision?: string; state?: State; because?: string; leaseMs?: number } = {},
): Extract<NonNullable<Response>, { case: 'bundle' }> {
  const objects = readYaml(yaml, 'bundle.yaml').objects.map(({ kind, name, spec }) => ({
    kind,
    name,
    uid: `uid-of-${name}`,
    specJson: new TextEncoder().encode(JSON.stringify(spec)),
  }));
  return { case: 'bundle', value: { revision, objects, session: { state, because }, leaseMs: BigInt(leaseMs) } } as never;
}
