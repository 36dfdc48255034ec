/** Where the shipper puts what it ships: a store of this sidecar's own, or the operator's, by permits for one object at a time. */
import type { Creation } from '#core/audit/object-store.ts';

export interface ShippedObject {
  readonly kind: 'segment' | 'manifest';
  /** Of the segment; 0 for a manifest. */
  readonly number: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly bytes: Uint8Array;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
  /** When the chain began, milliseconds since 1970: the date in the layout. */
  readonly chainBeganMs: number;
}

export interface SegmentSink {
  /** Resolves once the store has exactly these bytes. Throws StoreFault. */
  put(object: ShippedObject, signal: AbortSignal): Promise<Creation>;
}
