/**
 * The socket at which people decide: a unix socket of mode 0600, so that the kernel says who may open it - the user the sidecar runs as,
 * and root. The agent must run as another user; loopback would let anybody in the pod approve its own calls (APR-04).
 *
 * Node does not tell who the peer is, so every decision is recorded under the socket's owner, and a name that a client might send is
 * not looked at. Where several people share that user, the record cannot tell them apart.
 */
import { lstatSync } from 'node:fs';
import { userInfo } from 'node:os';
import { limits } from '#core/bounds/limits.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { faultCode, SocketRefused, takeSocketPlace } from './socket-place.ts';

export interface ApprovalSocket {
  readonly path: string;
  /** Ends open calls within limits.grpcIdleCloseMsMax and removes the socket. */
  close(): Promise<void>;
}

/** Resolves once it accepts connections. `add` puts the services on the server. Throws SocketRefused. */
export async function openApprovalSocket(written: string, add: (server: GrpcServer) => void): Promise<ApprovalSocket> {
  const uid = process.getuid?.();
  if (uid === undefined) throw new SocketRefused('this system knows no users of files', 'Approvals need Linux or macOS.');
  const path = await takeSocketPlace(written, uid);
  const server = new GrpcServer();
  add(server);
  await server.listenOnSocket(path).catch((cause: unknown) => {
    throw new SocketRefused(`nobody can listen on ${path} (${faultCode(cause)})`, 'Name a path on a file system that has unix sockets.');
  });
  const close = () => server.close(limits.grpcIdleCloseMsMax);
  const made = lstatSync(path);
  if (made.isSocket() && made.uid === uid && (made.mode & 0o777) === 0o600) return { path, close };
  await close();
  throw new SocketRefused(`the socket ${path} did not get mode 0600`, 'Name a path on a file system that keeps permissions.');
}

/** Who approves here, as far as anybody can tell. Example: `jo (uid 1000)`. */
export function approverName(): string {
  try {
    const { username, uid } = userInfo();
    return `${username} (uid ${uid})`;
  } catch {
    // No entry in the user database: common in a container.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
