/** One segment from this disk to the store: read, compared with what was closed, put. What became of it, as a value. */
import { hash } from 'node:crypto';
import { StoreFault } from '#core/audit/object-store.ts';
import type { Clock } from '#core/bounds/clock.ts';
import type { ClosedSegment, ClosedSegments } from './closed-segments.ts';
import type { SegmentSink, ShippedObject } from './segment-sink.ts';

/**
 * `stored`: the store has exactly these bytes. `occupied`, `damaged`: never, as it is. `refused`, `unreadable`: perhaps for its own sake,
 * perhaps as every one. `unavailable`, `unsafe`: not now.
 */
export type Shipment = 'stored' | 'occupied' | 'damaged' | 'refused' | 'unreadable' | 'unavailable' | 'unsafe';

export interface ShipmentEnd {
  readonly shipment: Shipment;
  readonly cause?: unknown;
}

/** The bytes, if they are still those that were closed. */
export async function readClosed(segments: ClosedSegments, segment: ClosedSegment): Promise<Buffer | ShipmentEnd> {
  let bytes: Buffer;
  try {
    bytes = await segments.read(segment);
  } catch (cause) {
    return { shipment: 'unreadable', cause };
  }
  const same = bytes.length === segment.bytes && hash('sha256', bytes, 'buffer').equals(segment.sha256);
  return same ? bytes : { shipment: 'damaged' };
}

/** At the latest after `ms`, or when `stop` is aborted, whether the sink heeds that or not. */
export async function putWithin(
  sink: SegmentSink,
  object: ShippedObject,
  within: { clock: Clock; ms: number; stop: AbortSignal },
): Promise<ShipmentEnd> {
  const late = new AbortController();
  const cancel = within.clock.alarm(within.ms, () => late.abort());
  const signal = AbortSignal.any([within.stop, late.signal]);
  const { promise: givenUp, resolve } = Promise.withResolvers<ShipmentEnd>();
  const onAbort = () => resolve({ shipment: 'unavailable', cause: signal.reason });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([givenUp, put(sink, object, signal)]);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

async function put(sink: SegmentSink, object: ShippedObject, signal: AbortSignal): Promise<ShipmentEnd> {
  try {
    await sink.put(object, signal);
    return { shipment: 'stored' };
  } catch (cause) {
    return { shipment: cause instanceof StoreFault ? shipmentOf(cause) : 'unavailable', cause };
  }
}

function shipmentOf({ kind }: StoreFault): Shipment {
  return kind === 'too-large' ? 'refused' : kind;
}
