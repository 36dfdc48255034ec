/** Damage without any power: bits, frames and files changed, moved, cut, and no hash worked out anew. */
import { link } from './chain-draft.ts';
import { goodDrafts, keysOf, ORIGIN, OTHER_ORIGIN, SEALED } from './good-chain.ts';
import { filesOf, flipped, GOOD, segmentName, type Vector, withBytes } from './vector.ts';

const FIELDS: readonly (readonly [field: string, at: number])[] = [
  ['magic', 0],
  ['version', 4],
  ['form', 5],
  ['count', 6],
  ['sequence', 8],
  ['sequence-high', 15],
  ['epoch', 16],
  ['length', 20],
  ['length-high', 23],
  ['time', 24],
  ['previous', 32],
  ['kind', 64],
  ['reserved', 65],
  ['operation', 70],
  ['second-head', 96],
  ['body', 64 + 3 * 32],
  ['body-end', -33],
  ['hash', -32],
];

const STATEMENTS: readonly (readonly [what: string, sequence: number, at: number])[] = [
  ['segment-statement', 11, 96 + 10],
  ['checkpoint-text', 16, 96 + 30],
  ['checkpoint-signature', 16, -40],
  ['certificate', 3, 96 + 40],
  ['receipt', 6, -40],
  ['end', 9, 96 + 4],
  ['first-frame', 1, 200],
  ['last-frame', 28, 96 + 5],
  ['origin-hash', 1, 40],
];

const [one = Buffer.alloc(0), two = Buffer.alloc(0), three = Buffer.alloc(0), four = Buffer.alloc(0)] = GOOD.files;
const OTHER = link(OTHER_ORIGIN, goodDrafts(OTHER_ORIGIN, keysOf(OTHER_ORIGIN))).files;
/** The same chain, by the same keys, that took another way at record 4. */
const FORK = link(ORIGIN, goodDrafts(ORIGIN, keysOf(ORIGIN), 'two'));
const FORKED = FORK.files;

/** Frames of a segment by sequence, in another order or number. */
function frames(segment: number, sequences: readonly number[]): Buffer {
  const there = GOOD.segments[segment - 1] ?? [];
  return Buffer.concat(sequences.map((sequence) => there.find((frame) => frame.sequence === sequence)?.bytes ?? Buffer.alloc(0)));
}

function vector(name: string, about: string, files: readonly Uint8Array[], broken_at: number, failure?: string): Vector {
  return { name, about, files: filesOf(files), expect: { broken_at }, ...(failure ? { case: failure } : {}) };
}

function named(entries: readonly (readonly [number, Uint8Array])[]): ReadonlyMap<string, Uint8Array> {
  return new Map(entries.map(([number, bytes]) => [segmentName(number), bytes]));
}

function written(sequence: number, write: (frame: Buffer) => void): ReadonlyMap<string, Uint8Array> {
  return withBytes(sequence, (frame) => {
    write(frame);
    return [frame];
  });
}

