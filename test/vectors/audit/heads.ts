/** What only a head from elsewhere shows: a cut end, an older copy, a fork, another chain. */
import { cosign } from '#core/audit/signed-note.ts';
import { link, noteText } from './chain-draft.ts';
import { AUTHORITY, goodDrafts, headsObject, keyNamed, keysOf, ORIGIN, OTHER_ORIGIN, receiptAt } from './good-chain.ts';
import { filesOf, GOOD, type Vector } from './vector.ts';

const FORK = link(ORIGIN, goodDrafts(ORIGIN, keysOf(ORIGIN), 'two'));
const OTHER = link(OTHER_ORIGIN, goodDrafts(OTHER_ORIGIN, keysOf(OTHER_ORIGIN)));

function checkpointOf(chain: typeof GOOD, sequence: number): string {
  return Buffer.from(chain.segments.flat().find((frame) => frame.sequence === sequence)?.body ?? []).toString('utf8');
}

/** The last checkpoint: of 27 records. */
const LAST = checkpointOf(GOOD, 28);
const RECEIPT = `${noteText(Buffer.from(LAST))}\n${cosign(noteText(Buffer.from(LAST)), AUTHORITY, 1_764_500_000)}`;
const LINE = `${ORIGIN} 28 ${Buffer.from(GOOD.segments.flat().at(-1)?.hash ?? []).toString('base64')}`;
const OTHER_LINE = `${OTHER_ORIGIN} 28 ${Buffer.from(OTHER.segments.flat().at(-1)?.hash ?? []).toString('base64')}`;
const INNER_LINE = `${ORIGIN} 14 ${Buffer.alloc(32).toString('base64')}`;
const WHOLE = filesOf(GOOD.files);
/** Without the last frame: 27 records. */
const CUT = filesOf(cut(27));
const OLDER = filesOf(cut(12));

/** Up to the frame that ends at `last`. */
function cut(last: number): readonly Buffer[] {
  return GOOD.segments
    .map((frames) => Buffer.concat(frames.filter((frame) => frame.last <= last).map((frame) => frame.bytes)))
    .filter((bytes) => bytes.length > 0);
}

export const HELD_AGAINST_HEADS: readonly Vector[] = [
  { name: 'good', about: 'The undamaged chain.', files: WHOLE, expect: {} },
  {
    name: 'good-without-key',
    about: 'The undamaged chain; nobody says who answers for it.',
    files: WHOLE,
    expect: { signature: 'not checked' },
  },
  {
    name: 'good-against-checkpoint',
    about: 'Held against its own last checkpoint.',
    files: WHOLE,
    heads: [LAST],
    expect: { tail: 'complete' },
  },
  { name: 'good-against-receipt', about: 'Held against a receipt.', files: WHOLE, heads: [RECEIPT], expect: { tail: 'complete' } },
  {
    name: 'good-against-heads-object',
    about: 'Held against an object of heads/.',
    files: WHOLE,
    heads: [headsObject([OTHER_LINE, LINE])],
    expect: { tail: 'complete' },
  },
  {
    name: 'heads-object-of-others',
    about: 'An object of heads/ that does not speak of this chain.',
    files: WHOLE,
    heads: [headsObject([OTHER_LINE])],
    expect: { tail: 'not checked' },
  },
  {
    name: 'cut-without-head',
    about: 'The last frame taken away, and nobody remembers: whole, and the end is not checked.',
    case: 'AUD-01',
    files: CUT,
    expect: { records: 27, signature_at: 24 },
  },
  {
    name: 'cut-with-head',
    about: 'The last frame taken away.',
    case: 'AUD-01',
    files: CUT,
    heads: [headsObject([LINE])],
    expect: { records: 27, signature_at: 24, tail: 'TRUNCATED' },
  },
  {
    name: 'segment-dropped-last',
    about: 'The last segment taken away.',
    case: 'AUD-01',
    files: filesOf(GOOD.files.slice(0, 3)),
    heads: [RECEIPT],
    expect: { records: 18, signature_at: 9, tail: 'TRUNCATED' },
  },
  {
    name: 'cut-in-a-frame-with-head',
    about: 'A byte cut from the end.',
    case: 'AUD-01',
    files: filesOf([...GOOD.files.slice(0, 3), GOOD.files[3]?.subarray(0, -1) ?? Buffer.alloc(0)]),
    heads: [headsObject([LINE])],
    expect: { broken_at: 28, tail: 'TRUNCATED' },
  },
  {
    name: 'gone',
    about: 'The whole chain taken away; only its manifest is left.',
    case: 'AUD-02',
    files: new Map([['manifest-0000000000000028.json', Buffer.from('{}\n')]]),
    heads: [RECEIPT],
    expect: { records: 0, signature: 'INVALID', signature_at: 1, tail: 'TRUNCATED' },
  },
  {
    name: 'older-copy',
    about: 'An older copy of the chain in its place.',
    case: 'AUD-03',
    files: OLDER,
    heads: [RECEIPT],
    expect: { records: 12, signature_at: 9, tail: 'TRUNCATED' },
  },
  {
    name: 'another-chain',
    about: 'Another chain in its place: another pod, another origin.',
    case: 'AUD-03',
    files: filesOf(OTHER.files),
    heads: [RECEIPT],
    expect: { tail: 'ROLLBACK' },
  },
  {
    name: 'fork',
    about: 'A fork of the chain in its place, by the same keys.',
    case: 'AUD-16',
    files: filesOf(FORK.files),
    heads: [RECEIPT],
    expect: { tail: 'FORK' },
  },
  {
    name: 'two-heads-of-one-size',
    about: 'Two heads of one size and two hashes, signed by one key.',
    case: 'AUD-24',
    files: WHOLE,
    heads: [LAST, checkpointOf(FORK, 28)],
    expect: { tail: 'FORK' },
  },
  {
    name: 'head-within-a-frame',
    about: 'A head of a size at which no frame ends.',
    files: WHOLE,
    heads: [headsObject([INNER_LINE])],
    expect: { tail: 'FORK' },
  },
  {
    name: 'two-authorities',
    about: 'A receipt with a line of a witness nobody knows.',
    files: WHOLE,
    heads: [`${RECEIPT}${cosign(noteText(Buffer.from(LAST)), keyNamed('example.org/witness', 'w'), 1)}`],
    expect: { tail: 'complete' },
  },
  {
    name: 'old-receipt',
    about: 'Held against a receipt that stands in the chain itself.',
    files: WHOLE,
    heads: [receiptAt(AUTHORITY, noteText(Buffer.from(checkpointOf(GOOD, 8))))(place())],
    expect: { tail: 'complete' },
  },
];

function place(): Parameters<ReturnType<typeof receiptAt>>[0] {
  return { origin: ORIGIN, sequence: 1, epoch: 1, previous: Buffer.alloc(32), time: '', segment: 1, checkpoint: '' };
}
