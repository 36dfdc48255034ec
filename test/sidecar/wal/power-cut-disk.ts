/**
 * A disk in memory that forgets, as disks do: what was written and not synced survives a power cut in any selection of sectors, names in
 * any prefix of their changes. After an error the kernel may keep showing pages that will never be on disk (AUD-10).
 *
 * `plan` says what happens to each call in turn; when it is used up, the power is gone and every call fails.
 */
import { basename, dirname } from 'node:path';
import type { Disk, DiskFile } from '#sidecar/wal/disk.ts';

export type Event = 'works' | 'EIO' | 'ENOSPC' | 'short' | 'EIO after doing it';

const SECTOR = 512;

interface Inode {
  /** What a reader sees while the power is on. */
  seen: Buffer;
  durable: Buffer;
  dirty: Set<number>;
}

type NameChange = (names: Map<string, Inode>) => void;

export class PowerCutDisk implements Disk {
  #plan: Iterator<Event> = [][Symbol.iterator]();
  #chance: () => number = Math.random;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #nameChanges: NameChange[] = [];
  #off = true;

  /** The next process, on what the last one left: what was only in the kernel's memory still is, unless `powerCut` came between. */
  live(plan: Iterable<Event>, chance: () => number): void {
    this.#plan = plan[Symbol.iterator]();
    this.#chance = chance;
    this.#off = false;
  }

  /** What is there afterwards is one of the many possible selections. */
  powerCut(): void {
    const kept = Math.floor(this.#chance() * (this.#nameChanges.length + 1));
    for (const change of this.#nameChanges.splice(0).slice(0, kept)) change(this.#durableNames);
    for (const inode of this.#durableNames.values()) {
      inode.durable = this.#survives(inode);
      inode.seen = Buffer.from(inode.durable);
      inode.dirty.clear();
    }
    this.#names = new Map(this.#durableNames);
  }

  list = (_folder: string) => this.#call(() => [...this.#names.keys()]);
  sizeOf = (path: string) => this.#call(() => this.#inode(path).seen.length);
  read = (path: string) => this.#call(() => Buffer.from(this.#inode(path).seen));
  create = (path: string) =>
    this.#call(() => {
      if (this.#names.has(basename(path))) throw failure('EEXIST');
      const inode: Inode = { seen: Buffer.alloc(0), durable: Buffer.alloc(0), dirty: new Set() };
      this.#rename((names) => void names.set(basename(path), inode));
      return this.#file(inode, false);
    });
  openDurable = (path: string) => this.#call(() => this.#file(this.#inode(path), true));
  rename = (from: string, to: string) =>
    this.#call(() => {
      const inode = this.#inode(from);
      this.#rename((names) => {
        names.delete(basename(from));
        names.set(basename(to), inode);
      });
    });
  truncate = (path: string, bytes: number) => this.#call(() => cut(this.#inode(path), bytes));
  unlink = (path: string) => this.#call(() => this.#rename((names) => void names.delete(basename(path))));
  syncFolder = (folder: string) =>
    this.#call(() => {
      if (dirname(folder) === folder) return;
      for (const change of this.#nameChanges.splice(0)) change(this.#durableNames);
    });

  #file(inode: Inode, durable: boolean): DiskFile {
    return {
      write: (bytes, position) =>
        this.#call((event) => {
          const whole = event === 'short' ? false : event !== undefined || this.#chance() < 0.5;
          const taken = whole ? bytes.length : Math.floor(this.#chance() * bytes.length);
          write(inode, bytes.subarray(0, taken), position);
          if (durable && event === 'works') sync(inode);
          return taken;
        }, inode),
      sync: () => this.#call((event) => (event === undefined ? undefined : sync(inode)), inode),
      truncate: (bytes) => this.#call(() => cut(inode, bytes)),
      close: () => this.#call(() => undefined),
    };
  }

  /** `work` hears `undefined` when the power goes while it is done. */
  async #call<T>(work: (event: Event | undefined) => T, inode?: Inode): Promise<T> {
    await Promise.resolve();
    if (this.#off) throw failure('EIO');
    const event = this.#plan.next().value as Event | undefined;
    if (event === undefined) {
      work(undefined);
      this.#off = true;
    }
    if (event === undefined || event === 'EIO' || event === 'ENOSPC') {
      inode?.dirty.clear();
      throw failure(event ?? 'EIO');
    }
    const done = work(event);
    if (event !== 'EIO after doing it') return done;
    inode?.dirty.clear();
    throw failure('EIO');
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(basename(path));
    if (inode === undefined) throw failure('ENOENT');
    return inode;
  }

  #rename(change: NameChange): void {
    change(this.#names);
    this.#nameChanges.push(change);
  }

  #survives({ seen, durable, dirty }: Inode): Buffer {
    const bytes = Buffer.alloc(Math.max(durable.length, ...[...dirty].map((sector) => Math.min(seen.length, (sector + 1) * SECTOR))));
    durable.copy(bytes);
    for (const sector of dirty) if (this.#chance() < 0.5) seen.copy(bytes, sector * SECTOR, sector * SECTOR, (sector + 1) * SECTOR);
    return bytes;
  }
}

function write(inode: Inode, bytes: Uint8Array, position: number): void {
  const grown = Buffer.alloc(Math.max(inode.seen.length, position + bytes.length));
  inode.seen.copy(grown);
  grown.set(bytes, position);
  inode.seen = grown;
  for (let sector = Math.floor(position / SECTOR); sector * SECTOR < position + bytes.length; sector += 1) inode.dirty.add(sector);
}

function sync(inode: Inode): void {
  const durable = Buffer.alloc(Math.max(inode.durable.length, inode.seen.length));
  inode.durable.copy(durable);
  for (const sector of inode.dirty) inode.seen.copy(durable, sector * SECTOR, sector * SECTOR, (sector + 1) * SECTOR);
  inode.durable = durable;
  inode.dirty.clear();
}

/** A cut only drops what does not count, so it may as well be durable at once. */
function cut(inode: Inode, bytes: number): void {
  inode.seen = Buffer.from(inode.seen.subarray(0, bytes));
  inode.durable = Buffer.from(inode.durable.subarray(0, bytes));
  for (const sector of inode.dirty) if (sector * SECTOR >= bytes) inode.dirty.delete(sector);
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
