/**
 * The quickstart's upstream: a small inventory API over TLS that refuses anyone without its token, keeps what it was
 * asked, and has the habits of real ones: pages, a shard that is down, rows one may not see, an old search index, and a
 * write that happens again when it is sent again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface InventoryApi extends AsyncDisposable {
  readonly port: number;
  /** Requests that came with the right credential, and those that did not. */
  readonly seen: { authorized: number; refused: number; writeOffs: number };
  /** The shard of harbor that is down at the start answers from now on. */
  bringShardBack(): void;
}

export interface InventoryOptions {
  readonly key: string;
  readonly certificate: string;
  readonly token: string;
  readonly nowMs: number;
}

const NORTH = [
  ['bolt-8', 'Hex bolt M8', 420],
  ['cable-3', 'Cable 3 m', 17],
  ['drill-2', 'Cordless drill', 5],
  ['hose-10', 'Hose 10 m', 9],
  ['lamp-1', 'Work lamp', 31],
] as const;
const HARBOR = [
  ['anchor-5', 'Anchor 5 kg', 3],
  ['rope-20', 'Rope 20 m', 12],
] as const;
const MOVEMENTS_A_DAY = 47;
const INDEX_AGE_S = 9 * 3600;

/** Listens on a free loopback port. */
export async function startInventoryApi(options: InventoryOptions): Promise<InventoryApi> {
  const seen = { authorized: 0, refused: 0, writeOffs: 0 };
  const state = { harborIsWhole: false };
  const server = createServer({ key: options.key, cert: options.certificate }, (request, response) => {
    if (request.headers.authorization !== `Bearer ${options.token}`) {
      seen.refused += 1;
      send(response, 401, { message: 'who are you?' });
      return;
    }
    seen.authorized += 1;
    if (request.method === 'POST') void writeOff(request, response, seen);
    else answer(request, response, options, state.harborIsWhole);
  });
  const port = await listen(server);
  return {
    port,
    seen,
    bringShardBack: () => {
      state.harborIsWhole = true;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answer(request: IncomingMessage, response: ServerResponse, options: InventoryOptions, harborIsWhole: boolean): void {
  const url = new URL(request.url ?? '/', 'https://inventory.invalid');
  const stock = /^\/v1\/warehouses\/([a-z]+)\/stock$/.exec(url.pathname);
  const item = /^\/v1\/items\/([a-z0-9-]+)$/.exec(url.pathname);
  if (stock !== null) send(response, 200, stockOf(stock[1] ?? '', url.searchParams, harborIsWhole));
  else if (url.pathname === '/v1/movements') send(response, 200, movements(url.searchParams));
  else if (url.pathname === '/v1/search') send(response, 200, search(url.searchParams, options.nowMs));
  else if (item !== null) send(response, 200, { sku: item[1], name: 'Hex bolt M8', quantity: 420 });
  else send(response, 404, { message: 'no such thing' });
}

/** Not idempotent: each request writes off once more, under the next number. */
async function writeOff(request: IncomingMessage, response: ServerResponse, seen: InventoryApi['seen']): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  if (!/^\/v1\/warehouses\/[a-z]+\/write-offs$/.test(request.url ?? '')) {
    send(response, 404, { message: 'no such thing' });
    return;
  }
  seen.writeOffs += 1;
  const { skus }: { skus: readonly string[] } = JSON.parse(text);
  send(response, 201, { number: `WO-${seen.writeOffs}`, skus });
}

/** north: whole. south: whole and empty. harbor: one of two shards is down, at first. overseas: empty, because the reader may not look. */
function stockOf(warehouse: string, query: URLSearchParams, harborIsWhole: boolean): object {
  const isWhole = warehouse !== 'harbor' || harborIsWhole;
  const rows = warehouse === 'north' ? NORTH : warehouse === 'harbor' ? HARBOR.slice(isWhole ? 0 : 1) : [];
  const after = query.get('after');
  const rest = rows.filter(([sku]) => after === null || sku > after);
  const page = rest.slice(0, Number(query.get('limit') ?? 4));
  return {
    items: page.map(([sku, name, quantity]) => ({ sku, name, quantity })),
    next: page.length < rest.length ? (page.at(-1)?.[0] ?? null) : null,
    shards: { total: 2, answered: isWhole ? 2 : 1 },
    restricted: warehouse === 'overseas',
  };
}

function movements(query: URLSearchParams): object {
  const after = Number(query.get('after') ?? 0);
  const end = Math.min(MOVEMENTS_A_DAY, after + Number(query.get('limit') ?? 10));
  const items = [];
  for (let id = after + 1; id <= end; id += 1) items.push({ id, sku: 'bolt-8', change: id % 2 === 0 ? -1 : 2 });
  return { items, total: MOVEMENTS_A_DAY, next: end < MOVEMENTS_A_DAY ? end : null };
}

function search(query: URLSearchParams, nowMs: number): object {
  const words = (query.get('q') ?? '').toLowerCase();
  const found = [...NORTH, ...HARBOR].filter(([, name]) => name.toLowerCase().includes(words));
  return { indexed_at: Math.floor(nowMs / 1000) - INDEX_AGE_S, items: found.map(([sku, name]) => ({ sku, name })) };
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
