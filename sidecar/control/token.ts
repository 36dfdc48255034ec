/** The projected ServiceAccount token. Read for every connection: the kubelet renews the file, and a kept copy would expire (OPR-15). */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { limits } from '#core/bounds/limits.ts';
import { ControlFault } from './stream-end.ts';

/** Throws ControlFault. */
export function readToken(path: string): string {
  let text: string;
  try {
    text = readBounded(path);
  } catch (cause) {
    throw new ControlFault('token_unreadable', cause);
  }
  // A JWT, and nothing that could end one header and begin another.
  if (!/^[A-Za-z0-9._~+/=-]{1,16384}$/.test(text)) throw new ControlFault('token_unreadable');
  return text;
}

function readBounded(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new TypeError('not a regular file');
    const bytes = Buffer.alloc(limits.controlTokenBytesMax + 1);
    return bytes
      .subarray(0, readSync(file, bytes, 0, bytes.length, 0))
      .toString('latin1')
      .trim();
  } finally {
    closeSync(file);
  }
}
