/**
 * Objects in a bucket of an S3 store. Created once: each put says If-None-Match, and the digest the store must find (AUD-19); whether a
 * store keeps to that is tried before it is trusted (s3-probe.ts).
 *
 * `list` gives names in the order of the server: by bytes, except servers that keep folders and list those one by one.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { isObjectName } from '#core/audit/object-name.ts';
import { type Creation, type NewObject, StoreFault } from '#core/audit/object-store.ts';
import { type Retention, type S3Address, storeAddressText } from '#core/audit/store-address.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OpenStore, OpenStoreOptions } from './open-store.ts';
import { type S3Requests, s3Requests } from './s3-client.ts';
import { type ObjectLock, probeS3 } from './s3-probe.ts';

/** One PUT that anybody may send who holds it, of exactly these bytes, under exactly this name, if nothing is there yet. */
export interface PresignedPut {
  readonly url: string;
  /** To be sent as they are: they are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly expiresMs: number;
}

/** Of an object that somebody else will put. */
export type PlannedObject = Pick<NewObject, 'name' | 'sha256'> & { readonly bytes: number };

export interface S3Objects extends OpenStore {
  /** Asks nobody. Throws StoreFault where credentials cannot be read. */
  presign(object: PlannedObject, lifeMs: number): Promise<PresignedPut>;
  /** What somebody else has put, by the store's own digest where it keeps one. Throws StoreFault. */
  look(object: PlannedObject, signal?: AbortSignal): Promise<Found>;
}

/** `other`: other bytes than those planned. */
export type Found = 'same' | 'other' | 'absent';

interface Bucket {
  readonly address: S3Address;
  readonly clock: Clock;
  readonly requests: S3Requests;
}

/** Throws StoreFault `refused`. */
export function createS3Objects(address: S3Address, options: OpenStoreOptions): S3Objects {
  const bucket: Bucket = { address, clock: options.clock, requests: s3Requests(address, options) };
  const { client, roots } = bucket.requests;
  return {
    address: storeAddressText(address),
    ...(roots === undefined ? {} : { roots }),
    create: (object, signal) => createObject(bucket, object, signal),
    read: (name, bytesMax) => readObject(bucket, name, bytesMax),
    list: (folder) => listObjects(bucket, folder),
    presign: (object, lifeMs) => presign(bucket, object, lifeMs),
    // A day is enough to see whether what is locked can be deleted.
    probe: (signal) => {
      const lock = lockOf(address.retention === undefined ? undefined : { ...address.retention, days: 1 }, bucket.clock);
      return probeS3({ bucket: address.bucket, prefix: address.prefix, requests: bucket.requests, lock }, signal);
    },
    look: (object, signal) => found(bucket.requests, { Bucket: address.bucket, Key: keyOf(address, object.name) }, object, signal),
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
}

async function createObject(
  { address, clock, requests }: Bucket,
  { name, bytes, sha256 }: NewObject,
  signal?: AbortSignal,
): Promise<Creation> {
  const at = { Bucket: address.bucket, Key: keyOf(address, name) };
  const planned = { name, sha256, bytes: bytes.length };
  const answer = await requests.ask(
    { signal, ms: limits.auditUploadMs },
    (abortSignal) => requests.client.send(new PutObjectCommand({ ...putInput(address, clock, planned), Body: bytes }), { abortSignal }),
    [412],
  );
  // A server that does not say what it has found may not have looked.
  if (answer !== 412 && answer.ChecksumSHA256 === base64(sha256)) return 'created';
  const same = await holds(requests, at, planned, signal);
  if (answer === 412 && !same)
    throw new StoreFault('occupied', 'The store has other bytes under the name of an object; keep both and find out who wrote them.');
  if (!same) throw new StoreFault('unsafe', 'The store took an object and holds other bytes than it was given; use another store.');
  return answer === 412 ? 'present' : 'created';
}

/** Everything that makes a put conditional, checked and kept. */
function putInput(address: S3Address, clock: Clock, { name, sha256, bytes }: PlannedObject): PutObjectCommandInput {
  return {
    Bucket: address.bucket,
    Key: keyOf(address, name),
    IfNoneMatch: '*',
    ContentLength: bytes,
    ChecksumSHA256: base64(sha256),
    ...lockOf(address.retention, clock),
  };
}

function lockOf(retention: Retention | undefined, clock: Clock): ObjectLock {
  if (retention === undefined) return {};
  const fromMs = Math.ceil(clock.wallMs() / 1000) * 1000;
  return { ObjectLockMode: retention.mode, ObjectLockRetainUntilDate: new Date(fromMs + retention.days * 86_400_000) };
}

type At = { readonly Bucket: string; readonly Key: string };

async function holds(requests: S3Requests, at: At, object: PlannedObject, signal?: AbortSignal): Promise<boolean> {
  const what = await found(requests, at, object, signal);
  // There a moment ago: deleted, or a listing that lags.
  if (what === 'absent') throw new StoreFault('unavailable', 'The store said that it has an object, and does not find it.');
  return what === 'same';
}

/** By the store's own digest where it kept one of the whole object, else by reading it. */
async function found(requests: S3Requests, at: At, { sha256, bytes }: PlannedObject, signal?: AbortSignal): Promise<Found> {
  const head = await requests.ask(
    { signal },
    (abortSignal) => requests.client.send(new HeadObjectCommand({ ...at, ChecksumMode: 'ENABLED' }), { abortSignal }),
    [404],
  );
  if (head === 404) return 'absent';
  if (head.ContentLength !== bytes) return 'other';
  if (head.ChecksumSHA256 !== undefined && head.ChecksumType !== 'COMPOSITE' && !head.ChecksumSHA256.includes('-'))
    return head.ChecksumSHA256 === base64(sha256) ? 'same' : 'other';
  const content = await getObject(requests, at, bytes, signal);
  if (content === undefined) return 'absent';
  return createHash('sha256').update(content).digest().equals(sha256) ? 'same' : 'other';
}

async function readObject({ address, requests }: Bucket, name: string, bytesMax: number): Promise<Buffer | undefined> {
  return getObject(requests, { Bucket: address.bucket, Key: keyOf(address, name) }, bytesMax);
}

async function getObject(requests: S3Requests, at: At, bytesMax: number, signal?: AbortSignal): Promise<Buffer | undefined> {
  const content = await requests.ask(
    { signal, ms: limits.auditUploadMs },
    (abortSignal) => contentOf(requests.client, at, bytesMax, abortSignal),
    [404],
  );
  return content === 404 ? undefined : content;
}

async function contentOf(client: S3Client, at: At, bytesMax: number, abortSignal: AbortSignal): Promise<Buffer> {
  const { Body: body, ContentLength: length = 0 } = await client.send(new GetObjectCommand(at), { abortSignal });
  if (!(body instanceof Readable)) return Buffer.alloc(0);
  const tooLarge = () => new StoreFault('too-large', `An object of the store is longer than the ${bytesMax} bytes that are taken.`);
  const chunks: Buffer[] = [];
  let taken = 0;
  if (length > bytesMax) {
    body.destroy();
    throw tooLarge();
  }
  // Leaving the loop closes the connection.
  for await (const chunk of body) {
    taken += chunk.length;
    if (taken > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  if (taken !== length) throw new StoreFault('unavailable', 'The store sent another number of bytes than it announced.');
  return Buffer.concat(chunks);
}

async function* listObjects(
  { address, requests }: Bucket,
  folder: string,
): AsyncGenerator<{ readonly name: string; readonly bytes: number }> {
  if (folder !== '' && !(folder.endsWith('/') && isObjectName(folder.slice(0, -1))))
    throw new StoreFault('refused', 'That is no folder of a store: parts between / and one at its end.');
  const input = { Bucket: address.bucket, Prefix: `${address.prefix}${folder}`, EncodingType: 'url' } as const;
  let token: string | undefined;
  do {
    const ContinuationToken = token;
    const page = await requests.ask({}, (abortSignal) =>
      requests.client.send(new ListObjectsV2Command({ ...input, ContinuationToken }), { abortSignal }),
    );
    for (const { Key: key, Size: bytes = 0 } of page.Contents ?? []) {
      const name = nameOf(address, key, page.EncodingType === 'url');
      if (name?.startsWith(folder) === true) yield { name, bytes };
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    if (token !== undefined && token === ContinuationToken)
      throw new StoreFault('refused', 'The store lists the same page again and again.');
  } while (token !== undefined);
}

/** Undefined for what is no object of ours: a marker of a folder, a name that leads elsewhere. */
function nameOf(address: S3Address, key: string | undefined, escaped: boolean): string | undefined {
  try {
    const text = escaped ? decodeURIComponent((key ?? '').replaceAll('+', ' ')) : (key ?? '');
    const name = text.slice(address.prefix.length);
    return text.startsWith(address.prefix) && isObjectName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

async function presign({ address, clock, requests }: Bucket, object: PlannedObject, lifeMs: number): Promise<PresignedPut> {
  const input = putInput(address, clock, object);
  const headers: Record<string, string> = {
    'if-none-match': '*',
    'content-length': String(object.bytes),
    'x-amz-checksum-sha256': base64(object.sha256),
    ...(input.ObjectLockMode === undefined || input.ObjectLockRetainUntilDate === undefined
      ? {}
      : {
          'x-amz-object-lock-mode': input.ObjectLockMode,
          'x-amz-object-lock-retain-until-date': input.ObjectLockRetainUntilDate.toISOString().replace('.000Z', 'Z'),
        }),
  };
  const names = new Set(Object.keys(headers));
  const expiresIn = Math.floor(lifeMs / 1000);
  const expiresMs = clock.wallMs() + expiresIn * 1000;
  // Hoisted into the link they would be conditions nobody has to send.
  const url = await getSignedUrl(requests.client, new PutObjectCommand(input), {
    expiresIn,
    unhoistableHeaders: names,
    signableHeaders: new Set([...names, 'host']),
  });
  return { url, headers, expiresMs };
}

function keyOf(address: S3Address, name: string): string {
  if (!isObjectName(name)) throw new StoreFault('refused', 'That is no name of an object: parts between /, none of them . or .. .');
  return `${address.prefix}${name}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
