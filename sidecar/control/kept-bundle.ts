/**
 * What a sidecar keeps on disk of its operator's words, so that a restarted container serves at once: the last bundle, the state of
 * the session, the lease, since when credentials are what they are.
 *
 * File `bundle.v1`: one line of hex HMAC-SHA256, then JSON. The key is derived from the session's own, so bytes of anybody else - and
 * a file of another pod - are not taken; what does not fit is as if it were not there. An older file of ours can be put back by whoever
 * may write the directory; its lease is older too.
 *
 * Written aside, synced, renamed, the directory synced: a crash leaves the old file or the new one. Contracts are no secret, so nothing
 * is encrypted.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '#core/bounds/limits.ts';
import type { KeptLease } from './lease.ts';
import type { Session, SessionPhase } from './session.ts';

export interface KeptState {
  readonly session: Session;
  readonly lease?: KeptLease;
  /** postern.control.v1.Bundle, in its binary form. */
  readonly bundle: Uint8Array;
  /** By `binding/key`. */
  readonly credentials: Readonly<Record<string, { readonly digest: string; readonly sinceMs: number }>>;
}

const FILE = 'bundle.v1';
const MAC_CHARS = 64;

export class KeptBundle {
  readonly #directory: string;
  readonly #key: KeyObject;

  constructor(directory: string, key: KeyObject) {
    this.#directory = directory;
    this.#key = key;
  }

  /** Null when there is none, or none of ours. Throws the system's error when it cannot be read. */
  async read(): Promise<KeptState | null> {
    const path = join(this.#directory, FILE);
    let text: string;
    try {
      const found = await stat(path);
      if (!found.isFile() || found.size > limits.keptBundleBytesMax) return null;
      text = await readFile(path, 'utf8');
    } catch (fault) {
      if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
      throw fault;
    }
    const body = text.slice(MAC_CHARS + 1);
    const mac = Buffer.from(text.slice(0, MAC_CHARS), 'hex');
    const own = this.#mac(body);
    return mac.length === own.length && text[MAC_CHARS] === '\n' && timingSafeEqual(mac, own) ? parsed(body) : null;
  }

  /** Resolves once it is on disk. Throws the system's error. */
  async write(state: KeptState): Promise<void> {
    const body = JSON.stringify({ ...state, bundle: Buffer.from(state.bundle).toString('base64') });
    const path = join(this.#directory, FILE);
    const aside = await open(`${path}.new`, 'w', 0o600);
    try {
      await aside.writeFile(`${this.#mac(body).toString('hex')}\n${body}`);
      await aside.sync();
    } finally {
      await aside.close();
    }
    await rename(`${path}.new`, path);
    const directory = await open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  /** Removes it: a full disk still takes that. Throws the system's error. */
  async forget(): Promise<void> {
    const path = join(this.#directory, FILE);
    await rm(path, { force: true });
    await rm(`${path}.new`, { force: true });
  }

  #mac(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest();
  }
}

/** Ours, as the MAC has shown, and so of the form that `write` gives; but perhaps of another release. */
function parsed(body: string): KeptState | null {
  const value: unknown = JSON.parse(body);
  if (typeof value !== 'object' || value === null || !('bundle' in value) || typeof value.bundle !== 'string') return null;
  if (!('session' in value) || !isSession(value.session) || !('credentials' in value)) return null;
  return { ...(value as unknown as Omit<KeptState, 'bundle'>), bundle: Buffer.from(value.bundle, 'base64') };
}

function isSession(value: unknown): value is Session {
  return typeof value === 'object' && value !== null && 'phase' in value && PHASES.has(value.phase as SessionPhase);
}

const PHASES: ReadonlySet<SessionPhase> = new Set(['Pending', 'Active', 'Suspended', 'Revoked', 'Ended']);
