/** Objects in a bucket of an S3 store. */
import type { NewObject } from '#core/audit/object-store.ts';
import { StoreFault } from '#core/audit/object-store.ts';
import type { S3Address } from '#core/audit/store-address.ts';
import type { OpenStore, OpenStoreOptions } from './open-store.ts';

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
  /** Asks nobody. Throws StoreFault `refused` where credentials cannot be read. */
  presign(object: PlannedObject, lifeMs: number): Promise<PresignedPut>;
}

export async function createS3Objects(_address: S3Address, _options: OpenStoreOptions): Promise<S3Objects> {
  throw new StoreFault('refused', 'S3 is not served.');
}
