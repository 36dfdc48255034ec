/** Whether bytes are the sealed intent a sidecar says they are. What is sealed in it nobody here can read. */
import { decodeFrame } from '#core/audit/frame.ts';
import { limits } from '#core/bounds/limits.ts';

/** Undefined for one that may be kept; else why not. `sequence`: what the message says. */
export function intentProblem(sequence: number, bytes: Uint8Array): string | undefined {
  if (bytes.length > limits.auditIntentBytesMax) return `The frame is longer than ${limits.auditIntentBytesMax} bytes.`;
  const frame = decodeFrame(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
  if ('no' in frame) return 'The bytes are no frame of a chain.';
  if (frame.bytes.length !== bytes.length) return 'There are bytes behind the frame.';
  if (frame.form !== 'sealed' || !frame.heads.some(({ kind }) => kind === 'intent')) return 'The frame holds no sealed intent.';
  return frame.sequence === sequence ? undefined : 'The frame begins with another sequence than the message says.';
}
