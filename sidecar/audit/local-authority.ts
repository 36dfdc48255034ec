/**
 * The authority of a sidecar without an operator: a key in a file. It answers for the keys of epochs, and watches nothing: whoever can write
 * the disk can cut its end, which is what a head kept elsewhere is for (FORMAT.md, "Checking").
 */
import { chmodSync, closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { type Certificate, certificateText } from '#core/audit/checkpoint.ts';
import { makeSigningKey, parseSigner, type SigningKey, signerText, signNote, verifierText } from '#core/audit/signed-note.ts';
import type { Authority } from './authority.ts';

/** A key file that cannot be used; `message` says the rule, `cure` what a person can do. Nothing of the file is in either. */
export class KeyUnusable extends Error {
  readonly cure: string;
  constructor(message: string, cure: string) {
    super(message);
    this.name = 'KeyUnusable';
    this.cure = cure;
  }
}

export interface LocalAuthority extends Authority {
  /** For whoever verifies: `postern audit verify --key`. */
  readonly verifier: string;
}

/**
 * The key in `path`; made there with mode 0600 when there is none, its verifier key beside it in `<path>.pub`. Throws KeyUnusable.
 */
export function openLocalAuthority(path: string): LocalAuthority {
  const key = readKey(path) ?? makeKey(path);
  const verifier = verifierText(key);
  try {
    writeFileSync(`${path}.pub`, `${verifier}\n`, { mode: 0o644 });
  } catch {
    // It can be written again from the key, and is logged.
  }
  return { verifier, certify: (certificate: Certificate) => Promise.resolve(signNote(certificateText(certificate), key)) };
}

const FILE_BYTES_MAX = 1024;

function readKey(path: string): SigningKey | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (fault) {
    if (isCode(fault, 'ENOENT')) return undefined;
    throw new KeyUnusable(`the key file ${path} cannot be opened`, 'Give this user the right to read it; it may not be a link.');
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile() || (found.mode & 0o077) !== 0)
      throw new KeyUnusable(
        `others may read or write the key file ${path}, or it is no file`,
        'Run chmod 600 on it if nobody has read it; else remove it, and a new key is made.',
      );
    const bytes = Buffer.alloc(FILE_BYTES_MAX);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, FILE_BYTES_MAX, 0));
    const key = parseSigner(text);
    if (key === undefined)
      throw new KeyUnusable(
        `${path} is no key file of an audit, or not whole`,
        'Put the right file there, or remove it: a new key is made.',
      );
    return key;
  } finally {
    closeSync(file);
  }
}

function makeKey(path: string): SigningKey {
  const name = `postern.dev/authority/${
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      .slice(0, 63) || 'local'
  }`;
  const key = makeSigningKey(name);
  try {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      chmodSync(path, 0o600);
      writeSync(file, `${signerText(key)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    syncFolder(dirname(path));
  } catch (fault) {
    const code = fault instanceof Error && 'code' in fault ? String(fault.code) : 'error';
    throw new KeyUnusable(`the key file ${path} cannot be made (${code})`, 'Name a file in a folder of your own with --audit-key.');
  }
  return key;
}

/** A key that a power cut takes with it has signed what nobody can check any more (AUD-13). */
function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function isCode(fault: unknown, code: string): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === code;
}
