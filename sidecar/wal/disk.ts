/**
 * What the log asks of a disk, and nothing else: every call here is a place where a machine can die, so that a test can let it.
 *
 * Errors are those of the system. Nothing is tried twice.
 */
import { close, constants, fsync, ftruncate, open, write } from 'node:fs';
import { readdir, readFile, rename, stat, truncate, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Disk {
  /** Names of what is in the folder. */
  list(folder: string): Promise<readonly string[]>;
  /** Of a file; an error for anything else: a pipe or a device under the name of one would keep its reader for ever. */
  sizeOf(path: string): Promise<number>;
  read(path: string): Promise<Buffer>;
  /** A new file; an error when there is one. Durable with `sync`, its name with `syncFolder`. */
  create(path: string): Promise<DiskFile>;
  /** A file that is there, in which every write is durable when it resolves. */
  openDurable(path: string): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  truncate(path: string, bytes: number): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes names durable that were created, renamed or removed before. */
  syncFolder(folder: string): Promise<void>;
}

export interface DiskFile {
  /** Bytes that were written: fewer than given means that the disk took no more, with or without an error to follow (AUD-08). */
  write(bytes: Uint8Array, position: number): Promise<number>;
  sync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

const calls = {
  open: promisify(open),
  close: promisify(close),
  fsync: promisify(fsync),
  ftruncate: promisify(ftruncate),
};

export const nodeDisk: Disk = {
  list: (folder) => readdir(folder),
  sizeOf: async (path) => {
    const found = await stat(path);
    if (!found.isFile()) throw new TypeError('no file');
    return found.size;
  },
  read: (path) => readFile(path),
  create: async (path) => fileOf(await calls.open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)),
  // One hop to the thread pool instead of two: the kernel writes data, and the size where it changes, before the call returns.
  openDurable: async (path) => fileOf(await calls.open(path, constants.O_WRONLY | constants.O_DSYNC)),
  rename,
  truncate,
  unlink,
  syncFolder: async (folder) => {
    const descriptor = await calls.open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await calls.fsync(descriptor);
    } finally {
      await calls.close(descriptor);
    }
  },
};

function fileOf(descriptor: number): DiskFile {
  return {
    write: (bytes, position) =>
      new Promise((resolve, reject) => {
        write(descriptor, bytes, 0, bytes.length, position, (error, written) => (error === null ? resolve(written) : reject(error)));
      }),
    sync: () => calls.fsync(descriptor),
    truncate: (bytes) => calls.ftruncate(descriptor, bytes),
    close: () => calls.close(descriptor),
  };
}
