/** The real disk, with one scripted fault: an error, a short write, or no answer until it is let go. Names every call it saw. */
import { basename } from 'node:path';
import { type Disk, type DiskFile, nodeDisk } from '#sidecar/wal/disk.ts';

export type DiskCall = 'list' | 'sizeOf' | 'read' | 'create' | 'openDurable' | 'rename' | 'truncate' | 'unlink' | 'syncFolder' | FileCall;
type FileCall = 'write' | 'sync' | 'cut' | 'close';

export interface Fault {
  /** True for the call that fails. `nth` counts the calls of that name from 1. */
  readonly when: (call: DiskCall, nth: number, file: string) => boolean;
  /** Errors have this code; a write may take so many bytes and report nothing; or the call waits for this. */
  readonly what: { readonly code: string } | { readonly takes: number } | { readonly until: Promise<void> };
}

export class FaultyDisk implements Disk {
  readonly calls: string[] = [];
  fault: Fault | undefined;
  readonly #counts = new Map<string, number>();

  list = (folder: string) => this.#at('list', folder, () => nodeDisk.list(folder));
  sizeOf = (path: string) => this.#at('sizeOf', path, () => nodeDisk.sizeOf(path));
  read = (path: string) => this.#at('read', path, () => nodeDisk.read(path));
  create = (path: string) => this.#at('create', path, async () => this.#file(await nodeDisk.create(path), path));
  openDurable = (path: string) => this.#at('openDurable', path, async () => this.#file(await nodeDisk.openDurable(path), path));
  rename = (from: string, to: string) => this.#at('rename', to, () => nodeDisk.rename(from, to));
  truncate = (path: string, bytes: number) => this.#at('truncate', path, () => nodeDisk.truncate(path, bytes));
  unlink = (path: string) => this.#at('unlink', path, () => nodeDisk.unlink(path));
  syncFolder = (folder: string) => this.#at('syncFolder', folder, () => nodeDisk.syncFolder(folder));

  #file(file: DiskFile, path: string): DiskFile {
    return {
      write: (bytes, position) =>
        this.#at('write', path, async () => {
          const fault = this.#now?.what;
          return fault !== undefined && 'takes' in fault
            ? file.write(bytes.subarray(0, fault.takes), position)
            : file.write(bytes, position);
        }),
      sync: () => this.#at('sync', path, () => file.sync()),
      truncate: (bytes) => this.#at('cut', path, () => file.truncate(bytes)),
      close: () => this.#at('close', path, () => file.close()),
    };
  }

  #now: Fault | undefined;

  async #at<T>(call: DiskCall, path: string, work: () => Promise<T>): Promise<T> {
    const nth = (this.#counts.get(call) ?? 0) + 1;
    this.#counts.set(call, nth);
    this.calls.push(`${call} ${basename(path)}`);
    const fault = this.fault?.when(call, nth, basename(path)) === true ? this.fault : undefined;
    if (fault !== undefined && 'code' in fault.what) throw Object.assign(new Error(fault.what.code), { code: fault.what.code });
    if (fault !== undefined && 'until' in fault.what) await fault.what.until;
    this.#now = fault;
    return work();
  }
}
