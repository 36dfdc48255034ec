/** The client in front of one scripted server, for as long as a test uses it. */
import assert from 'node:assert/strict';
import type { OutboundRequest } from '#core/contract/assemble.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { type RawReply, type SendOptions, type Transport, TransportFailure } from '#sidecar/execute/http/transport.ts';
import { type RawServer, type Respond, startRawServer } from './raw-server.ts';

export async function withServer(respond: Respond, use: (send: Send, server: RawServer) => Promise<void>): Promise<void> {
  await using server = await startRawServer(respond);
  const destinations = new Destinations({ allowLoopback: true });
  const transport = destinations.transport({ origin: server.origin, credential: 'test/binding', addresses: ['127.0.0.1'] });
  try {
    await use((request, options) => sendTo(transport, server.origin, request, options), server);
  } finally {
    destinations.close();
  }
}

export type Send = (request?: Partial<OutboundRequest>, options?: Partial<SendOptions>) => Promise<RawReply>;

export function sendTo(
  transport: Transport,
  origin: string,
  request: Partial<OutboundRequest> = {},
  options: Partial<SendOptions> = {},
): Promise<RawReply> {
  return transport.send(
    { method: 'GET', origin, target: '/v1', headers: [['accept', 'application/json']], ...request },
    { signal: AbortSignal.timeout(5000), wireBytesMax: 1e6, bodyBytesMax: 1e6, ...options },
  );
}

export async function failure(run: Promise<RawReply>): Promise<TransportFailure> {
  try {
    await run;
  } catch (error) {
    assert(error instanceof TransportFailure, String(error));
    return error;
  }
  return assert.fail('a reply came');
}

export const text = (reply: RawReply) => Buffer.from(reply.body).toString();
/** A framed 200. */
export const ok = (body: string, more = '') => `HTTP/1.1 200 OK\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
