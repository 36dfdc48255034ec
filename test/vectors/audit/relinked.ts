/** Damage by somebody who knows the format and works every hash anew, and has no key: notes stay as they were signed. */
import { keysOf, ORIGIN, SEALED, sealedBody, segmentAt } from './good-chain.ts';
import { at, type Drafts, edited, head, noteEnd, relinked, segmentWith, touched, type Vector, withBody } from './vector.ts';

const KEYS = keysOf(ORIGIN);
const [READER = '', FOREIGN = ''] = SEALED.recipients;

function byStranger(name: string, about: string, change: (drafts: Drafts) => Drafts, broken_at: number, failure?: string): Vector {
  return {
    name,
    about: `${about} All hashes are worked out anew, no key is at hand.`,
    files: relinked(change),
    expect: { broken_at },
    ...(failure ? { case: failure } : {}),
  };
}

const without = (index: number) => (drafts: Drafts) => drafts.filter((_, number) => number !== index);

/** Records 13 to 15 with fewer heads. */
const fewerHeads = (left: readonly number[]) => at(13, (draft) => [{ ...draft, heads: left.flatMap((index) => draft.heads[index] ?? []) }]);

export const RELINKED: readonly Vector[] = [
  byStranger('record-dropped-first', 'Record 13 taken out of its frame.', fewerHeads([1, 2]), 15, 'AUD-01'),
  byStranger('record-dropped-middle', 'Record 14 taken out of its frame.', fewerHeads([0, 2]), 15, 'AUD-01'),
  byStranger('record-dropped-last', 'Record 15 taken out of its frame.', fewerHeads([0, 1]), 15, 'AUD-01'),
  byStranger('relinked-body', 'Another sealed body for records 13 to 15.', withBody(13, sealedBody('two')), 16),
  byStranger(
    'relinked-time',
    'Another time for records 13 to 15.',
    touched(13, (frame) => frame.writeUInt8((frame[24] ?? 0) ^ 0x01, 24)),
    16,
  ),
  byStranger(
    'relinked-operation',
    'Another operation for record 13.',
    touched(
      13,
      head((heads) => heads.write('z', 6)),
    ),
    16,
  ),
  byStranger(
    'relinked-frame-dropped',
    'Records 13 to 15 taken out.',
    at(13, () => []),
    13,
    'AUD-01',
  ),
  byStranger(
    'relinked-frame-doubled',
    'Records 13 to 15 twice.',
    at(13, (draft) => [draft, draft]),
    19,
  ),
  byStranger('relinked-segment-dropped', 'The third segment taken away.', without(2), 18, 'AUD-01'),
  byStranger('relinked-epoch-dropped', 'Both segments of epoch 2 taken away.', (drafts) => without(1)(without(2)(drafts)), 11, 'AUD-05'),
  byStranger(
    'relinked-foreign-recipient',
    'One more reader in the second segment.',
    withBody(11, segmentAt(KEYS.epoch(2), [READER, FOREIGN])),
    12,
    'AUD-21',
  ),
  byStranger('relinked-note-text', 'Another time in the checkpoint of record 16.', edited(16, 'time 2026', 'time 2025'), 16),
  byStranger('relinked-note-signature', 'Another signature on the checkpoint of record 16.', edited(16, noteEnd(16), noteEnd(12)), 16),
  byStranger('relinked-end', 'Another reason for the end of epoch 1.', edited(9, 'rotated', 'stopped'), 10),
  byStranger('relinked-certificate', 'A certificate of another epoch in place of that of epoch 1.', edited(3, 'v1\n', 'v2\n'), 3),
  byStranger(
    'version-0',
    'Records 13 to 15 in an older version.',
    touched(13, (frame) => (frame[4] = 0)),
    13,
    'AUD-06',
  ),
  byStranger(
    'version-2',
    'Records 13 to 15 in a newer version.',
    touched(13, (frame) => (frame[4] = 2)),
    13,
    'AUD-06',
  ),
  byStranger(
    'format-0',
    'The second segment in an older format.',
    withBody(
      11,
      segmentWith(() => ({ format: 'postern-audit/0' })),
    ),
    11,
    'AUD-06',
  ),
  byStranger('not-sealed', 'Records 13 to 15 in clear.', withBody(13, Buffer.from('{"record":"intent"}\n')), 13, 'AUD-06'),
  byStranger(
    'origin-with-escapes',
    'ESC ]0; and CR in the origin of the first segment.',
    withBody(
      1,
      segmentWith(() => ({ origin: `${ORIGIN}\u001b]0;owned\u0007\r` })),
    ),
    1,
    'AUD-22',
  ),
  byStranger(
    'note-with-escapes',
    'ESC and CR in a key name of the checkpoint of record 16.',
    edited(16, 'postern', 'pos\u001b]0;\rtern'),
    16,
    'AUD-22',
  ),
];
