/**
 * The chain in the log of a sidecar that runs: read as it is, without its lock. A write that was cut off at the end was never acknowledged:
 * it is said, and is no damage.
 */

import { decodeFrame } from '#core/audit/frame.ts';
import type { ChainVerifier } from '#core/audit/verify.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';
import { recover } from '#sidecar/wal/recover.ts';

/** Bytes of a write that was cut off; 0 where there are none. Throws AUDIT_UNAVAILABLE when the log cannot be read. */
export async function verifyLog(folder: string, verifier: ChainVerifier): Promise<number> {
  let open = false;
  try {
    const { tornBytes } = await recover(nodeDisk, folder, (payload) => {
      open = pushPayload(verifier, Buffer.from(payload.buffer, payload.byteOffset, payload.length), open);
    });
    if (open) verifier.end();
    return tornBytes;
  } catch (thrown) {
    if (!(thrown instanceof PosternError) || thrown.details.log !== 'damaged') throw thrown;
    verifier.damaged();
    return 0;
  }
}

/** A segment of the chain begins where its statement stands. */
function pushPayload(verifier: ChainVerifier, payload: Buffer, open: boolean): boolean {
  let begun = open;
  for (let at = 0; at < payload.length; ) {
    const frame = decodeFrame(payload, at);
    const bytes = 'no' in frame ? payload.subarray(at) : payload.subarray(at, at + frame.bytes.length);
    if (!begun || (!('no' in frame) && frame.heads[0]?.kind === 'segment')) {
      if (begun) verifier.end();
      verifier.begin(bytes.length);
      begun = true;
    }
    verifier.push(bytes);
    at += bytes.length;
  }
  return begun;
}
