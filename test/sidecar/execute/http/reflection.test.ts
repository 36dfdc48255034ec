/**
 * The whole way of one request - assemble, attach, send, mask, decode - against servers that echo what they get.
 * Goal: the credential reaches the remote, and no byte of it comes back in anything the rules of a contract can see.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import { systemClock } from '#core/bounds/clock.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import type { JsonValue, RequestTemplate, ResultRules, Slot } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { HttpRemote } from '#sidecar/execute/http-remote.ts';

const CANARY = 'SYN/secret+value=42~';
const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'postern-x'));
for (const [key, value] of [
  ['token', CANARY],
  ['id', 'client-1'],
  ['client-secret', 'SYN-client-secret'],
] as const) {
  writeFileSync(join(directory, 'postern-x', key), value);
}

const slot = (name: string): Slot => ({ root: 'args', path: [name], text: `$(args.${name})` });
const rules: ResultRules = {
  decoder: 'JSON',
  contentTypes: ['application/json'],
  outcomes: [],
  shape: { kind: 'object', path: { text: '/', steps: [] } },
  absentItems: 'Error',
  as: 'items',
  id: [],
  fields: 'All',
};

interface Asked {
  readonly exchange: Exchange;
  readonly anomalies: number;
}

type Ask = (args: Readonly<Record<string, JsonValue>>, template?: Partial<RequestTemplate>) => Promise<Asked>;

async function withRemote(
  respond: RequestListener,
  use: (ask: Ask, requests: readonly IncomingMessage[]) => Promise<void>,
  own?: CompiledBinding['spec']['use'],
) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const destinations = new Destinations({ allowLoopback: true });
  const transport = destinations.transport({ origin, credential: 'n/x', addresses: ['127.0.0.1/32'] });
  const use_ = own ?? { bearer: { key: 'token' } };
  if (use_.oauth2ClientCredentials !== undefined) use_.oauth2ClientCredentials.tokenUrl = `${origin}/token`;
  const spec = { owner: 'team', secret: { name: 'postern-x' }, contracts: ['c'], destinations: [{ origin }], use: use_ };
  const store = new CredentialStore({ directory, clock: systemClock });
  const sendTokenRequest: ConstructorParameters<typeof BindingCredential>[1]['sendTokenRequest'] = (request, options) =>
    transport.send(request, options);
  const credential = new BindingCredential({ name: 'x', namespace: 'n', spec }, { store, clock: systemClock, sendTokenRequest });
  const ask: Ask = async (args, template) => {
    let anomalies = 0;
    const onAnomaly = () => {
      anomalies += 1;
    };
    const remote = new HttpRemote({ rules, credential, transport: () => transport, clock: systemClock, repeatable: true, onAnomaly }, args);
    const request: RequestTemplate = {
      method: 'GET',
      origin,
      segments: [['find']],
      query: [['q', [slot('q')]]],
      headers: [['accept', ['application/json']]],
      ...template,
    };
    const values = { args, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} };
    const exchange = await remote.ask(request, values, { signal: AbortSignal.timeout(5000), bodyBytesMax: 1e6 });
    return { exchange, anomalies };
  };
  try {
    await use(ask, requests);
  } finally {
    destinations.close();
    server.closeAllConnections();
    server.close();
  }
}

const json: (value: (request: IncomingMessage) => unknown, status?: number) => RequestListener =
  (value, status = 200) =>
  (request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value(request)));
  };

function reply({ exchange }: Asked) {
  assert.equal(exchange.reply.kind, 'reply');
  return exchange.reply;
}

function assertClean(asked: Asked): void {
  const shown = inspect(asked, { depth: 20, showHidden: true, maxStringLength: null }) + JSON.stringify(asked);
  assert(!/SYN|c2VjcmV0|dXNlcjp/.test(shown), shown);
}

test('LEAK-04: a server that echoes all headers, twice and reversed, shows no credential and is reported', async () => {
  await withRemote(
    json((request) => [request.headers, request.rawHeaders.toReversed(), `curl -H 'authorization: ${request.headers.authorization}'`]),
    async (ask, requests) => {
      const asked = await ask({ q: 'x' });
      assert.equal(requests[0]!.headers.authorization, `Bearer ${CANARY}`);
      assert.equal(reply(asked).reflected, true);
      assertClean(asked);
    },
  );
});

test('LEAK-01: an error page with the credential in header and body shows none', async () => {
  await withRemote(
    (request, response) => {
      response.writeHead(500, { 'x-debug': `Authorization: ${request.headers.authorization}`, 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: `bad auth ${request.headers.authorization}` }));
    },
    async (ask) => {
      const asked = await ask({ q: 'x' });
      assert.deepEqual([reply(asked).status, reply(asked).headers['x-debug']], [500, 'Authorization: [masked]']);
      assertClean(asked);
    },
  );
});

test('LEAK-22: an argument equal to the credential is answered like any other, and counted once', async () => {
  await withRemote(
    json((request) => ({ q: new URL(request.url!, 'http://x').searchParams.get('q'), seen: request.headers.authorization })),
    async (ask) => {
      const wrong = await ask({ q: 'SYN/wrongg+value=42~' });
      const right = await ask({ q: CANARY });
      assert.deepEqual(reply(wrong).body, { q: 'SYN/wrongg+value=42~', seen: '[masked]' });
      assert.deepEqual(reply(right).body, { q: CANARY, seen: '[masked]' });
      assert.deepEqual([reply(right).reflected, reply(wrong).reflected], [true, true]);
      assert.deepEqual([wrong.anomalies, right.anomalies], [0, 1]);
    },
  );
});

test('LEAK-17: headers reach the remote from the contract only', async () => {
  await withRemote(
    json(() => ({})),
    async (ask, requests) => {
      await ask({ q: 'x', authorization: 'Bearer mine', cookie: 'a=b' });
      assert.deepEqual(Object.keys(requests[0]!.headers).toSorted(), [
        'accept',
        'accept-encoding',
        'authorization',
        'connection',
        'host',
        'user-agent',
      ]);
    },
  );
});

test('HTTP-30: values that look like syntax arrive as exactly one parameter', async () => {
  await withRemote(
    json((request) => [...new URL(request.url!, 'http://x').searchParams]),
    async (ask) => {
      for (const q of ['a&admin=true', 'a=b;c', 'a+b', 'a%26b', '\u202egpj.exe', 'x?y#z', "'()*!"])
        assert.deepEqual(reply(await ask({ q })).body, [['q', q]]);
    },
  );
});

test('HTTP-28: values that are legal in a path arrive as one segment of four', async () => {
  const segments = [['v1'], ['boxes'], [slot('item')], ['keys']];
  await withRemote(
    json((request) => request.url),
    async (ask) => {
      for (const item of ['x?admin=1', 'x#y', '...', 'a b', 'ü']) {
        const seen = String(reply(await ask({ item }, { segments, query: [] })).body).split('/');
        assert.deepEqual([seen.length, seen[1], seen[2], decodeURIComponent(seen[3]!), seen[4]], [5, 'v1', 'boxes', item, 'keys']);
      }
    },
  );
});

test('HTTP-02: a redirect is a reply like any other and nothing is followed', async () => {
  await withRemote(
    (_request, response) => response.writeHead(307, { location: '/v1/other' }).end(),
    async (ask, requests) => {
      assert.equal(reply(await ask({ q: 'x' })).status, 307);
      assert.equal(requests.length, 1);
    },
  );
});

test('HTTP-22: proxy settings in the environment are not looked at', async () => {
  const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  for (const name of names) process.env[name] = 'http://127.0.0.1:9/';
  try {
    await withRemote(
      json(() => 1),
      async (ask) => assert.equal(reply(await ask({ q: 'x' })).body, 1),
    );
  } finally {
    for (const name of names) delete process.env[name];
  }
});

test('attach: a token the remote no longer takes is fetched anew once, and no more', async () => {
  const oauth = () => ({ oauth2ClientCredentials: { tokenUrl: '', clientIdKey: 'id', clientSecretKey: 'client-secret' } });
  let tokens = 0;
  const server =
    (accept: (authorization: string | undefined) => boolean): RequestListener =>
    (request, response) => {
      if (request.url === '/token') {
        tokens += 1;
        json(() => ({ access_token: `SYN-access-token-${tokens}`, token_type: 'Bearer', expires_in: 3600 }))(request, response);
      } else if (accept(request.headers.authorization)) json(() => ({ echo: request.headers.authorization }))(request, response);
      else json(() => ({ echo: request.headers.authorization }), 401)(request, response);
    };
  await withRemote(
    server((authorization) => authorization === 'Bearer SYN-access-token-2'),
    async (ask) => {
      const asked = await ask({ q: 'x' });
      assert.deepEqual([reply(asked).status, tokens], [200, 2]);
      assertClean(asked);
    },
    oauth(),
  );
  tokens = 0;
  await withRemote(
    server(() => false),
    async (ask) => {
      const asked = await ask({ q: 'x' });
      assert.deepEqual([reply(asked).status, tokens], [401, 2]);
      assertClean(asked);
    },
    oauth(),
  );
});

test('LEAK-02: a remote that hangs up, and one that is not there, give a cause of ours and no text', async () => {
  await withRemote(
    (request) => request.socket.destroy(),
    async (ask) => {
      const asked = await ask({ q: 'x' });
      assert.deepEqual(
        { ...asked.exchange.reply, receivedAtMs: 0 },
        { kind: 'noReply', cause: 'unreachable', sent: true, receivedAtMs: 0 },
      );
      assertClean(asked);
    },
  );
});
