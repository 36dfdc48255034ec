/**
 * A TLS client certificate: nothing is put on a request, the connection itself carries the credential. So the pool of a binding with a
 * certificate is its own (sidecar/execute/http/destinations.ts), and other files mean other sockets (failure cases HTTP-21, HTTP-34).
 *
 * Key and certificate are two files, looked at at different times: during a rotation one may be seen before the other. Until the second
 * is seen too, and for `limits.certificatePairMsMax` at most, the pair before it stays.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { CredentialUse } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';
import { pemMaskable } from './pem.ts';
import type { ClientIdentity, Headers, Scheme } from './scheme.ts';
import type { Secret } from './secret.ts';
import type { CredentialStore } from './store.ts';

type Use = NonNullable<CredentialUse['clientCertificate']>;

interface Pair {
  readonly key: Secret;
  readonly certificate: Secret;
  readonly identity: ClientIdentity;
  readonly maskable: Maskable;
  /** Wall clock, of the leaf. */
  readonly beginsMs: number;
  readonly endsMs: number;
}

export function clientCertificateScheme(store: CredentialStore, secret: string, use: Use, clock: Clock): Scheme {
  let pair: Pair | undefined;
  let torn: { readonly key: Secret; readonly certificate: Secret; readonly sinceMs: number } | undefined;

  const current = (): Pair => {
    const key = store.read(secret, use.privateKeyKey);
    const certificate = store.read(secret, use.certificateKey, 'public');
    if (pair?.key === key && pair.certificate === certificate) return pair;
    const next = parsePair(key, certificate);
    if (next !== undefined) {
      torn = undefined;
      pair = next;
      return next;
    }
    if (torn?.key !== key || torn.certificate !== certificate) torn = { key, certificate, sinceMs: clock.monotonicMs() };
    if (pair !== undefined && clock.monotonicMs() - torn.sinceMs < limits.certificatePairMsMax) return pair;
    throw invalid('The certificate and the private key of this action do not belong together.');
  };
  const valid = (): Pair => {
    const found = current();
    const nowMs = clock.wallMs();
    if (nowMs >= found.endsMs) throw invalid('The client certificate of this action has ended; nothing was sent.');
    if (nowMs + limits.certificateBackdateMs < found.beginsMs)
      throw invalid('The client certificate of this action has not begun; nothing was sent.');
    return found;
  };
  return {
    headers() {
      // Before the request is taken by a connection: whoever calls learns what is wrong with the files, not with a handshake.
      valid();
      return NO_HEADERS;
    },
    maskable: () => pair?.maskable ?? NOTHING,
    identity: () => valid().identity,
  };
}

const NO_HEADERS: Headers = [];
const NOTHING: Maskable = { values: [], attached: [] };

/** Undefined when each is well-formed and they do not belong together. */
function parsePair(key: Secret, certificate: Secret): Pair | undefined {
  const privateKey = parseKey(key.reveal());
  const chain = parseChain(certificate.reveal());
  const [leaf] = chain;
  if (leaf === undefined) throw invalid('The certificate of this action is not a PEM certificate.');
  if (!leaf.checkPrivateKey(privateKey)) return undefined;
  return {
    key,
    certificate,
    identity: { certificate: chain.map((each) => each.toString()).join(''), privateKey: key.reveal() },
    maskable: { values: pemMaskable(key.reveal()), attached: [] },
    beginsMs: leaf.validFromDate.getTime(),
    endsMs: leaf.validToDate.getTime(),
  };
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // What the parser says of it is about the key; nobody needs it.
    throw invalid('The private key of this action is not a PEM key without passphrase.');
  }
}

function parseChain(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length > limits.certificatesMax)
    throw invalid(`The certificate of this action has a chain of more than ${limits.certificatesMax}.`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    // The parser's words would say no more.
    throw invalid('The certificate of this action is not a PEM certificate.');
  }
}

function invalid(message: string): PosternError {
  return new PosternError('CREDENTIAL_INVALID', message);
}
