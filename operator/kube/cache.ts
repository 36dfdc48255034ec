/**
 * What one replica knows of one kind: records by `namespace/name`, by UID-aware change, with indexes. Written by the informer of the
 * kind only; read by everyone. Records are values: a change replaces a record, never edits it.
 */
export interface Identified {
  /** Empty for kinds without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** `namespace/name`, or the name alone. */
export type Key = string;

export function keyOf({ namespace, name }: Pick<Identified, 'namespace' | 'name'>): Key {
  return namespace === '' ? name : `${namespace}/${name}`;
}

export type Change<T> =
  | { readonly kind: 'added'; readonly key: Key; readonly now: T }
  /** Same UID. An object recreated under its name is `deleted`, then `added` (failure case OPR-10). */
  | { readonly kind: 'updated'; readonly key: Key; readonly was: T; readonly now: T }
  | { readonly kind: 'deleted'; readonly key: Key; readonly was: T };

/** Values under which a record is found, by name of the index. */
export type Indexes<T> = Readonly<Record<string, (record: T) => readonly string[]>>;

export class Cache<T extends Identified> {
  readonly #records = new Map<Key, T>();
  readonly #indexes: Indexes<T>;
  readonly #found = new Map<string, Map<string, Set<Key>>>();
  readonly #handlers = new Set<(change: Change<T>) => void>();
  #failures = 0;

  constructor(indexes: Indexes<T> = {}) {
    this.#indexes = indexes;
    for (const name of Object.keys(indexes)) this.#found.set(name, new Map());
  }

  get size(): number {
    return this.#records.size;
  }

  get(key: Key): T | undefined {
    return this.#records.get(key);
  }

  keys(): IterableIterator<Key> {
    return this.#records.keys();
  }

  values(): IterableIterator<T> {
    return this.#records.values();
  }

  /** Records with this value in the index; throws TypeError for an index that does not exist. */
  by(index: string, value: string): readonly T[] {
    const values = this.#found.get(index);
    if (values === undefined) throw new TypeError(`there is no index ${index}`);
    const records: T[] = [];
    for (const key of values.get(value) ?? []) {
      const record = this.#records.get(key);
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /** `handler` runs at once for each change, in order; it must only note what to do (failure case OPR-21). Returns its removal. */
  onChange(handler: (change: Change<T>) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** Takes an object as it is now. An unchanged resource version is no change (failure case OPR-23). */
  put(now: T): void {
    const key = keyOf(now);
    const was = this.#records.get(key);
    if (was !== undefined && was.uid === now.uid && was.resourceVersion === now.resourceVersion) return;
    if (was !== undefined && was.uid !== now.uid) this.remove(key);
    const same = this.#records.get(key);
    if (same !== undefined) this.#unindex(key, same);
    this.#records.set(key, now);
    this.#index(key, now);
    this.#tell(same === undefined ? { kind: 'added', key, now } : { kind: 'updated', key, was: same, now });
  }

  /** Forgets an object that is gone. */
  remove(key: Key): void {
    const was = this.#records.get(key);
    if (was === undefined) return;
    this.#records.delete(key);
    this.#unindex(key, was);
    this.#tell({ kind: 'deleted', key, was });
  }

  /** Handlers that threw, over all changes; each is a defect, and none keeps the others from hearing (failure case OPR-11). */
  get handlerFailures(): number {
    return this.#failures;
  }

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) {
      try {
        handler(change);
      } catch {
        this.#failures += 1;
      }
    }
  }

  #index(key: Key, record: T): void {
    for (const [name, valuesOf] of Object.entries(this.#indexes)) {
      const values = this.#found.get(name) as Map<string, Set<Key>>;
      for (const value of foundUnder(valuesOf, record)) {
        const keys = values.get(value);
        if (keys === undefined) values.set(value, new Set([key]));
        else keys.add(key);
      }
    }
  }

  #unindex(key: Key, record: T): void {
    for (const [name, valuesOf] of Object.entries(this.#indexes)) {
      const values = this.#found.get(name) as Map<string, Set<Key>>;
      for (const value of foundUnder(valuesOf, record)) {
        const keys = values.get(value);
        keys?.delete(key);
        if (keys?.size === 0) values.delete(value);
      }
    }
  }
}

/** Of a record the index cannot read: none. Half an index would be worse, and one poison object must not stop the others (OPR-11). */
function foundUnder<T>(valuesOf: (record: T) => readonly string[], record: T): readonly string[] {
  try {
    return valuesOf(record);
  } catch {
    return [];
  }
}
