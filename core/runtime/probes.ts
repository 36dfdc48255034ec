/**
 * The one HTTP port for kubelet and Prometheus: /startupz, /livez, /readyz, /metrics. It carries no content of calls, because the
 * agent can reach it too (GRPC-01). Loaded after the gRPC port listens: the web framework costs more than the rest of the start.
 */
import type { RouteHandlerMethod } from 'fastify';
import { limits } from '#core/bounds/limits.ts';
import { ConnectionRoom } from './connection-room.ts';

export interface ProbesOptions {
  /** Literal address. */
  readonly host: string;
  readonly port: number;
  /** Names of what is not ready yet, as closed words; empty when ready. */
  notReady(): readonly string[];
  /** What the start still waits for, as closed words; the kubelet starts the next container once there is none. Default: nothing. */
  notStarted?(): readonly string[];
  metrics(): Promise<{ readonly text: string; readonly contentType: string }>;
}

export interface Probes {
  readonly port: number;
  close(): Promise<void>;
}

export async function startProbes({ host, port, notReady, notStarted = () => [], metrics }: ProbesOptions): Promise<Probes> {
  const { fastify } = await import('fastify');
  const app = fastify({
    logger: false,
    bodyLimit: limits.probeRequestBytesMax,
    requestTimeout: limits.probeRequestMsMax,
    connectionTimeout: limits.probeRequestMsMax,
    keepAliveTimeout: limits.probeRequestMsMax,
    routerOptions: { maxParamLength: 100 },
    schemaController: { compilersFactory: NO_SCHEMAS },
    forceCloseConnections: true,
    // Node looks for requests that drip only so often; its 30 s would hold a connection three times its time.
    http: { connectionsCheckingInterval: CHECK_MS, headersTimeout: limits.probeRequestMsMax },
    // Before a route is found; the framework's own words would repeat the path.
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      reply.raw.writeHead(400, { 'content-type': 'text/plain' }).end('bad request\n');
    },
  });
  // Anybody who reaches the pod reaches this port, and a kubelet that is kept out restarts the container.
  new ConnectionRoom(limits.probeConnectionsMax).watch(app.server);
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));
  const tells =
    (read: () => readonly string[]): RouteHandlerMethod =>
    (_request, reply) => {
      const missing = read();
      return reply
        .code(missing.length === 0 ? 200 : 503)
        .type('text/plain')
        .send(missing.length === 0 ? 'ok\n' : `${missing.join('\n')}\n`);
    };
  app.get('/readyz', tells(notReady));
  app.get('/startupz', tells(notStarted));
  app.get('/metrics', async (_request, reply) => {
    const { text, contentType } = await metrics();
    return reply.type(contentType).send(text);
  });
  // Own words only: the framework's answers repeat the path that was asked for.
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('not here\n'));
  app.setErrorHandler((error, _request, reply) =>
    isTheirs(error) ? reply.code(400).type('text/plain').send('bad request\n') : reply.code(500).type('text/plain').send('failed\n'),
  );
  await app.listen({ host, port });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a TCP address was expected');
  return { port: address.port, close: () => app.close() };
}

const CHECK_MS = 1_000;

function isTheirs(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
}

/** No route here has a schema; the compilers the framework would load for them cost as much as the framework. */
const NO_SCHEMAS = { buildValidator: refuseSchemas, buildSerializer: refuseSchemas };

function refuseSchemas(): () => never {
  return () => {
    throw new TypeError('a probe has no schema');
  };
}
