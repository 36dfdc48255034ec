/**
 * The operator's CA as a replica presents it, found by the pinned digest of its public key.
 *
 * The pin names a key, TLS wants a certificate: so a first handshake, in which nothing is said and nothing is believed, shows the
 * chain, and the one certificate in it that has the pinned key becomes the only one that the connection itself trusts. Whoever stands
 * in between can show that certificate too - it is no secret - and then fails the handshake of the connection, for want of a leaf
 * signed by that key. A root that is not in the chain is never looked for: no system CAs, no file, no download.
 *
 * All that OpenSSL checks in the second handshake is checked here first - signature, dates, use, name - so that a person reads which
 * of them is wrong, and so that two readers must be wrong before a stranger is believed.
 */
import { createHash, type X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { limits } from '#core/bounds/limits.ts';
import { pinServerName } from '#core/resource/names.ts';
import { ControlFault, type OwnEnd } from './stream-end.ts';

export interface Peer {
  /** Literal address. */
  readonly host: string;
  readonly port: number;
}

export interface Pin {
  /** `sha256:` and 64 hex digits over the SubjectPublicKeyInfo (DER) of the CA. */
  readonly digest: string;
  /** Sent as SNI and expected in the certificate: says which CA is wanted while two are served. */
  readonly serverName: string;
}

export function pinOf(digest: string): Pin {
  return { digest, serverName: pinServerName(digest) };
}

/** The CA certificate as PEM. Throws ControlFault. */
export async function findAuthority(peer: Peer, pin: Pin, nowMs: number, signal: AbortSignal): Promise<string> {
  const leaf = await presentedBy(peer, pin.serverName, signal);
  const judged = judgeChain(leaf, pin, nowMs);
  if (typeof judged === 'string') throw new ControlFault(judged);
  return judged.ca.toString();
}

/** The pinned CA of a presented chain, or what is wrong with the chain. */
export function judgeChain(
  leaf: X509Certificate | undefined,
  { digest, serverName }: Pin,
  nowMs: number,
): { readonly ca: X509Certificate } | Extract<OwnEnd, `certificate_${string}`> {
  const ca = chainOf(leaf).find((each) => spkiDigest(each) === digest);
  if (leaf === undefined || ca === undefined) return 'certificate_unpinned';
  // Its own signature: the dates and uses in it are then those the owner of the key wrote.
  if (!ca.ca || !ca.verify(ca.publicKey)) return 'certificate_unpinned';
  // A direct signature: the operator has no CA in between, and one would be a second holder of the name.
  if (leaf.ca || !leaf.checkIssued(ca) || !leaf.verify(ca.publicKey)) return 'certificate_untrusted';
  if (!leaf.keyUsage?.includes(SERVER_AUTH)) return 'certificate_untrusted';
  if (![leaf, ca].every((each) => isInside(each, nowMs))) return 'certificate_expired';
  return leaf.checkHost(serverName, { subject: 'never', wildcards: false }) === undefined ? 'certificate_name' : { ca };
}

/** id-kp-serverAuth, RFC 5280 section 4.2.1.12. What Node calls key usage is the extended one. */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

function spkiDigest({ publicKey }: X509Certificate): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

function isInside({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  return validFromDate.getTime() <= nowMs && nowMs <= validToDate.getTime();
}

/** From the leaf upwards, as far as the peer presented it; a root names itself. */
function chainOf(leaf: X509Certificate | undefined): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let at = leaf; at !== undefined && chain.length < limits.controlChainMax; at = at.issuerCertificate) chain.push(at);
  return chain;
}

/** The leaf that is presented, linked to the rest of its chain. Nothing is sent beside the handshake. */
function presentedBy({ host, port }: Peer, serverName: string, signal: AbortSignal): Promise<X509Certificate | undefined> {
  return new Promise((resolve, reject) => {
    let socket: TLSSocket | undefined;
    const end = (done: () => void) => {
      signal.removeEventListener('abort', abort);
      socket?.destroy();
      done();
    };
    const abort = () => end(() => reject(new ControlFault('unreachable')));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) {
      abort();
      return;
    }
    socket = connect({ host, port, servername: serverName, ALPNProtocols: ['h2'], minVersion: 'TLSv1.3', rejectUnauthorized: false });
    socket.once('secureConnect', () => {
      const leaf = socket?.getPeerX509Certificate();
      end(() => resolve(leaf));
    });
    // After the end too: a reset of a socket that nobody needs any more must not end the process.
    socket.on('error', (cause) => end(() => reject(new ControlFault('unreachable', cause))));
    socket.once('close', () => end(() => reject(new ControlFault('unreachable'))));
  });
}
