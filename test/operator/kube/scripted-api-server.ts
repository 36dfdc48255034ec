/**
 * An API server of one kind (ConfigMaps) over real HTTP, with real list and watch framing, that fails on command. Only for faults a
 * real one cannot be made to show; everything else is tested against kube-apiserver, which does not lie in our favour (OPR-22).
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ApiAccess } from '#operator/kube/api-access.ts';

export interface Thing {
  readonly kind: 'ConfigMap';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  readonly data: { readonly value: string };
}

export type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Thing };

/** Takes over one request; calling `proceed` lets it go its usual way. */
export type Fault = (response: ServerResponse, proceed: () => void, request: IncomingMessage) => void;

export interface Seen {
  readonly what: 'list' | 'watch';
  readonly atMs: number;
  readonly query: URLSearchParams;
  /** Port of the client: tells connections apart. */
  readonly port: number;
  readonly authorization: string | undefined;
}

interface Watcher {
  readonly response: ServerResponse;
  /** Sends what the log holds beyond `sent`. */
  readonly flush: () => void;
  readonly sent: { version: number };
}

export class ScriptedApiServer implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #watchers = new Set<Watcher>();
  readonly #faults: { readonly list: Fault[]; readonly watch: Fault[] } = { list: [], watch: [] };
  /** Every fault of the kind, until taken away. */
  always: { list?: Fault; watch?: Fault } = {};
  readonly #things = new Map<string, Thing>();
  #log: WatchEvent[] = [];
  #version = 100;
  #compacted = 0;
  #uids = 0;
  #port = 0;
  #muted = false;
  readonly #scale: number;

  /** `scale`: how much faster than real time the client's clock runs. */
  constructor(scale = 1) {
    this.#scale = scale;
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  get access(): ApiAccess {
    return {
      server: `http://127.0.0.1:${this.#port}`,
      tls: { rejectUnauthorized: true },
      namespace: 'default',
      headers: async () => ({ authorization: 'Bearer test' }),
    };
  }

  get version(): string {
    return String(this.#version);
  }

  get connections(): number {
    return this.#sockets.size;
  }

  get watching(): number {
    return this.#watchers.size;
  }

  count(what: 'list' | 'watch'): number {
    return this.seen.filter((request) => request.what === what && !request.query.has('continue')).length;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** As if the process were gone: connections break, new ones are refused until `listen`. */
  async vanish(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.breakConnections();
    await closed;
  }

  breakConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** The next requests of the kind meet these faults, one each. */
  fail(what: 'list' | 'watch', ...faults: readonly Fault[]): void {
    this.#faults[what].push(...faults);
  }

  /** Nothing is sent to watches any more, those open and those to come, and they do not end: a half-open connection. */
  mute(): void {
    this.#muted = true;
  }

  unmute(): void {
    this.#muted = false;
    for (const { flush } of this.#watchers) flush();
  }

  put(name: string, value = 'x'): Thing {
    const was = this.#things.get(name);
    return this.#happen(was === undefined ? 'ADDED' : 'MODIFIED', this.#thing(name, was?.metadata.uid ?? this.#newUid(), value));
  }

  delete(name: string): void {
    const was = this.#things.get(name);
    if (was !== undefined) this.#happen('DELETED', this.#thing(name, was.metadata.uid, was.data.value));
  }

  /** A deletion no watch ever tells. */
  deleteSilently(name: string): void {
    this.#version += 1;
    this.#things.delete(name);
    this.#removedAt.push({ name, version: this.#version });
  }

  /** Versions before now are gone: watches and lists from them get 410. */
  compact(): void {
    this.#version += 1;
    this.#compacted = this.#version;
    this.#log = [];
    // A watch that has not been sent everything cannot go on; a real server ends it too.
    if (this.#muted) this.endWatches('reset');
  }

  /** The store is set back to an earlier version, as from a backup. */
  setBack(version: number): void {
    this.#version = version;
    this.#log = [];
    this.#compacted = 0;
  }

  /** Raw text to every open watch. */
  say(text: string): void {
    for (const { response } of this.#watchers) response.write(text);
  }

  /** Ends every watch: in order, or by breaking the connection. */
  endWatches(how: 'order' | 'reset' = 'order'): void {
    for (const { response } of this.#watchers) how === 'order' ? response.end() : response.socket?.resetAndDestroy();
    this.#watchers.clear();
  }

  names(): readonly string[] {
    return [...this.#things.keys()].sort();
  }

  things(): ReadonlyMap<string, Thing> {
    return this.#things;
  }

  frame(event: WatchEvent): string {
    return `${JSON.stringify(event)}\n`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.breakConnections();
    this.#server.closeAllConnections();
  }

  readonly #removedAt: { readonly name: string; readonly version: number }[] = [];

  #thing(name: string, uid: string, value: string): Thing {
    this.#version += 1;
    return { kind: 'ConfigMap', metadata: { name, namespace: 'default', uid, resourceVersion: String(this.#version) }, data: { value } };
  }

  #newUid(): string {
    this.#uids += 1;
    return `uid-${this.#uids}`;
  }

  #happen(type: WatchEvent['type'], object: Thing): Thing {
    if (type === 'DELETED') this.#things.delete(object.metadata.name);
    else this.#things.set(object.metadata.name, object);
    this.#log.push({ type, object });
    for (const watcher of this.#watchers) watcher.flush();
    return object;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const query = new URL(request.url ?? '/', 'http://x').searchParams;
    const what = query.get('watch') === 'true' ? 'watch' : 'list';
    const { authorization } = request.headers;
    this.seen.push({ what, atMs: performance.now(), query, port: request.socket.remotePort ?? 0, authorization });
    const proceed = () => (what === 'watch' ? this.#watch(query, response) : this.#list(query, response));
    const fault = this.#faults[what].shift() ?? this.always[what];
    if (fault === undefined) proceed();
    else fault(response, proceed, request);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const exact = Number(query.get('resourceVersion') ?? this.#version);
    const limit = Number(query.get('limit') ?? 0);
    const [from = 0, at = exact] = (query.get('continue') ?? '').split('@').filter(Boolean).map(Number);
    if (at < this.#compacted) {
      json(response, 410, statusOf(410, 'Expired'));
      return;
    }
    const all = [...this.#at(at)];
    const items = limit > 0 ? all.slice(from, from + limit) : all.slice(from);
    const rest = all.length - from - items.length;
    const metadata = { resourceVersion: String(at), ...(rest > 0 && { continue: `${from + items.length}@${at}` }) };
    json(response, 200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items });
  }

  /** The things as they were: today's, with the log undone. */
  #at(version: number): readonly Thing[] {
    if (version >= this.#version) return [...this.#things.values()];
    const then = new Map<string, Thing>();
    for (const { type, object } of this.#log) {
      if (Number(object.metadata.resourceVersion) > version) continue;
      if (type === 'DELETED') then.delete(object.metadata.name);
      else then.set(object.metadata.name, object);
    }
    for (const removed of this.#removedAt) if (removed.version <= version) then.delete(removed.name);
    return [...then.values()];
  }

  #watch(query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (from < this.#compacted) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: statusOf(410, 'Expired') })}\n`);
      return;
    }
    const sent = { version: from };
    const flush = () => {
      if (this.#muted) return;
      for (const event of this.#log) {
        if (Number(event.object.metadata.resourceVersion) <= sent.version) continue;
        sent.version = Number(event.object.metadata.resourceVersion);
        response.write(this.frame(event));
      }
    };
    const watcher: Watcher = { response, flush, sent };
    this.#watchers.add(watcher);
    const timer = setTimeout(
      () => {
        if (this.#muted || !this.#watchers.delete(watcher)) return;
        const metadata = { resourceVersion: String(Math.max(sent.version, this.#version)) };
        response.end(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata } })}\n`);
      },
      (Number(query.get('timeoutSeconds')) * 1000) / this.#scale,
    );
    response.on('close', () => {
      clearTimeout(timer);
      this.#watchers.delete(watcher);
    });
    flush();
  }
}

/** Answers with a Status. */
export function refuse(code: number, reason: string, headers: Readonly<Record<string, string>> = {}): Fault {
  return (response) => json(response, code, statusOf(code, reason), headers);
}

/** Breaks the connection without an answer. */
export const hangUp: Fault = (response) => {
  response.socket?.resetAndDestroy();
};

export function statusOf(code: number, reason: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `scripted ${reason}` };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
