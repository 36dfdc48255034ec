/**
 * The pin of a host: asked before anything of the login is sent, and again at every later key exchange of the connection.
 *
 * There is no trust on first use, and nothing is ever written (failure cases SSH-01, SSH-02). A host with two pinned keys may use either
 * one, and stays with it: another key in the middle of a connection is another host (failure case SSH-03).
 */
import { createHash } from 'node:crypto';
import type { HostKeyMismatch } from './ssh-failure.ts';

export function fingerprint(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** For one connection. `onMismatch` is called before the refusal. */
export function hostKeyCheck(
  origin: string,
  pinned: readonly string[],
  onMismatch: (mismatch: HostKeyMismatch) => void,
): (key: Buffer) => boolean {
  let accepted: string | undefined;
  return (key) => {
    const shown = fingerprint(key);
    if (pinned.includes(shown) && (accepted === undefined || accepted === shown)) {
      accepted = shown;
      return true;
    }
    onMismatch({ origin, shown, pinned: accepted === undefined ? pinned : [accepted] });
    return false;
  };
}
