/** The store an address names. What speaks S3 is loaded only where one is used. */
import type { ObjectStore } from '#core/audit/object-store.ts';
import { type StoreAddress, storeAddressText } from '#core/audit/store-address.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { createFileObjects } from './file-objects.ts';
import type { S3Objects } from './s3-objects.ts';

/** What does not stop the use of a store, and somebody should change. */
export type StoreWarning =
  /** These credentials may delete what was stored (failure case AUD-20). */
  | 'deletable'
  /** Deleting leaves the version, but hides it from who asks for the newest. */
  | 'hideable'
  /** These credentials may replace an object by a request without a condition, and no version of the first stays. */
  | 'overwritable';

/** One sentence each, with the cure. */
export const STORE_WARNINGS: Readonly<Record<StoreWarning, string>> = {
  deletable:
    'The credentials of the audit store may delete its objects: take the right to delete from them, or give the bucket Object Lock.',
  hideable: 'The credentials of the audit store may hide its objects behind delete markers: take the right to delete from them.',
  overwritable: 'The credentials of the audit store may replace its objects: turn on versioning with Object Lock in the bucket.',
};

export interface OpenStore extends ObjectStore, AsyncDisposable {
  /** For log and status; holds no secret. */
  readonly address: string;
  /** Tries whether the store keeps what was created first. Throws StoreFault: `unsafe` when not (AUD-18), else as every request. */
  probe(signal?: AbortSignal): Promise<readonly StoreWarning[]>;
  /** The only CAs that vouch for it, as PEM. Absent: those of the system. */
  readonly roots?: string;
  /** Only where objects can be put by whoever holds a link. */
  readonly presign?: S3Objects['presign'];
  readonly look?: S3Objects['look'];
}

export interface OpenStoreOptions {
  readonly clock: Clock;
  /** Of the process: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_SHARED_CREDENTIALS_FILE, AWS_PROFILE, AWS_REGION, AWS_CA_BUNDLE. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From 0 to below 1, for the jitter of waits. Default Math.random. */
  readonly random?: () => number;
}

/** Touches nothing yet. Throws StoreFault `refused` where region or credentials are missing. */
export async function openStore(address: StoreAddress, options: OpenStoreOptions): Promise<OpenStore> {
  if (address.kind === 'file') return { ...createFileObjects(address.folder), address: storeAddressText(address) };
  const { createS3Objects } = await import('./s3-objects.ts');
  return createS3Objects(address, options);
}
