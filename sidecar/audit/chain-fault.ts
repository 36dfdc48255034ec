/** Why the chain takes no records, or does not open, in our own words. */
import { PosternError } from '#core/error/postern-error.ts';

export type ChainFaultKind =
  /** The folder has the chain of another pod (AUD-03). */
  | 'origin'
  /** What is there is not what was written (AUD-11, AUD-12). */
  | 'damaged'
  /** The volume is nearly full. */
  | 'volume'
  | 'busy'
  | 'ended'
  /** A segment is no longer what it was when it was closed. */
  | 'segment'
  /** Nobody said to whom records are sealed. */
  | 'recipients';

const SENTENCES: Readonly<Record<ChainFaultKind, string>> = {
  origin: 'The folder of the audit holds the chain of another session, and a chain has one folder: give this session a volume of its own.',
  damaged:
    'The chain of the audit is damaged, and nothing in it was changed. Keep the folder for whoever looks into it, and give this process another.',
  volume: 'The volume of the audit is nearly full, and the rest is kept for outcomes; calls work again once segments are shipped.',
  busy: 'More records wait for the volume of the audit than may; call again.',
  ended: 'The chain of the audit has ended: this process is about to end.',
  segment: 'A closed segment of the audit cannot be read as it was written; look at the volume.',
  recipients: 'The audit has no recipients yet, and the folder holds no chain that names some; state recipients.',
};

/** `where` names segment or sequence, never content. */
export function chainFault(kind: ChainFaultKind, where = '', cause?: unknown): PosternError {
  const message = where === '' ? SENTENCES[kind] : `${SENTENCES[kind]} (${where})`;
  return new PosternError('AUDIT_UNAVAILABLE', message, { cause, details: { audit: kind } });
}
