/**
 * The only place where a socket is opened. One resolution, every address of it vetted, and the connection goes to one of
 * exactly these addresses: the name is not resolved a second time (failure case HTTP-24).
 *
 * - One address that is not allowed refuses the whole answer: a mixed answer is an attack or a mistake, never a choice.
 * - TLS 1.2 or newer, verified against the binding's CA or the system's roots, for the name in the origin, whatever address
 *   was dialled. Only HTTP/1.1 is offered. Nothing here reads the environment.
 */
import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { limits } from '#core/bounds/limits.ts';
import { addressCheck } from './address.ts';
import { TransportFailure } from './transport.ts';

/** Addresses of a name; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** `getaddrinfo`, as every other program of the pod. */
export const systemResolve: Resolve = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address);

/** What a client shows in a TLS handshake, as PEM. */
export interface ClientIdentity {
  /** The leaf first, then the chain. */
  readonly certificate: string;
  readonly privateKey: string;
}

export interface EgressRules {
  /** Canonical origin. */
  readonly origin: string;
  readonly addresses?: readonly string[];
  readonly allowLoopback: boolean;
  /** PEM roots to trust instead of the system's. */
  readonly ca?: string;
  readonly identity?: ClientIdentity;
  readonly resolve: Resolve;
}

/** Opens a vetted connection. Rejects with TransportFailure (`sent: false`): egressDenied, unreachable, tls. */
export type Dial = () => Promise<Socket | TLSSocket>;

/** Throws Error when `ca` is not PEM certificates, or `identity` no certificate with its key. */
export function dialer(rules: EgressRules): Dial {
  const url = new URL(rules.origin);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const allowed = addressCheck(rules);
  const secure = url.protocol === 'https:' ? secureContext(rules) : undefined;
  const port = Number(url.port) || (secure === undefined ? 80 : 443);
  return async () => {
    const addresses = await vetted(host, allowed, rules.resolve);
    const target = { host, port, lookup: pinned(addresses), autoSelectFamily: true, noDelay: true, keepAlive: true };
    const socket =
      secure === undefined
        ? connectTcp(target)
        : connectTls({
            ...target,
            secureContext: secure,
            servername: isIP(host) === 0 ? host : '',
            ALPNProtocols: ['http/1.1'],
            rejectUnauthorized: true,
          });
    await opened(socket, secure !== undefined);
    // The pin is what we asked for; this is what we got.
    if (!addresses.includes(socket.remoteAddress ?? '')) {
      socket.destroy();
      throw new TransportFailure('egressDenied', false);
    }
    return socket;
  };
}

/** The addresses of a destination that another host dials for us, vetted as if we did. Rejects with TransportFailure as a dial. */
export function vettedAddresses(
  rules: Pick<EgressRules, 'origin' | 'addresses' | 'allowLoopback' | 'resolve'>,
): Promise<readonly string[]> {
  return vetted(new URL(rules.origin).hostname.replace(/^\[|\]$/g, ''), addressCheck(rules), rules.resolve);
}

async function vetted(host: string, allowed: (address: string) => boolean, resolve: Resolve): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host];
  if (!addresses.every(allowed)) throw new TransportFailure('egressDenied', false);
  return addresses;
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(host);
  } catch (error) {
    throw new TransportFailure('unreachable', false, error);
  }
  if (addresses.length === 0) throw new TransportFailure('unreachable', false);
  return addresses;
}

/** Answers the socket's own lookup from the vetted list, so that no second resolution happens. */
function pinned(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const first = entries[0];
    if (options.all === true || first === undefined) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}

/** Made once per destination: loading roots costs milliseconds. */
function secureContext({ ca, identity }: EgressRules): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.privateKey }),
  });
}

/** Resolves once the connection (and handshake) stands; destroys the socket when it does not in time. */
function opened(socket: Socket, isTls: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let connected = false;
    const onConnect = () => {
      connected = true;
      if (!isTls) done();
    };
    const fail = (error: Error) => {
      cleanUp();
      socket.destroy();
      // After the TCP connection stands, what fails is the handshake, unless the peer just hung up.
      const kind = connected && isTls && !hungUp(error) ? 'tls' : 'unreachable';
      reject(new TransportFailure(kind, false, error));
    };
    const done = () => {
      cleanUp();
      resolve();
    };
    const onTimeout = () => fail(new Error('connecting took too long'));
    const onClose = () => fail(new Error('closed while connecting'));
    const timer = setTimeout(onTimeout, limits.connectMsMax);
    const cleanUp = () => {
      clearTimeout(timer);
      socket.off('connect', onConnect).off('secureConnect', done).off('error', fail).off('close', onClose);
    };
    socket.on('connect', onConnect).on('secureConnect', done).on('error', fail).on('close', onClose);
  });
}

function hungUp(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'ETIMEDOUT');
}
