/**
 * The chain in the log of a sidecar that runs: read as it is, without its lock. A write that was cut off at the end was never acknowledged:
 * it is said, and is no damage. A log from which shipped segments were dropped may begin with the rest of one: what it gives back is whole
 * files, which know nothing of segments. That rest is passed over up to the first statement, and must lead to it.
 */

import { decodeFrame, type Frame } from '#core/audit/frame.ts';
import type { ChainVerifier } from '#core/audit/verify.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';
import { recover } from '#sidecar/wal/recover.ts';

/**
 * Bytes of a write that was cut off; 0 where there are none. Throws AUDIT_UNAVAILABLE when the log cannot be read.
 *
 * `after`: the verifier has seen the chain up to this record, from a store; the log goes on there, and what it has of before is passed over.
 */
export async function verifyLog(folder: string, verifier: ChainVerifier, after = 0): Promise<number> {
  let open = false;
  let rest: DroppedRest | undefined;
  try {
    const { tornBytes } = await recover(nodeDisk, folder, (payload, sequence) => {
      const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
      if (isUpTo(bytes, after)) return;
      if (sequence > 1 && !open && after === 0) rest ??= new DroppedRest();
      if (rest?.passes(bytes) !== true) open = pushPayload(verifier, bytes, open);
      if (rest?.leads === false) verifier.damaged();
    });
    if (open) verifier.end();
    return tornBytes;
  } catch (thrown) {
    if (!(thrown instanceof PosternError) || thrown.details.log !== 'damaged') throw thrown;
    verifier.damaged();
    return 0;
  }
}

/** Whether a payload stands before what is looked for; a segment never begins inside one. */
function isUpTo(payload: Buffer, sequence: number): boolean {
  if (sequence === 0) return false;
  const frame = decodeFrame(payload, 0);
  return !('no' in frame) && frame.sequence <= sequence;
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

/** Payloads of a segment whose beginning was dropped. A statement is always the first frame of its payload. */
class DroppedRest {
  leads = true;
  #over = false;
  #last: Frame | undefined;

  /** Whether this payload belongs to it. */
  passes(payload: Buffer): boolean {
    if (this.#over) return false;
    for (let at = 0; at < payload.length; ) {
      const frame = decodeFrame(payload, at);
      this.leads &&= !('no' in frame) && (this.#last === undefined || Buffer.compare(this.#last.hash, frame.previous) === 0);
      this.#over = 'no' in frame || (at === 0 && frame.heads[0].kind === 'segment');
      if ('no' in frame || this.#over) return false;
      this.#last = { ...frame, hash: Uint8Array.from(frame.hash) };
      at += frame.bytes.length;
    }
    return true;
  }
}
