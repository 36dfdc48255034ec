/** Why a chain is broken: a closed word for a program, our sentence for a person. Nothing of the chain stands in either. */
import type { NoFrame } from './frame.ts';

export const BROKEN = {
  // a frame
  rest: 'a segment ends within a frame',
  empty: 'a segment without a byte',
  'too-long': 'a segment is longer than a segment may be',
  foreign: 'no frame begins here',
  version: 'a version of the format that this verifier does not know',
  form: 'a frame of unknown form, or with a record that does not fit its form',
  count: 'a frame with too few or too many records',
  length: 'the body of a frame is empty or too long',
  head: 'the head of a record cannot be read',
  hash: 'the hash of the frame does not fit its bytes',
  sequence: 'another sequence stands where this one should: records are missing, doubled or moved',
  previous: 'the frame does not follow the frame before it',
  epoch: 'the frame is of another epoch',
  missing: 'the chain does not begin here: the records from here on are missing',
  recipients: 'a sealed body is no age file, or is for more or fewer readers than its segment names',
  log: 'the log on the disk is damaged',
  // statements
  'no-segment': 'a segment does not begin with a segment statement',
  'inner-segment': 'a segment statement stands within a segment',
  statement: 'a statement cannot be read',
  origin: 'a statement of another chain',
  segment: 'the number of the segment is not the next one',
  'previous-segment': 'the segment before is not the one that this one follows',
  'previous-epoch': 'the epoch before is not the one that this one follows',
  key: 'another key in the middle of an epoch',
  'no-checkpoint': 'no checkpoint directly behind the beginning or the end of an epoch',
  ended: 'the epoch has ended, and goes on',
  certificate: 'a certificate of an epoch that has not begun, or of another key than that of its epoch',
  checkpoint: 'a checkpoint of something else than what stands before it',
  signature: 'a checkpoint is not signed by the key of its epoch',
  receipt: 'a receipt of a checkpoint that is not among the last ones, or without a cosignature',
} as const;

export type BrokenReason = keyof typeof BROKEN;

/** Of bytes that are no frame. Of `short` a rest is left when no more come. */
export function brokenBy(no: NoFrame): BrokenReason {
  return no === 'short' ? 'rest' : no;
}
