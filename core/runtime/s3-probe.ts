/**
 * Tries whether a store keeps what was created first, with an object of its own that says nothing: many servers that speak S3 ignore
 * If-None-Match, or heed it on a put and not at the end of a multipart upload (AUD-18). What is found is about these credentials, too (AUD-20).
 */
import { hash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type PutObjectCommandOutput,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { StoreFault } from '#core/audit/object-store.ts';
import type { StoreWarning } from './open-store.ts';
import type { S3Requests } from './s3-client.ts';

interface ProbedBucket {
  readonly bucket: string;
  readonly prefix: string;
  readonly requests: S3Requests;
  /** What objects are kept under, when the bucket has no default of its own. */
  readonly lock: ObjectLock;
}

export type ObjectLock = Pick<PutObjectCommandInput, 'ObjectLockMode' | 'ObjectLockRetainUntilDate'>;

/** One for all times: with Object Lock it cannot be removed, and each start would leave another. */
const NAME = 'probe/created-once';
/** More than replicas that start at once: each may spoil one round of the others. */
const ROUNDS_MAX = 5;
/** What these credentials may not do, or the server does not know, is nothing to fear. */
const NOT_ALLOWED = [400, 401, 403, 404, 405, 409, 412, 501] as const;

/** Throws StoreFault: `unsafe` for a store that replaces; else as every request. */
export async function probeS3({ bucket, prefix, requests, lock }: ProbedBucket, signal?: AbortSignal): Promise<readonly StoreWarning[]> {
  const at = { Bucket: bucket, Key: `${prefix}${NAME}` };
  const conditional = (text: Buffer) =>
    requests.ask(
      { signal },
      (abortSignal) =>
        requests.client.send(
          new PutObjectCommand({ ...at, Body: text, ChecksumSHA256: hash('sha256', text, 'base64'), IfNoneMatch: '*' }),
          { abortSignal },
        ),
      [412],
    );
  const rounds: ('put' | 'multipart upload')[] = [];
  // Another replica that tries the store removes the object once, at its end: between two of our requests nothing of the kind was there.
  while (rounds.length < ROUNDS_MAX) {
    await conditional(Buffer.from('first\n'));
    if ((await conditional(Buffer.from('second\n'))) !== 412) rounds.push('put');
    else if ((await finishMultipart(requests, at, signal)) === 'replaced') rounds.push('multipart upload');
    else return warningsOf(requests, { ...at, ...lock }, signal);
  }
  throw unsafe(`a ${rounds.includes('put') ? 'put' : 'multipart upload'}`);
}

type At = { readonly Bucket: string; readonly Key: string };

/** Everything Postern stores goes in one put; but whoever holds the same credentials could use this to replace it. */
async function finishMultipart(requests: S3Requests, at: At, signal?: AbortSignal): Promise<'replaced' | 'kept'> {
  const { client } = requests;
  const begun = await requests.ask(
    { signal },
    (abortSignal) => client.send(new CreateMultipartUploadCommand(at), { abortSignal }),
    NOT_ALLOWED,
  );
  if (typeof begun === 'number' || begun.UploadId === undefined) return 'kept';
  const upload = { ...at, UploadId: begun.UploadId };
  const part = await requests.ask(
    { signal },
    (abortSignal) => client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: Buffer.from('third\n') }), { abortSignal }),
    NOT_ALLOWED,
  );
  if (typeof part !== 'number') {
    const parts = { Parts: [{ PartNumber: 1, ETag: part.ETag }] };
    const done = await requests.ask(
      { signal },
      (abortSignal) =>
        client.send(new CompleteMultipartUploadCommand({ ...upload, IfNoneMatch: '*', MultipartUpload: parts }), { abortSignal }),
      NOT_ALLOWED,
    );
    if (typeof done !== 'number') return 'replaced';
  }
  await requests.ask({ signal }, (abortSignal) => client.send(new AbortMultipartUploadCommand(upload), { abortSignal }), NOT_ALLOWED);
  return 'kept';
}

async function warningsOf(
  requests: S3Requests,
  { Bucket, Key, ...lock }: At & ObjectLock,
  signal?: AbortSignal,
): Promise<readonly StoreWarning[]> {
  const at = { Bucket, Key };
  const warnings: StoreWarning[] = [];
  const Body = Buffer.from('fourth\n');
  // Object Lock asks for a digest.
  const ChecksumSHA256 = hash('sha256', Body, 'base64');
  const replaced: PutObjectCommandOutput | number = await requests.ask(
    { signal },
    (abortSignal) => requests.client.send(new PutObjectCommand({ ...at, ...lock, Body, ChecksumSHA256 }), { abortSignal }),
    NOT_ALLOWED,
  );
  const version = typeof replaced === 'number' ? undefined : replaced.VersionId;
  if (typeof replaced !== 'number' && version === undefined) warnings.push('overwritable');
  const remove = (versionId: string | undefined) =>
    requests.ask(
      { signal },
      (abortSignal) =>
        requests.client.send(new DeleteObjectCommand({ ...at, ...(versionId === undefined ? {} : { VersionId: versionId }) }), {
          abortSignal,
        }),
      NOT_ALLOWED,
    );
  if (version !== undefined && typeof (await remove(version)) !== 'number') return [...warnings, 'deletable'];
  const hidden = await remove(undefined);
  if (typeof hidden === 'number') return warnings;
  const marker = hidden.DeleteMarker === true ? hidden.VersionId : undefined;
  if (marker === undefined) return [...warnings, 'deletable'];
  await remove(marker);
  return [...warnings, 'hideable'];
}

function unsafe(how: string): StoreFault {
  return new StoreFault(
    'unsafe',
    `The store replaces an object although ${how} said that it must not (If-None-Match); nothing that is created once is safe there. Use a store that heeds it.`,
  );
}
