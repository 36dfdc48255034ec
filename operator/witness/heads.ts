/**
 * The witness: remembers where a chain stood, and says so only once for each place (failure cases AUD-01 to AUD-03, AUD-24). It sees hashes
 * alone, so it cannot tell that a longer chain goes on from the one it knows; whoever has both, a verifier, can.
 */
import { type ChainHead, type Checkpoint, parseCheckpoint } from '#core/audit/checkpoint.ts';
import { cosign, isSignedBy, parseNote, type SigningKey, type VerifierKey } from '#core/audit/signed-note.ts';

export type KnownHead = Pick<ChainHead, 'size' | 'hash'>;

/**
 * `fork`: one size, two hashes. `rollback`: the chain has become shorter. Both are for ever: a chain that has shown two pasts has none, and
 * each later receipt would lend it ours.
 */
export type HeadRelation = 'grown' | 'same' | 'fork' | 'rollback';

export function relate(known: KnownHead | undefined, shown: KnownHead): HeadRelation {
  if (known === undefined || shown.size > known.size) return 'grown';
  if (shown.size < known.size) return 'rollback';
  return Buffer.from(known.hash).equals(shown.hash) ? 'same' : 'fork';
}

export type HeadVerdict =
  | { readonly kind: 'witnessed'; readonly relation: 'grown' | 'same'; readonly head: Checkpoint; readonly note: string }
  | { readonly kind: 'conflict'; readonly relation: 'fork' | 'rollback'; readonly head: Checkpoint }
  | { readonly kind: 'refused'; readonly because: 'malformed' | 'origin' | 'not_certified' | 'signature'; readonly message: string };

export interface Witnessing {
  readonly known: KnownHead | undefined;
  readonly origin: string;
  /** The certified key of an epoch. */
  keyOf(epoch: number): VerifierKey | undefined;
  readonly authority: SigningKey;
  readonly nowMs: number;
}

/** Only what is signed can be a conflict: else anybody who gets a word in could break a chain. */
export function witness(checkpoint: string, { known, origin, keyOf, authority, nowMs }: Witnessing): HeadVerdict {
  const note = parseNote(checkpoint);
  const head = note === undefined ? undefined : parseCheckpoint(note.text);
  // One signature: a line of somebody else would stand in a note with ours below it.
  if (note === undefined || head === undefined || head.size < 1 || note.signatures.length !== 1)
    return refused('malformed', 'The checkpoint is no note with one signature and a size from 1.');
  if (head.origin !== origin) return refused('origin', 'The checkpoint is of another chain than that of this session.');
  const key = keyOf(head.epoch);
  if (key === undefined) return refused('not_certified', 'The key of the epoch of this checkpoint is not certified; ask for that first.');
  if (!isSignedBy(note, key)) return refused('signature', 'The checkpoint is not signed with the certified key of its epoch.');
  const relation = relate(known, head);
  if (relation === 'fork' || relation === 'rollback') return { kind: 'conflict', relation, head };
  return { kind: 'witnessed', relation, head, note: checkpoint + cosign(note.text, authority, Math.floor(nowMs / 1000)) };
}

/** As in status, log and Events: `9195 sha256:9f2c...`. */
export function headText({ size, hash }: KnownHead): string {
  return `${size} ${hashText(hash)}`;
}

export function hashText(hash: Uint8Array): string {
  return `sha256:${Buffer.from(hash).toString('hex')}`;
}

/** Undefined for what is no such text. */
export function parseHashText(text: string): Uint8Array | undefined {
  return /^sha256:[0-9a-f]{64}$/.test(text) ? Buffer.from(text.slice(7), 'hex') : undefined;
}

function refused(because: 'malformed' | 'origin' | 'not_certified' | 'signature', message: string): HeadVerdict {
  return { kind: 'refused', because, message };
}
