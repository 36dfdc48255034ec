/**
 * Heads that somebody outside the machine remembers: a checkpoint, a receipt, an object of `heads/` (FORMAT.md). What a chain is held
 * against, so that a cut end is seen (AUD-01, AUD-02).
 */
import { limits } from '#core/bounds/limits.ts';
import { type ChainHead, isOrigin, isSize, isTime, parseCheckpoint, parseHash } from './checkpoint.ts';
import { cosignedBy, parseNoteBytes, type SignedNote, signedBy, type VerifierKey } from './signed-note.ts';

export interface Heads {
  /** Of an object of `heads/`, which speaks of the chains that moved and of no other. */
  readonly many: boolean;
  readonly heads: readonly ChainHead[];
}

const HEADS = 'postern.dev/audit-heads/v1';
const NAME_AND_HASH = /^(?:-|[!-~]+ [0-9a-f]{64})$/;

/** `keys`: the authorities one trusts; a line under the name of one must be right. Or why it is no head that could be used. */
export function parseHeads(note: Uint8Array, keys: readonly VerifierKey[]): Heads | { readonly unusable: string } {
  const parsed = parseNoteBytes(note, limits.auditHeadsBytesMax);
  if (parsed === undefined) return { unusable: 'this head is no signed note' };
  if (keys.some((key) => signedBy(parsed, key) === 'wrong' || cosignedBy(parsed, key) === 'wrong'))
    return { unusable: 'this head is not signed by the authority it names' };
  const checkpoint = note.length <= limits.auditNoteBytesMax ? parseCheckpoint(parsed.text) : undefined;
  if (checkpoint !== undefined) return { many: false, heads: [checkpoint] };
  const heads = headsOf(parsed);
  return heads === undefined ? { unusable: 'this note is no checkpoint, no receipt and no object of heads/' } : { many: true, heads };
}

function headsOf({ text }: SignedNote): readonly ChainHead[] | undefined {
  const [label, time = '', before = '', ...lines] = text.slice(0, -1).split('\n');
  if (label !== HEADS || !isTime(time) || !NAME_AND_HASH.test(before)) return undefined;
  const heads = lines.map(headOf);
  return heads.every((head) => head !== undefined) ? heads : undefined;
}

function headOf(line: string): ChainHead | undefined {
  const [origin = '', size = '', encoded = '', ...rest] = line.split(' ', 4);
  const hash = parseHash(encoded);
  if (rest.length > 0 || !isOrigin(origin) || !isSize(size) || hash === undefined) return undefined;
  return { origin, size: Number(size), hash };
}