export const DAMAGED_BYTES: readonly Vector[] = [
  ...FIELDS.map(([field, place]): Vector => {
    const about = `One bit turned in ${field} of the sealed frame of records 13 to 15.`;
    return { name: `flip-${field}`, about, case: 'AUD-12', files: flipped(13, place), expect: { broken_at: 13 } };
  }),
  ...STATEMENTS.map(([what, sequence, place]): Vector => {
    const about = `One bit turned in the ${what.replaceAll('-', ' ')}, record ${sequence}.`;
    return { name: `flip-${what}`, about, case: 'AUD-12', files: flipped(sequence, place), expect: { broken_at: sequence } };
  }),
  vector('frame-dropped-first', 'The first frame taken out.', [frames(1, [2, 3, 4, 6, 7, 8, 9, 10]), two, three, four], 1, 'AUD-01b'),
  vector('frame-dropped-middle', 'Records 13 to 15 taken out.', [one, frames(2, [11, 12, 16]), three, four], 13, 'AUD-01'),
  vector('frames-swapped', 'Records 13 to 15 and 16 changed places.', [one, frames(2, [11, 12, 16, 13]), three, four], 13),
  vector('frame-doubled', 'Records 13 to 15 twice.', [one, frames(2, [11, 12, 13, 13, 16]), three, four], 16),
  vector(
    'frame-moved-between-segments',
    'Record 18 moved to the segment before.',
    [one, Buffer.concat([two, frames(3, [18])]), three, four],
    17,
  ),
  vector('segment-dropped-first', 'The first segment taken away.', [two, three, four], 1, 'AUD-01b'),
  vector('segment-dropped-middle', 'The second segment taken away.', [one, three, four], 11, 'AUD-01'),
  vector('segment-cut-at-a-frame', 'The last frame of the second segment taken away.', [one, frames(2, [11, 12, 13]), three, four], 16),
  vector('segment-cut-in-a-frame', 'Ten bytes cut from the second segment.', [one, two.subarray(0, -10), three, four], 16),
  vector('segment-empty', 'A segment without a byte.', [one, two, Buffer.alloc(0), four], 17),
  vector(
    'segment-with-a-rest',
    'Four bytes behind the last frame of the second segment.',
    [one, Buffer.concat([two, Buffer.from('rest')]), three, four],
    17,
  ),
  vector(
    'last-segment-with-a-rest',
    'Four bytes behind the last frame.',
    [one, two, three, Buffer.concat([four, Buffer.from('rest')])],
    29,
  ),
  vector('epoch-missing', 'Both segments of epoch 2 taken away.', [one, four], 11, 'AUD-05'),
  vector('spliced-other-chain', 'The second segment of another chain.', [one, OTHER[1] ?? two, three, four], 11, 'AUD-03'),
  vector(
    'spliced-fork',
    'The second segment of a fork of this chain, by the same keys.',
    [one, FORKED[1] ?? two, three, four],
    11,
    'AUD-16',
  ),
  vector(
    'spliced-tail-of-fork',
    'The last segment of a fork of this chain, by the same keys.',
    [one, two, three, FORKED[3] ?? four],
    19,
    'AUD-16',
  ),
  vector(
    'plain-text',
    'A file of something else under the name of a segment.',
    [Buffer.from('{"record":"refused"}\n'.repeat(20)), two, three, four],
    1,
    'AUD-06',
  ),
  vector('short-file', 'The first segment cut to ten bytes.', [one.subarray(0, 10), two, three, four], 1),
  {
    name: 'spliced-frame-of-fork',
    about: 'Records 13 to 15 of a fork of this chain, whole by themselves, in place of its own.',
    case: 'AUD-16',
    files: withBytes(13, () => FORK.segments.flatMap((there) => there.filter(({ sequence }) => sequence === 13).map(({ bytes }) => bytes))),
    expect: { broken_at: 13 },
  },
  {
    name: 'length-2-32-1',
    about: 'A body of 2^32-1 bytes is claimed.',
    case: 'AUD-22',
    files: written(13, (frame) => frame.writeUInt32LE(0xffff_ffff, 20)),
    expect: { broken_at: 13 },
  },
  {
    name: 'count-65535',
    about: '65,535 records are claimed.',
    case: 'AUD-22',
    files: written(13, (frame) => frame.writeUInt16LE(0xffff, 6)),
    expect: { broken_at: 13 },
  },
  {
    name: 'sequence-2-63',
    about: 'The sequence 2^63 is claimed.',
    case: 'AUD-22',
    files: written(13, (frame) => frame.writeBigUInt64LE(2n ** 63n, 8)),
    expect: { broken_at: 13 },
  },
  {
    name: 'segment-doubled',
    about: 'The second segment twice, under another name.',
    files: named([...GOOD.files.map((bytes, index) => [index + 1, bytes] as const), [9, two]]),
    expect: { broken_at: 17 },
  },
  {
    name: 'segments-renamed',
    about: 'Names of the second and the third segment changed: names prove nothing, and break nothing.',
    files: named([
      [1, one],
      [3, two],
      [2, three],
      [4, four],
    ]),
    expect: {},
  },
  {
    name: 'manifest-cyclic',
    about: 'The chain is whole; the manifest beside it names itself and a segment that never was: no verdict depends on it.',
    case: 'AUD-22',
    files: new Map<string, Uint8Array>([
      ...filesOf(GOOD.files),
      [
        'manifest-0000000000000099.json',
        Buffer.from(
          `{"format":"postern-audit-manifest/1","origin":"${ORIGIN}","segments":["manifest-0000000000000099.json"],"ended":true}`,
        ),
      ],
      ['recipients.txt', Buffer.from(`${SEALED.recipients.join('\n')}\n`)],
    ]),
    expect: {},
  },
];
