/**
 * TLS in front of a server that takes sockets: the certificate is asked for at each handshake, so that a new one is served from
 * the next connection on while connections that stand are left alone (one process serves many pins during a rotation of the CA).
 *
 * TLS 1.3 only, HTTP/2 only. A peer that names no server, or one there is no certificate for, fails in its handshake.
 */
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureContext, type TLSSocket } from 'node:tls';
import { limits } from '#core/bounds/limits.ts';

export interface TlsIdentity {
  /** The certificate for the server name (SNI) a peer asks for, as of now; undefined refuses the handshake. */
  contextFor(serverName: string): SecureContext | undefined;
  /** A handshake failed; the peer may be anybody, so this is for a counter and not for a log. */
  onHandshakeFailed?(): void;
}

/** A server whose sockets have passed their handshake; not listening yet. */
export function tlsListener(identity: TlsIdentity, accept: (socket: Socket) => void): NetServer {
  const server = createTlsServer({
    ALPNProtocols: ['h2'],
    minVersion: 'TLSv1.3',
    handshakeTimeout: limits.grpcHandshakeMsMax,
    SNICallback: (serverName, answer) => {
      const context = identity.contextFor(serverName);
      if (context === undefined) answer(new Error('there is no certificate for this server name'));
      else answer(null, context);
    },
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') accept(socket);
    else socket.destroy();
  });
  server.on('tlsClientError', (_error, socket) => {
    identity.onHandshakeFailed?.();
    socket.destroy();
  });
  return server;
}

export function plainListener(accept: (socket: Socket) => void): NetServer {
  return createServer(accept);
}
