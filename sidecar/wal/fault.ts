/** Why the log does not take records, in our own words; the system's go into `cause`. */
import { PosternError } from '#core/error/postern-error.ts';

export type FaultKind =
  /** No room for a segment (AUD-08). */
  | 'full'
  /** The disk reported an error; what was in flight is not trusted (AUD-10). */
  | 'broken'
  /** The disk does not answer (AUD-15). */
  | 'hanging'
  /** More records wait than the queue holds. */
  | 'busy'
  | 'closed'
  /** Somebody else writes this log (AUD-16). */
  | 'locked'
  /** What is there cannot be read (AUD-11). */
  | 'unreadable'
  /** What is there is not what was written (AUD-12). */
  | 'damaged'
  /** Written by a later release. */
  | 'newer';

const SENTENCES: Readonly<Record<FaultKind, string>> = {
  full: 'The volume of the log is full; make room for a few MiB, and the next call works again.',
  broken: 'The volume of the log reported an error; look at the volume. Calls work again when it takes records.',
  hanging: 'The volume of the log does not answer; look at the volume. Calls work again when it does.',
  busy: 'More records wait for the volume of the log than may; call again.',
  closed: 'The log is closed: this process is about to end.',
  locked: 'Another process writes this log; end it, or give this one a folder of its own.',
  unreadable:
    'The folder of the log cannot be read or written; nothing in it was changed. Look at the volume and at the rights of its files.',
  damaged: 'The log is damaged, and nothing in it was changed: what follows the damage was acknowledged, so it is not cut off.',
  newer: 'The log was written by a later release; start that one. Nothing in it was changed.',
};

/** `where` names segment and sequence, never content. */
export function logFault(kind: FaultKind, cause?: unknown, where = ''): PosternError {
  return new PosternError('AUDIT_UNAVAILABLE', where === '' ? SENTENCES[kind] : `${SENTENCES[kind]} (${where})`, {
    cause,
    details: { log: kind },
  });
}

const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** The kind of a system error met while writing. */
export function faultKindOf(error: unknown): FaultKind {
  if (error instanceof ShortWrite) return 'full';
  return FULL.includes((error as NodeJS.ErrnoException | null)?.code) ? 'full' : 'broken';
}

/** The disk took fewer bytes than it was given and reported no error (AUD-08). */
export class ShortWrite extends Error {
  constructor(written: number, wanted: number) {
    super(`${written} of ${wanted} bytes were written`);
  }
}
