/**
 * The values of mounted Secrets: `DIR/<secret>/<key>`, one file a key, as the kubelet projects them.
 *
 * - Regular files only, never the environment (failure case LEAK-12). Nothing is written.
 * - A file is read when first needed and again when it changed: at most one `stat` in `credentialCheckMs`, on the way of a
 *   call. `stat` follows the kubelet's `..data` link, so a swap of it is a new inode.
 * - One line end at the very end of a file is not part of the value: editors and `echo` add it, and no header could carry it.
 *   Anything else is the value, byte for byte.
 * - A value that is replaced or gone is kept for masking until `secretRetiredMs` later (failure case LEAK-23).
 */

import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { RetiredSecrets } from './retired.ts';
import { Secret } from './secret.ts';

/** `public`: no secret (user name, key id, certificates); may be short and is not masked. */
export type ValueKind = 'secret' | 'public';

/** What a scrape may know of one Secret. */
export interface SecretState {
  readonly secret: string;
  /** A key of it cannot be used at the moment. */
  readonly locked: boolean;
  /** Wall-clock milliseconds at which the newest value in use was first read. */
  readonly loadedMs?: number;
}

interface Entry {
  readonly secret: string;
  readonly path: string;
  readonly kind: ValueKind;
  readonly retired: RetiredSecrets;
  checkedMs: number;
  loadedMs: number | undefined;
  /** Inode, size and times of the file the value came from. */
  stamp: string;
  value: Secret | undefined;
  problem: PosternError | undefined;
}

export class CredentialStore {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #retired = new Map<string, RetiredSecrets>();
  readonly #onRead: (secret: string, outcome: 'loaded' | 'unreadable') => void;

  constructor(options: {
    readonly directory: string;
    readonly clock: Clock;
    onRead?(secret: string, outcome: 'loaded' | 'unreadable'): void;
  }) {
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#onRead = (secret, outcome) => options.onRead?.(secret, outcome);
  }

  /** Every Secret that was asked for so far. */
  states(): readonly SecretState[] {
    const states = new Map<string, SecretState>();
    for (const { secret, problem, loadedMs } of this.#entries.values()) {
      const known = states.get(secret);
      const newest = Math.max(known?.loadedMs ?? 0, loadedMs ?? 0);
      states.set(secret, {
        secret,
        locked: known?.locked === true || problem !== undefined,
        ...(newest === 0 ? {} : { loadedMs: newest }),
      });
    }
    return [...states.values()];
  }

  /**
   * The value of a key; the same object as long as the file is the same.
   * @throws PosternError VAULT_LOCKED when it cannot be read, CREDENTIAL_INVALID when it cannot be a credential.
   */
  read(secret: string, key: string, kind: ValueKind = 'secret'): Secret {
    const entry = this.#entry(secret, key, kind);
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - entry.checkedMs >= limits.credentialCheckMs) {
      entry.checkedMs = nowMs;
      this.#refresh(entry);
    }
    if (entry.problem !== undefined) throw entry.problem;
    if (entry.value === undefined) throw new PosternError('INTERNAL', 'A credential has neither a value nor a problem.');
    return entry.value;
  }

  /** Values of this Secret that are no longer in its files and still masked. */
  retired(secret: string): RetiredSecrets {
    let retired = this.#retired.get(secret);
    if (retired === undefined) {
      retired = new RetiredSecrets(this.#clock);
      this.#retired.set(secret, retired);
    }
    return retired;
  }

  #entry(secret: string, key: string, kind: ValueKind): Entry {
    const name = `${secret}/${key}`;
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    if (![secret, key].every((part) => /^[A-Za-z0-9._-]+$/.test(part) && !/^\.+$/.test(part))) {
      throw new PosternError('INTERNAL', 'A binding names a key that cannot be a file; the binding should not have compiled.');
    }
    const entry: Entry = {
      secret,
      path: join(this.#directory, secret, key),
      kind,
      retired: this.retired(secret),
      checkedMs: Number.NEGATIVE_INFINITY,
      loadedMs: undefined,
      stamp: '',
      value: undefined,
      problem: undefined,
    };
    this.#entries.set(name, entry);
    return entry;
  }

  #refresh(entry: Entry): void {
    let stamp: string;
    let bytes: Buffer;
    try {
      stamp = stampOf(entry.path);
      if (stamp === entry.stamp) return;
      bytes = readBounded(entry.path);
    } catch (error) {
      // Gone or unreadable is not "keep the old one": the owner may have taken it away.
      this.#become(
        entry,
        '',
        new PosternError('VAULT_LOCKED', 'The credential of this action cannot be read at the moment.', { cause: error }),
      );
      return;
    }
    this.#become(entry, stamp, parseValue(bytes, entry.kind));
  }

  #become(entry: Entry, stamp: string, next: string | PosternError): void {
    // Still away: whoever is told of reads was told when it went.
    if (typeof next !== 'string' && stamp === '' && entry.problem?.reason === next.reason) return;
    entry.stamp = stamp;
    this.#onRead(entry.secret, typeof next === 'string' ? 'loaded' : 'unreadable');
    if (typeof next === 'string' && next === entry.value?.reveal()) {
      entry.problem = undefined;
      return;
    }
    if (entry.value !== undefined && entry.kind === 'secret') entry.retired.add(entry.value);
    entry.value = typeof next === 'string' ? new Secret(next) : undefined;
    entry.loadedMs = typeof next === 'string' ? this.#clock.wallMs() : undefined;
    entry.problem = typeof next === 'string' ? undefined : next;
  }
}

function stampOf(path: string): string {
  const { ino, size, mtimeMs, ctimeMs } = statSync(path);
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/**
 * A regular file and no more of it than a value may have. Opening a pipe nobody writes to, or reading a device to its end,
 * would stop the process and every call with it; a file of gigabytes would end it.
 */
function readBounded(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new TypeError('not a regular file');
    const bytes = Buffer.alloc(limits.secretBytesMax + 1);
    let length = 0;
    let read = -1;
    while (read !== 0 && length < bytes.length) {
      read = readSync(file, bytes, length, bytes.length - length, null);
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function parseValue(bytes: Buffer, kind: ValueKind): string | PosternError {
  if (bytes.length > limits.secretBytesMax) return invalid('is too large');
  if (!isUtf8(bytes)) return invalid('is not UTF-8 text');
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (text === '') return invalid('is empty');
  if (kind === 'secret' && Buffer.byteLength(text) < limits.secretBytesMin) {
    return invalid(`is shorter than ${limits.secretBytesMin} bytes and could not be masked`);
  }
  return text;
}

function invalid(why: string): PosternError {
  return new PosternError('CREDENTIAL_INVALID', `The credential of this action ${why}.`);
}
