/** Damage by somebody who has keys: his own, or the one of the last epoch. Every hash is worked out anew. */
import { AUTHORITY, certificateAt, goodDrafts, type Keys, keyNamed, keysOf, ORIGIN } from './good-chain.ts';
import { at, bodyAt, type Drafts, edited, noteEnd, relinked, rewritten, type Vector, withBody } from './vector.ts';

const KEYS = keysOf(ORIGIN);
const ATTACKER = keysOf(ORIGIN, 'attacker');
/** Another key under the authority's name. */
const IMPOSTOR = keyNamed(AUTHORITY.name, 'impostor');

/** The chain as `goodDrafts` has it, with other keys in some epochs. */
function withKeys(keys: Keys): (drafts: Drafts) => Drafts {
  return () => goodDrafts(ORIGIN, keys);
}

/** Who took the machine in epoch 3 has its key, and writes epoch 2 anew. */
const EPOCH_2_ANEW: Keys = { authority: KEYS.authority, epoch: (epoch) => (epoch === 2 ? ATTACKER : KEYS).epoch(epoch) };

export const RESEALED: readonly Vector[] = [
  {
    name: 'resealed-all',
    about: 'The whole chain written anew, with keys of the attacker and certificates of his under the name of the authority.',
    case: 'AUD-04',
    files: relinked(() => goodDrafts(ORIGIN, { ...ATTACKER, authority: IMPOSTOR })),
    expect: { signature: 'INVALID', signature_at: 1 },
  },
  {
    name: 'resealed-epoch',
    about: 'Epoch 2 written anew by who has the key of epoch 3; its certificate is of the attacker, under the name of the authority.',
    case: 'AUD-04',
    files: relinked((drafts) =>
      at(21, (draft) => [{ ...draft, body: certificateAt(IMPOSTOR, 2, ATTACKER.epoch(2)) }])(withKeys(EPOCH_2_ANEW)(drafts)),
    ),
    expect: { signature: 'INVALID', signature_at: 11 },
  },
  {
    name: 'resealed-epoch-real-certificate',
    about: 'Epoch 2 written anew by who has the key of epoch 3; the real certificate of epoch 2 is left.',
    case: 'AUD-04',
    files: relinked((drafts) => withBody(21, bodyAt(21))(withKeys(EPOCH_2_ANEW)(drafts))),
    expect: { broken_at: 21, signature: 'valid', signature_at: 9 },
  },
  {
    name: 'resealed-epoch-unsigned',
    about:
      'Epoch 2 written anew by who has the key of epoch 3: with its real key and certificate, and without a checkpoint, as if it had crashed.',
    case: 'AUD-04',
    files: rewritten((drafts) => at(12, () => [])(at(16, () => [])(drafts))),
    expect: { broken_at: 12 },
  },
  {
    name: 'certificate-forged',
    about: 'A line under name and key id of the authority, with a signature of another text.',
    case: 'AUD-04',
    files: rewritten(edited(22, noteEnd(22), noteEnd(21))),
    expect: { signature: 'INVALID', signature_at: 22 },
  },
  {
    name: 'receipt-forged',
    about: 'A cosignature under name and key id of the authority, of another text.',
    files: rewritten(edited(26, noteEnd(26), noteEnd(6))),
    expect: { signature: 'INVALID', signature_at: 26 },
  },
];
