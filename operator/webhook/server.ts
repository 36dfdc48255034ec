/**
 * The port API servers call. One route a webhook, each a function from the request to an answer.
 *
 * - An answer within limits.admissionMsMax, whatever a webhook waits for (failure case INJ-27).
 * - A webhook that fails or is late: where the configuration fails open, an HTTP error, so that the API server goes on without us and
 *   the guards judge the pod; where it fails closed, a refusal in our own words instead of the API server's.
 * - A port that is full of silent connections still takes those of API servers: who holds the most loses one.
 * - Certificates are asked for at each handshake; a new one closes no connection (failure case INJ-04).
 * - On close, what runs is answered, also on connections that stand: an API server must not see a request fail because we stop.
 */
import type { SecureContext } from 'node:tls';
import { fastify } from 'fastify';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { ConnectionRoom } from '#core/runtime/connection-room.ts';
import { type AdmissionAnswer, type AdmissionRequest, ReviewError, readReview, writeReview } from './admission-review.ts';

export interface Webhook {
  /** For metrics and logs. */
  readonly name: string;
  /** As in the chart's configuration. */
  readonly path: `/${string}`;
  /** `failurePolicy` of the chart's configuration: Ignore is `open`. */
  readonly fails: 'open' | 'closed';
  answer(request: AdmissionRequest): AdmissionAnswer | Promise<AdmissionAnswer>;
}

export interface Certificates {
  readonly identity: { readonly certificatePem: string; readonly keyPem: string };
  contextFor(serverName: string): SecureContext | undefined;
  onChange(listener: () => void): () => void;
}

export type AdmissionOutcome = 'allowed' | 'refused' | 'failed';

export interface WebhookServerOptions {
  /** Literal address. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly webhooks: readonly Webhook[];
  /** Whether the caches hold the cluster; before that nobody is a caller of anything. */
  ready(): boolean;
  onAnswer?(webhook: string, outcome: AdmissionOutcome, durationMs: number): void;
  /** A webhook threw, or was late (no error). */
  onFault?(webhook: string, error: unknown): void;
}

export interface WebhookServer {
  readonly port: number;
  /** Takes no new connections; answers what runs, for at most limits.admissionDrainMsMax. */
  close(): Promise<void>;
}

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { certificates } = options;
  const app = createApp(options);
  const { server } = app;
  keepRoom(app);
  // For peers that send no server name; the others are asked for at each handshake. It replaces what the server was made with, the
  // least version too.
  const setDefault = () => {
    const { certificatePem, keyPem } = certificates.identity;
    server.setSecureContext({ cert: certificatePem, key: keyPem, minVersion: 'TLSv1.3' });
  };
  setDefault();
  const stopListening = certificates.onChange(setDefault);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const webhook of options.webhooks) addRoute(app, webhook, options);
  // Own words only: the framework's answers repeat the path that was asked for.
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('not here\n'));
  app.setErrorHandler((_error, _request, reply) => reply.code(400).type('text/plain').send('bad request\n'));
  await app.listen({ host: options.host, port: options.port });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a TCP address was expected');
  return {
    port: address.port,
    async close() {
      stopListening();
      const cut = options.clock.alarm(limits.admissionDrainMsMax, () => server.closeAllConnections());
      await app.close();
      cut();
    },
  };
}

/** Whoever reaches the port may fill it: pods without a network policy do. API servers must still get in. */
function keepRoom(app: ReturnType<typeof createApp>): void {
  const room = new ConnectionRoom(limits.admissionConnectionsMax);
  room.watch(app.server);
  app.addHook('onRequest', (request, reply, done) => {
    const { remoteAddress, remotePort } = request.socket;
    const peer = { remoteAddress, remotePort };
    room.begins(peer);
    reply.raw.once('close', () => room.ends(peer));
    done();
  });
}

function createApp({ certificates }: WebhookServerOptions) {
  return fastify({
    logger: false,
    bodyLimit: limits.admissionBodyBytesMax,
    requestTimeout: limits.admissionRequestMsMax,
    keepAliveTimeout: limits.admissionIdleMs,
    // Also for connections that never sent a request: whoever holds many open keeps API servers out.
    connectionTimeout: limits.admissionIdleMs,
    forceCloseConnections: 'idle',
    // A request on an open connection is answered while we stop, not refused.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 100 },
    https: {
      minVersion: 'TLSv1.3',
      handshakeTimeout: limits.admissionRequestMsMax,
      headersTimeout: limits.admissionRequestMsMax,
      SNICallback: (serverName, answer) => answer(null, certificates.contextFor(serverName)),
    },
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      reply.raw.writeHead(400, { 'content-type': 'text/plain' }).end('bad request\n');
    },
  });
}

function addRoute(app: ReturnType<typeof createApp>, webhook: Webhook, options: WebhookServerOptions): void {
  const { clock, onAnswer } = options;
  app.post(webhook.path, async (message, reply) => {
    const startMs = clock.monotonicMs();
    const { code, body, outcome } = await respond(webhook, message.body, options);
    onAnswer?.(webhook.name, outcome, clock.monotonicMs() - startMs);
    return reply
      .code(code)
      .type(code === 200 ? 'application/json' : 'text/plain')
      .send(body);
  });
}

interface Response {
  readonly code: number;
  readonly body: string;
  readonly outcome: AdmissionOutcome;
}

async function respond(webhook: Webhook, body: unknown, { clock, ready, onFault }: WebhookServerOptions): Promise<Response> {
  let request: AdmissionRequest;
  try {
    request = readReview(body instanceof Buffer ? body : Buffer.alloc(0));
  } catch (error) {
    if (!(error instanceof ReviewError)) throw error;
    return failed(400, error.message);
  }
  if (!ready()) return webhook.fails === 'open' ? failed(503, 'The operator has not seen the cluster yet.') : answered(request, NOT_YET);
  const answer = await answerInTime(webhook, request, clock, onFault);
  if (answer !== undefined) return answered(request, answer);
  return webhook.fails === 'open' ? failed(500, 'The operator could not decide.') : { ...answered(request, COULD_NOT), outcome: 'failed' };
}

function failed(code: number, sentence: string): Response {
  return { code, body: `${sentence}\n`, outcome: 'failed' };
}

function answered({ uid }: AdmissionRequest, answer: AdmissionAnswer): Response {
  return { code: 200, body: writeReview(uid, answer), outcome: answer.allowed ? 'allowed' : 'refused' };
}

const NOT_YET: AdmissionAnswer = {
  allowed: false,
  message: 'The operator has just started; try again in a few seconds.',
  retryAfterSeconds: 2,
};
const COULD_NOT: AdmissionAnswer = {
  allowed: false,
  message: "The operator could not decide in time or failed at it; try again, and see the operator's log if it stays so.",
};

/** Undefined when the webhook threw or was late; both are told. */
async function answerInTime(
  webhook: Webhook,
  request: AdmissionRequest,
  clock: Clock,
  onFault: WebhookServerOptions['onFault'],
): Promise<AdmissionAnswer | undefined> {
  let cancel = () => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.alarm(limits.admissionMsMax, () => resolve(undefined));
  });
  try {
    const answer = await Promise.race([webhook.answer(request), late]);
    if (answer === undefined) onFault?.(webhook.name, undefined);
    return answer;
  } catch (error) {
    onFault?.(webhook.name, error);
    return undefined;
  } finally {
    cancel();
  }
}
