/** What a writer with every key may not write: statements of something else, or in a wrong place. */
import { hash } from 'node:crypto';
import { epochKeyName } from '#core/audit/checkpoint.ts';
import { verifierText } from '#core/audit/signed-note.ts';
import { checkpointAt, type Draft, noteText } from './chain-draft.ts';
import { AUTHORITY, certificateAt, goodDrafts, keyNamed, keysOf, ORIGIN, OTHER_ORIGIN, receiptAt, sealedBody } from './good-chain.ts';
import { at, bodyAt, byWriter, segmentWith, type Vector, withBody } from './vector.ts';

const KEYS = keysOf(ORIGIN);
const ATTACKER = keysOf(ORIGIN, 'attacker');

export const MISWRITTEN_STATEMENTS: readonly Vector[] = [
  byWriter(
    'certificate-missing',
    'The certificate of epoch 2 never came.',
    at(21, () => []),
    { records: 27, signature: 'INVALID', signature_at: 11 },
    'AUD-04',
  ),
  byWriter(
    'certificate-of-last-missing',
    'The certificate of epoch 3 never came.',
    at(22, () => []),
    { records: 27, signature: 'valid', signature_at: 15 },
  ),
  byWriter(
    'certificate-of-a-later-epoch',
    'A certificate of epoch 3 in epoch 1.',
    withBody(3, certificateAt(AUTHORITY, 3, KEYS.epoch(3))),
    { broken_at: 3 },
  ),
  byWriter(
    'certificate-of-another-key',
    'The authority answers for another key.',
    withBody(3, certificateAt(AUTHORITY, 1, ATTACKER.epoch(1))),
    { broken_at: 3 },
  ),
  byWriter(
    'certificate-of-another-chain',
    'A certificate of another chain.',
    withBody(3, (place) => certificateAt(AUTHORITY, 1, KEYS.epoch(1))({ ...place, origin: OTHER_ORIGIN })),
    { broken_at: 3 },
  ),
  byWriter('checkpoint-of-another-size', 'A checkpoint of a record too few.', withBody(16, checkpointAt(KEYS.epoch(2), { size: 14 })), {
    broken_at: 16,
  }),
  byWriter(
    'checkpoint-of-another-hash',
    'A checkpoint of another hash.',
    withBody(16, checkpointAt(KEYS.epoch(2), { previous: hash('sha256', 'x', 'buffer') })),
    { broken_at: 16 },
  ),
  byWriter('checkpoint-of-another-epoch', 'A checkpoint of another epoch.', withBody(16, checkpointAt(KEYS.epoch(2), { epoch: 1 })), {
    broken_at: 16,
  }),
  byWriter(
    'checkpoint-of-another-chain',
    'A checkpoint of another chain.',
    withBody(16, checkpointAt(KEYS.epoch(2), { origin: OTHER_ORIGIN })),
    { broken_at: 16 },
  ),
  byWriter('checkpoint-by-another-key', 'A checkpoint by the key of another epoch.', withBody(16, checkpointAt(KEYS.epoch(1))), {
    broken_at: 16,
  }),
  byWriter('receipt-of-nothing', 'A receipt of a checkpoint that never was.', withBody(26, receiptAt(AUTHORITY, neverSigned())), {
    broken_at: 26,
  }),
  byWriter('receipt-without-cosignature', 'A receipt that is only a checkpoint again.', withBody(26, bodyAt(25)), { broken_at: 26 }),
  byWriter(
    'end-then-more',
    'Records behind the end of epoch 1.',
    at(10, (draft) => [draft, { ...sealedDraft(1), timeMs: draft.timeMs }]),
    { broken_at: 11 },
  ),
  byWriter(
    'end-without-checkpoint',
    'Epoch 2 begins directly behind the end of epoch 1.',
    at(10, () => []),
    { broken_at: 10 },
  ),
  byWriter(
    'end-then-segment',
    'A segment of epoch 1 behind its end.',
    (drafts) => [...drafts.slice(0, 1), goodDrafts()[0]?.slice(0, 1) ?? [], ...drafts.slice(1)],
    { broken_at: 11 },
  ),
  byWriter(
    'first-checkpoint-missing',
    'Epoch 2 begins without a checkpoint.',
    at(12, () => []),
    { broken_at: 12 },
    'AUD-05',
  ),
  byWriter(
    'segment-statement-inside',
    'A segment statement in the middle of a segment.',
    (drafts) => [drafts[0] ?? [], [...(drafts[1] ?? []), ...(drafts[2] ?? [])], drafts[3] ?? []],
    { broken_at: 17 },
  ),
  byWriter(
    'segment-without-statement',
    'A segment without its statement.',
    at(17, () => []),
    { broken_at: 17 },
  ),
  byWriter(
    'epoch-skipped',
    'Epoch 3 stands where epoch 2 should.',
    (drafts) => [drafts[0] ?? [], drafts[3] ?? []],
    { broken_at: 11 },
    'AUD-05',
  ),
  byWriter(
    'epoch-of-frame',
    'A frame of epoch 3 within epoch 2.',
    at(13, (draft) => [{ ...draft, epoch: 3 }]),
    { broken_at: 13 },
  ),
  byWriter(
    'key-changed',
    'Another key in the second segment of epoch 2.',
    withBody(
      17,
      segmentWith(() => ({ key: verifierText(ATTACKER.epoch(2)) })),
    ),
    { broken_at: 17 },
    'AUD-04',
  ),
  byWriter(
    'key-of-another-name',
    'A key under the name of another epoch.',
    withBody(
      11,
      segmentWith(() => ({ key: verifierText(keyNamed(epochKeyName(ORIGIN, 3), 'x')) })),
    ),
    { broken_at: 11 },
  ),
  byWriter(
    'segment-number',
    'A number of a segment left out.',
    withBody(
      17,
      segmentWith(({ segment }) => ({ segment: segment + 1 })),
    ),
    { broken_at: 17 },
  ),
  byWriter(
    'previous-segment',
    'Another file before.',
    withBody(
      17,
      segmentWith(() => ({ previous_segment: { bytes: 1, sha256: '0'.repeat(64) } })),
    ),
    { broken_at: 17 },
  ),
  byWriter(
    'previous-segment-2-63',
    'A length of 2^63.',
    withBody(17, (place) => segmentWith(() => ({}))(place).replace(/"bytes":\d+/, '"bytes":9223372036854775808')),
    { broken_at: 17 },
    'AUD-22',
  ),
  byWriter(
    'previous-epoch',
    'Another epoch before.',
    withBody(
      11,
      segmentWith(() => ({ previous_epoch: { sequence: 10, hash: '0'.repeat(64) } })),
    ),
    { broken_at: 11 },
    'AUD-05',
  ),
];

function neverSigned(): string {
  return noteText(bodyAt(25)).replace('\n24\n', '\n23\n');
}

function sealedDraft(epoch: number): Draft {
  return { epoch, timeMs: 0, heads: [{ kind: 'session' }], body: sealedBody('other') };
}
