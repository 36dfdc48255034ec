/**
 * AWS Signature Version 4: the secret key never leaves, a signature over this very request does.
 * Host, contract headers, date, session token and (for S3) the hash of the body are signed.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '#core/bounds/clock.ts';
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { BindingDestination, CredentialUse } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';
import { type Headers, headerText, type Scheme } from './scheme.ts';
import type { CredentialStore } from './store.ts';

type Use = NonNullable<CredentialUse['awsSigV4']>;

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export function awsSigV4Scheme(store: CredentialStore, secret: string, use: Use, clock: Clock): Scheme {
  const read = () => [
    store.read(secret, use.secretAccessKeyKey),
    store.read(secret, use.accessKeyIdKey, 'public'),
    ...(use.sessionTokenKey === undefined ? [] : [store.read(secret, use.sessionTokenKey)]),
  ];
  let last: ReturnType<typeof read> = [];
  let keys: Keys = { accessKeyId: '', secretAccessKey: '' };
  let maskable: Maskable = { values: [], attached: [] };
  const signers = new Map<string, SignatureV4>();
  return {
    async headers(request, destination) {
      const current = read();
      if (current.some((value, index) => value !== last[index])) {
        last = current;
        signers.clear();
        keys = keysOf(current.map((value) => value.reveal()));
        maskable = { values: [keys.secretAccessKey, ...(keys.sessionToken === undefined ? [] : [keys.sessionToken])], attached: [] };
      }
      return sign(await signerFor(signers, destination, keys), request, clock);
    },
    maskable: () => maskable,
  };
}

function keysOf([secretAccessKey = '', accessKeyId = '', sessionToken]: readonly string[]): Keys {
  headerText(accessKeyId);
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken: headerText(sessionToken) }) };
}

async function signerFor(signers: Map<string, SignatureV4>, { signing }: BindingDestination, credentials: Keys): Promise<SignatureV4> {
  if (signing === undefined) throw new PosternError('CONTRACT_NOT_READY', 'The destination states no signing service and region.');
  const { service, region } = signing;
  const name = `${service}/${region}`;
  const known = signers.get(name);
  if (known !== undefined) return known;
  // Loaded by the first binding that signs: it costs tens of milliseconds that no other start should pay.
  const { SignatureV4: Signer } = await import('@smithy/signature-v4');
  const isS3 = /^s3(?:-|express|$)/.test(service);
  // S3 signs the path as it is sent and demands the body's hash; all others sign the path encoded once more.
  const signer = new Signer({ service, region, credentials, sha256: Sha256, applyChecksum: isS3, uriEscapePath: !isS3 });
  signers.set(name, signer);
  return signer;
}

async function sign(signer: SignatureV4, request: OutboundRequest, clock: Clock): Promise<Headers> {
  const url = new URL(request.origin + request.target);
  const given: Record<string, string> = { ...Object.fromEntries(request.headers), host: url.host };
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: given,
      ...(request.body && { body: request.body }),
    },
    { signingDate: new Date(clock.wallMs()) },
  );
  return Object.entries(signed.headers).filter(([name]) => !Object.hasOwn(given, name));
}

function queryOf(url: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name);
    query[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return query;
}

/** The hash the signer asks for, by node:crypto; with a secret it is an HMAC. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
}
