/**
 * Chains where a person says they are: a file, a folder with all below it, a bucket, the log of a sidecar that runs. A source is one chain;
 * nothing is judged here, and nothing is changed.
 */
import type { ObjectStore } from '#core/audit/object-store.ts';
import { compareSegments, firstSequenceOf, SEQUENCE_ENDS_AT } from '#core/audit/verify.ts';

/** One segment, or what bears its name. */
export interface SegmentSource {
  /** Without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** In order; a piece is valid until the next one is asked for. Throws UsageError, StoreFault. */
  pieces(): AsyncIterable<Buffer>;
  /** The first bytes, up to so many. */
  start(bytes: number): Promise<Buffer>;
}

export interface ChainSource {
  /** Folder, bucket and prefix, or the file; for a person. */
  readonly place: string;
  readonly segments: readonly SegmentSource[];
  /** Folder of the sidecar's own log instead of segments. */
  readonly log?: string;
  /** Small files beside the segments. */
  readonly beside: readonly BesideSource[];
}

/** A manifest, or the frame of an intent that was kept before its effect. */
export interface BesideSource {
  readonly kind: 'manifest' | 'intent';
  /** Of an intent, as its name says; it proves nothing. */
  readonly sequence: number;
  /** Undefined for a longer one. */
  read(bytesMax: number): Promise<Buffer | undefined>;
}

const SEGMENT = /\.seg$/;
const MANIFEST = /(?:^|\/)manifest-(\d{16})\.json$/;
const INTENT = /(?:^|\/)intents\/(\d{16})\.frame$/;

/** What a file is by its path, with the folder of its chain. */
export function placeOf(
  path: string,
): { readonly folder: string; readonly kind: 'segment' | 'manifest' | 'intent'; readonly sequence: number } | undefined {
  if (SEGMENT.test(path)) return { folder: folderOf(path), kind: 'segment', sequence: 0 };
  const manifest = MANIFEST.exec(path);
  if (manifest !== null) return { folder: folderOf(path), kind: 'manifest', sequence: Number(manifest[1]) };
  const intent = INTENT.exec(path);
  return intent === null ? undefined : { folder: folderOf(folderOf(path)), kind: 'intent', sequence: Number(intent[1]) };
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** In the order in which they are checked. */
export async function inOrder(segments: readonly SegmentSource[]): Promise<readonly SegmentSource[]> {
  const placed: { readonly name: string; readonly firstSequence: bigint | undefined; readonly segment: SegmentSource }[] = [];
  for (const segment of segments)
    placed.push({ name: segment.name, firstSequence: firstSequenceOf(await segment.start(SEQUENCE_ENDS_AT)), segment });
  return placed.sort(compareSegments).map(({ segment }) => segment);
}

/** Chains below a prefix of a store, in the order of their folders. */
export async function storedChains(store: Pick<ObjectStore, 'list' | 'read'>, address: string): Promise<readonly ChainSource[]> {
  const folders = new Map<string, { segments: SegmentSource[]; beside: BesideSource[] }>();
  for await (const { name, bytes } of store.list('')) {
    const place = placeOf(name);
    if (place === undefined) continue;
    const found = folders.get(place.folder) ?? { segments: [], beside: [] };
    folders.set(place.folder, found);
    const { kind, sequence } = place;
    if (kind === 'segment') found.segments.push(storedSegment(store, name, bytes));
    else
      found.beside.push({
        kind,
        sequence,
        read: (bytesMax) => (bytes > bytesMax ? Promise.resolve(undefined) : store.read(name, bytesMax)),
      });
  }
  return [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, found]) => ({ place: `${address} ${folder}`, ...found }));
}

function storedSegment(store: Pick<ObjectStore, 'read'>, name: string, bytes: number): SegmentSource {
  let kept: Buffer | undefined;
  const whole = async () => (await store.read(name, Math.max(1, bytes))) ?? Buffer.alloc(0);
  return {
    name: name.slice(name.lastIndexOf('/') + 1),
    bytes,
    async *pieces() {
      yield await whole();
    },
    // A store gives whole objects; of each only this much is kept between ordering and checking.
    start: async (count) => {
      kept ??= Buffer.from((await whole()).subarray(0, count));
      return kept.subarray(0, count);
    },
  };
}
