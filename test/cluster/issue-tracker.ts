/** The remote of the cluster tests: an API with a bearer token behind TLS, which remembers who asked and with what. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createAuthority } from '#test/servers/certificates.ts';
import { nodeAddress } from '#test/servers/node-network.ts';

export interface Asked {
  readonly path: string;
  readonly authorization: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface IssueTracker extends AsyncDisposable {
  /** `https://api.test:PORT`. */
  readonly origin: string;
  readonly port: number;
  readonly caPem: string;
  readonly asked: readonly Asked[];
  /** Paths that were posted to, each time: what has taken effect here. */
  readonly effects: readonly string[];
  /** Effects happen, and their replies never come; for as long as it is true. */
  silent: boolean;
  /** The one value it takes; another gets 401. */
  token: string;
  /** Age of its search index in seconds. */
  indexAge: number;
  /** How long it takes over each page, in milliseconds; more than one page a list when set. */
  slowPages: number;
  /** Closes every connection; the next request needs a new one. */
  hangUp(): void;
}

const host = 'api.test';

export async function startIssueTracker(token: string): Promise<IssueTracker> {
  const authority = await createAuthority('Issue tracker CA');
  const { certificatePem, keyPem } = await authority.issue({ commonName: host, hosts: [host, 'metadata.test', 'loopback.test'] });
  const asked: Asked[] = [];
  const effects: string[] = [];
  const state = { token, indexAge: 0, slowPages: 0, silent: false };
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization ?? '', at: Date.now() });
    if (request.method === 'POST') act(state, effects, request, response);
    else answer(state, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, nodeAddress, resolve));
  const { port } = server.address() as { port: number };
  return Object.assign(state, {
    origin: `https://${host}:${port}`,
    port,
    caPem: authority.caPem,
    asked,
    effects,
    hangUp: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  });
}

function act(state: Pick<IssueTracker, 'token' | 'silent'>, effects: string[], request: IncomingMessage, response: ServerResponse): void {
  const allowed = request.headers.authorization === `Bearer ${state.token}`;
  if (allowed) effects.push(request.url ?? '');
  if (allowed && state.silent) return;
  const body = allowed ? { number: effects.length, state: 'closed' } : { message: 'Bad credentials' };
  response.writeHead(allowed ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function answer(state: Pick<IssueTracker, 'token' | 'indexAge' | 'slowPages'>, request: IncomingMessage, response: ServerResponse): void {
  const send = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (request.headers.authorization !== `Bearer ${state.token}`) return void send(401, { message: 'Bad credentials' });
  const page = Number(new URL(request.url ?? '/', `https://${host}`).searchParams.get('page') ?? 1);
  const pages = state.slowPages > 0 ? 50 : 1;
  const items = [1, 2].map((number) => ({ number: page * 10 + number, title: `Issue ${page}.${number}` }));
  const indexed_at = Math.floor(Date.now() / 1000) - state.indexAge;
  setTimeout(() => send(200, { items, indexed_at, next: page < pages ? page + 1 : null }), state.slowPages);
}
