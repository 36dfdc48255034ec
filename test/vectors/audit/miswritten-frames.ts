/** What a writer with every key may not write: frames, heads and JSON of another form; and clocks that jump, which break nothing. */
import type { Place } from './chain-draft.ts';
import { keysOf, ORIGIN, SEALED, sealedBody, segmentAt } from './good-chain.ts';
import { byWriter, type Drafts, head, segmentWith, touched, type Vector, withBody } from './vector.ts';

const KEYS = keysOf(ORIGIN);
const [READER = ''] = SEALED.recipients;

function spaced(place: Place): string {
  return segmentAt(KEYS.epoch(place.epoch), [READER])(place).replace('":', '": ');
}

/** The body of records 13 to 15 with a stanza more in its header. */
function withStanza(): Buffer {
  const body = sealedBody('three');
  const end = body.indexOf('\n---');
  const stanza = Buffer.from('\n-> X25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  return Buffer.concat([body.subarray(0, end), stanza, body.subarray(end)]);
}

export const MISWRITTEN_FRAMES: readonly Vector[] = [
  byWriter('json-with-blanks', 'A statement with a blank in it.', withBody(11, spaced), { broken_at: 11 }),
  byWriter(
    'json-with-more',
    'A statement with a member nobody knows.',
    withBody(
      11,
      segmentWith(() => ({ note: 'x' })),
    ),
    { broken_at: 11 },
  ),
  byWriter(
    'json-member-twice',
    'A statement with a member twice.',
    withBody(11, (place) => segmentWith(() => ({}))(place).replace('{', '{"epoch":7,')),
    { broken_at: 11 },
  ),
  byWriter('recipients-none', 'A segment for nobody.', withBody(11, segmentAt(KEYS.epoch(2), [])), { broken_at: 11 }, 'AUD-21'),
  byWriter(
    'recipients-17',
    'A segment for 17 readers.',
    withBody(
      11,
      segmentAt(
        KEYS.epoch(2),
        Array.from({ length: 17 }, () => READER),
      ),
    ),
    { broken_at: 11 },
    'AUD-21',
  ),
  byWriter(
    'stanza-added',
    'A body that one more can read than its segment names.',
    withBody(13, withStanza()),
    { broken_at: 13 },
    'AUD-21',
  ),
  byWriter(
    'kind-unknown',
    'A record of kind 9.',
    touched(
      13,
      head((heads) => (heads[0] = 9)),
    ),
    { broken_at: 13 },
  ),
  byWriter(
    'kind-of-a-statement',
    'A sealed record of kind 34.',
    touched(
      13,
      head((heads) => (heads[0] = 34)),
    ),
    { broken_at: 13 },
  ),
  byWriter(
    'form-unknown',
    'A frame of form 3.',
    touched(13, (frame) => (frame[5] = 3)),
    { broken_at: 13 },
  ),
  byWriter(
    'reserved-byte',
    'A reserved byte is not zero.',
    touched(
      13,
      head((heads) => (heads[3] = 1)),
    ),
    { broken_at: 13 },
  ),
  byWriter(
    'operation-in-capitals',
    'An operation id of letters that none has.',
    touched(
      13,
      head((heads) => heads.write('A', 6)),
    ),
    { broken_at: 13 },
  ),
  byWriter(
    'statement-with-operation',
    'A statement with an operation id.',
    touched(
      16,
      head((heads) => heads.write('0123456789abcdefghijklmnop', 6)),
    ),
    { broken_at: 16 },
  ),
  byWriter(
    'clock-back',
    'The clock goes back an hour at record 13.',
    (drafts) => shifted(drafts, -3_600_000),
    { clock_skew_at: [13] },
    'AUD-17',
  ),
  byWriter('clock-ahead', 'The clock goes ahead a year at record 13.', (drafts) => shifted(drafts, 365 * 86_400_000), {}, 'AUD-17'),
];

/** From the frame of records 13 to 15 on, by so many milliseconds. */
function shifted(drafts: Drafts, ms: number): Drafts {
  return drafts.map((segment, number) =>
    segment.map((draft, index) => (number > 1 || (number === 1 && index >= 2) ? { ...draft, timeMs: draft.timeMs + ms } : draft)),
  );
}
