/** Puts objects into a cache as records. One that cannot be read is as good as gone, is counted, and stops nothing (failure case OPR-11). */
import { type Cache, type Identified, type Key, keyOf } from './cache.ts';
import type { KubeObject } from './records.ts';
import { isOlder } from './watch-frame.ts';

export interface RecordKeeperOptions<T extends Identified, O> {
  readonly cache: Cache<T>;
  /** Null for an object nobody needs. */
  readonly record: (object: O) => T | null;
  readonly onUnreadable: () => void;
}

export class RecordKeeper<T extends Identified, O> {
  readonly #options: RecordKeeperOptions<T, O>;

  constructor(options: RecordKeeperOptions<T, O>) {
    this.#options = options;
  }

  /** An object as a list says it is, whatever was known; its key, or undefined when there is no record of it. */
  listed(object: KubeObject): Key | undefined {
    const now = this.#recordOf(object);
    if (now === null) return undefined;
    this.#options.cache.put(now);
    return keyOf(now);
  }

  /** What a list did not hold is gone. */
  keepOnly(keys: ReadonlySet<Key>): void {
    const { cache } = this.#options;
    for (const key of [...cache.keys()]) if (!keys.has(key)) cache.remove(key);
  }

  /** An object as a watch says it became. A state older than the one known is a replay (failure case OPR-23). */
  happened(object: KubeObject): void {
    const { cache } = this.#options;
    const key = keyIn(object);
    const was = cache.get(key);
    if (was?.uid === object.metadata.uid && isOlder(object.metadata.resourceVersion, was.resourceVersion)) return;
    const now = this.#recordOf(object);
    if (now === null) cache.remove(key);
    else cache.put(now);
  }

  /** A replayed deletion does not take away what was created under the same name since. */
  deleted(object: KubeObject): void {
    const { cache } = this.#options;
    const key = keyIn(object);
    if (cache.get(key)?.uid === object.metadata.uid) cache.remove(key);
  }

  /** Something came that is no object. */
  unreadable(): void {
    this.#options.onUnreadable();
  }

  #recordOf(object: KubeObject): T | null {
    try {
      return this.#options.record(object as O);
    } catch {
      this.#options.onUnreadable();
      return null;
    }
  }
}

function keyIn({ metadata }: KubeObject): Key {
  return keyOf({ namespace: metadata.namespace ?? '', name: metadata.name });
}
