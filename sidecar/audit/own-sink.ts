/** Where a sidecar without an operator ships to: a store of its own, in the layout of FORMAT.md ("In a store"). */
import { chainFolder, manifestObject, STANDALONE, segmentObject } from '#core/audit/object-name.ts';
import { type ObjectStore, StoreFault } from '#core/audit/object-store.ts';
import { limits } from '#core/bounds/limits.ts';
import type { SegmentSink, ShippedObject } from './segment-sink.ts';

const DAY_MS = 86_400_000;

/**
 * The folder of a chain has the date it began. When that is known only as "at the latest then", the folder is looked for on the days before:
 * a chain in two folders would be one that is doubled and full of holes.
 */
export function createOwnSink(store: ObjectStore, origin: string): SegmentSink {
  const session = origin.slice(origin.lastIndexOf('/') + 1);
  const folderAt = (beganMs: number) => chainFolder({ ...STANDALONE, session, beganMs });
  let folder: string | undefined;
  const find = async ({ kind, number, chainBeganMs }: ShippedObject, signal: AbortSignal): Promise<string> => {
    if (kind === 'segment' && number === 1) return folderAt(chainBeganMs);
    for (let days = 0; days <= limits.auditLayoutDaysBackMax; days += 1) {
      if (signal.aborted) throw new StoreFault('unavailable', 'The folder of this chain was not found in the store in time.');
      const there = folderAt(chainBeganMs - days * DAY_MS);
      for await (const _ of store.list(there)) return there;
    }
    return folderAt(chainBeganMs);
  };
  return {
    put: async (object, signal) => {
      folder ??= await find(object, signal);
      const name = object.kind === 'segment' ? segmentObject(object.number) : manifestObject(object.lastSequence);
      return store.create({ name: `${folder}${name}`, bytes: object.bytes, sha256: object.sha256 }, signal);
    },
  };
}
