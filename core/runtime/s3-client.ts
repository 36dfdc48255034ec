/**
 * Requests to an S3 store, each bounded in time, in tries and in what is taken of an answer. The SDK signs and speaks the protocol; its own
 * retries, redirects and search for settings are off.
 *
 * A redirect is refused and not followed: it would carry sealed segments, and what proves who sends them, to wherever it points.
 */
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { StoreFault } from '#core/audit/object-store.ts';
import type { S3Address } from '#core/audit/store-address.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OpenStoreOptions } from './open-store.ts';
import { s3Credentials } from './s3-credentials.ts';
import { s3Roots } from './s3-roots.ts';

export interface S3Asking {
  readonly signal?: AbortSignal | undefined;
  /** Of each try, to the end of `work`. Default limits.auditStoreRequestMs. */
  readonly ms?: number;
}

export interface S3Requests {
  readonly client: S3Client;
  /** The only CAs that are trusted, as PEM; undefined: those of the system. */
  readonly roots: string | undefined;
  /**
   * What `work` resolves to. It is tried again while the store is `unavailable`, so it must bear to be repeated, and pass on `abort`. Throws
   * StoreFault; what the store answered with a status of `expected` comes back as that number.
   */
  ask<T, Expected extends number = never>(
    asking: S3Asking,
    work: (abort: AbortSignal) => Promise<T>,
    expected?: readonly Expected[],
  ): Promise<T | Expected>;
}

/** Throws StoreFault `refused`. */
export function s3Requests(address: S3Address, options: OpenStoreOptions): S3Requests {
  const { clock, env, random = Math.random } = options;
  const roots = s3Roots(env);
  const client = createClient(address, options, { region: regionOf(address, env), roots });
  const once = async <T>({ signal, ms = limits.auditStoreRequestMs }: S3Asking, work: (abort: AbortSignal) => Promise<T>) => {
    const late = new AbortController();
    const cancel = clock.alarm(ms, () => late.abort());
    try {
      return await work(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
    } finally {
      cancel();
    }
  };
  return {
    client,
    roots,
    ask: async <T, Expected extends number>(
      asking: S3Asking,
      work: (abort: AbortSignal) => Promise<T>,
      expected: readonly Expected[] = [],
    ) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await once(asking, work);
        } catch (error) {
          const answered = expected.find((status) => status === statusOf(error) && !isNoBucket(error));
          if (answered !== undefined) return answered;
          const fault = s3Fault(error);
          if (fault.kind !== 'unavailable' || tries >= limits.auditStoreTriesMax || asking.signal?.aborted === true) throw fault;
        }
        await clock.sleep(limits.auditStoreRetryMs * 2 ** (tries - 1) * (0.5 + random() / 2), asking.signal).catch(() => {});
      }
    },
  };
}

/** In our own words; what the store said is the cause. */
function s3Fault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const status = statusOf(error);
  const fault = (kind: 'unavailable' | 'refused', message: string) => new StoreFault(kind, message, error);
  if (status === undefined) return fault('unavailable', 'The store does not answer; check its address, and the network between.');
  if (status >= 500 || status === 429 || status === 408 || status === 409)
    return fault('unavailable', `The store cannot serve the request at the moment (${status}).`);
  if (status >= 300 && status < 400)
    return fault('refused', `The store points to another address (${status}), which is not followed; check region and endpoint.`);
  if (status === 401 || status === 403)
    return fault('refused', `The store refuses these credentials (${status}); check their rights, and the clock of this machine.`);
  if (status === 404) return fault('refused', 'The store has no such bucket (404); check bucket, region and endpoint.');
  return fault('refused', `The store does not take the request (${status}).`);
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  const { $metadata: metadata } = error;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** A bucket that is not there is no object that is not there. */
function isNoBucket(error: unknown): boolean {
  return error instanceof Error && error.name === 'NoSuchBucket';
}

function regionOf(address: S3Address, env: OpenStoreOptions['env']): string {
  const region = address.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION);
  if (region !== undefined && region !== '') return region;
  // Servers other than Amazon's take any; this is what they call theirs.
  if (address.endpoint !== undefined) return 'us-east-1';
  throw new StoreFault('refused', 'The audit store needs a region: write ?region= behind the bucket, or set AWS_REGION.');
}

interface Endpoint {
  readonly region: string;
  readonly roots: string | undefined;
}

function createClient(address: S3Address, { clock, env }: OpenStoreOptions, { region, roots }: Endpoint): S3Client {
  const client = new S3Client({
    region,
    credentials: s3Credentials(env, clock),
    ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint, forcePathStyle: true }),
    maxAttempts: 1,
    followRegionRedirects: false,
    disableS3ExpressSessionAuth: true,
    // Whoever asks gives the digest; a default of the SDK would add one of its own choice, which not every server knows.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: limits.auditStoreConnectMs,
      socketTimeout: limits.auditStoreRequestMs,
      ...(roots === undefined ? {} : { httpsAgent: { ca: roots } }),
    },
  });
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const { response } = result;
      if (isAnswer(response) && !(context.commandName === 'GetObjectCommand' && response.statusCode < 300))
        response.body = bounded(response.body);
      return result;
    },
    { step: 'deserialize', name: 'posternBoundedAnswer', priority: 'low' },
  );
  return client;
}

function isAnswer(response: unknown): response is { readonly statusCode: number; body: Readable } {
  return typeof response === 'object' && response !== null && 'statusCode' in response && 'body' in response && response.body !== undefined;
}

/** The SDK would take an answer of any length into memory. */
function bounded(body: Readable): Readable {
  let taken = 0;
  const out = new PassThrough({
    transform: (chunk: Buffer, _encoding, done) => {
      taken += chunk.length;
      if (taken > limits.auditStoreAnswerBytesMax)
        done(new StoreFault('refused', 'The answer of the store is longer than any that is taken.'));
      else done(null, chunk);
    },
  });
  pipeline(body, out, () => {});
  return out;
}
