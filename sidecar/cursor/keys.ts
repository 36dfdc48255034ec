/**
 * The sidecar's own keys and its session name: 32 random bytes, current and previous, in a directory of mode 0700
 * with files of mode 0600 (design section 10). With a state directory a restart keeps cursors and evidence; without
 * one they end with the process.
 */
import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createKeyRing, type KeyRing, SEALING_KEY_BYTES } from '#core/encoding/seal.ts';

export interface SessionKeys {
  /** Random and unguessable; part of what cursors and evidence are bound to. */
  readonly session: string;
  readonly ring: KeyRing;
  /** `sha256:` and 64 hex digits: tells this session from any other, and says nothing about its keys. */
  readonly instance: string;
  /** Authenticates what else is kept in the state directory. */
  readonly stateKey: KeyObject;
}

const FILE = 'session.json';

interface Kept {
  readonly session: string;
  readonly current: string;
  readonly previous?: string;
}

export function ephemeralKeys(): SessionKeys {
  return fromKept(fresh());
}

/** What is in the state directory is not a session of ours. */
export class StateUnusable extends Error {}

/**
 * Reads the state, or makes it, and its directory where the parent is there. Throws StateUnusable, or the system's error when the
 * directory cannot be used: a sidecar told to keep state must not run without.
 */
export function keptKeys(directory: string): SessionKeys {
  // Not `recursive`: below /proc that never returns.
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  const path = join(directory, FILE);
  const kept = readKept(path);
  if (kept !== null) return fromKept(kept);
  const made = fresh();
  writeDurably(path, JSON.stringify(made));
  return fromKept(made);
}

function readKept(path: string): Kept | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  }
  const value = parsed(text);
  if (isKept(value)) return value;
  throw new StateUnusable(`${path} is not a session file of Postern; remove it to start a new session`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser would quote the text, and the text holds keys.
    return undefined;
  }
}

function isKept(value: unknown): value is Kept {
  return (
    typeof value === 'object' &&
    value !== null &&
    'session' in value &&
    typeof value.session === 'string' &&
    'current' in value &&
    isKey(value.current) &&
    (!('previous' in value) || isKey(value.previous))
  );
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && Buffer.from(value, 'base64').length === SEALING_KEY_BYTES;
}

function fresh(): Kept {
  return { session: randomBytes(18).toString('base64url'), current: randomBytes(SEALING_KEY_BYTES).toString('base64') };
}

function fromKept(kept: Kept): SessionKeys {
  const current = Buffer.from(kept.current, 'base64');
  return {
    session: kept.session,
    instance: `sha256:${createHash('sha256').update('postern/instance/v1\0').update(current).digest('hex')}`,
    stateKey: createSecretKey(Buffer.from(hkdfSync('sha256', current, '', 'postern/state/v1', SEALING_KEY_BYTES))),
    ring: kept.previous === undefined ? createKeyRing(current) : createKeyRing(current, Buffer.from(kept.previous, 'base64')),
  };
}

/** Written aside, synced, renamed: a crash leaves the old file or the new one, never half of one. */
function writeDurably(path: string, text: string): void {
  const aside = `${path}.new`;
  const fd = openSync(aside, 'w', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(aside, path);
}
