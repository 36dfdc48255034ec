/** One published vector: files, how they are checked, and what must come of it. */
import type { Draft, LinkedChain, Place } from './chain-draft.ts';
import { link } from './chain-draft.ts';
import { goodDrafts, keysOf, ORIGIN, SEALED, segmentAt } from './good-chain.ts';

export interface Expectation {
  /** First broken sequence. */
  readonly broken_at?: number;
  /** With the vectors' key; default: what follows from where the good chain is broken. `not checked`: no key is given. */
  readonly signature?: 'valid' | 'INVALID' | 'not checked';
  /** Signed to there, or wrong from there. */
  readonly signature_at?: number;
  readonly tail?: 'complete' | 'TRUNCATED' | 'FORK' | 'ROLLBACK' | 'not checked';
  readonly clock_skew_at?: readonly number[];
  /** Default: up to where it is broken, else 28. */
  readonly records?: number;
}

export interface Vector {
  readonly name: string;
  /** What was done, by somebody with which powers. */
  readonly about: string;
  /** Failure case. */
  readonly case?: string;
  /** Name and bytes of each file of the chain's folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Notes to hold the chain against. */
  readonly heads?: readonly string[];
  readonly expect: Expectation;
}

export const GOOD: LinkedChain = link(ORIGIN, goodDrafts());

export function segmentName(number: number): string {
  return `${String(number).padStart(10, '0')}.seg`;
}

export function filesOf(files: readonly Uint8Array[]): ReadonlyMap<string, Uint8Array> {
  return new Map(files.map((bytes, index) => [segmentName(index + 1), bytes]));
}

/** The good chain with one frame's bytes changed, and nothing worked out anew. */
export function withBytes(sequence: number, change: (frame: Buffer) => readonly Uint8Array[]): ReadonlyMap<string, Uint8Array> {
  return filesOf(
    GOOD.segments.map((frames) =>
      Buffer.concat(frames.flatMap((frame) => (frame.sequence === sequence ? change(Buffer.from(frame.bytes)) : [frame.bytes]))),
    ),
  );
}

/** One bit of the frame at `sequence` turned, at `at` from its beginning or, below zero, from its end. */
export function flipped(sequence: number, at: number, bit = 0x01): ReadonlyMap<string, Uint8Array> {
  return withBytes(sequence, (frame) => {
    const place = at < 0 ? frame.length + at : at;
    frame[place] = (frame[place] ?? 0) ^ bit;
    return [frame];
  });
}

export type Drafts = readonly (readonly Draft[])[];

/** What an attacker writes who works out every hash anew; drafts carry signatures only where he has the key. */
export function relinked(change: (drafts: Drafts) => Drafts, origin = ORIGIN): ReadonlyMap<string, Uint8Array> {
  return filesOf(link(origin, change(frozen())).files);
}

/** What the writer himself would write who does not keep to the format: everything signed as it must be. */
export function rewritten(change: (drafts: Drafts) => Drafts, origin = ORIGIN): ReadonlyMap<string, Uint8Array> {
  return filesOf(link(origin, change(goodDrafts())).files);
}

/** Drafts of the good chain whose notes are those that were signed: who has no keys cannot make others. Segment statements need none. */
function frozen(): Drafts {
  return goodDrafts().map((segment, at) =>
    segment.map((draft, index) => {
      const frame = GOOD.segments[at]?.[index];
      return frame === undefined || frame.kind === 'segment' ? draft : { ...draft, body: frame.body };
    }),
  );
}

/** Changes the frame that stands at `sequence` in the good chain: into none, one or more. */
export function at(sequence: number, change: (draft: Draft) => readonly Draft[]): (drafts: Drafts) => Drafts {
  return (drafts) =>
    drafts.map((segment, number) =>
      segment.flatMap((draft, index) => (GOOD.segments[number]?.[index]?.sequence === sequence ? change(draft) : [draft])),
    );
}

/** Another body for the frame at `sequence`. */
export function withBody(sequence: number, body: Draft['body']): (drafts: Drafts) => Drafts {
  return at(sequence, (draft) => [{ ...draft, body }]);
}

/** Changes bytes of the frame at `sequence`; its hash is worked out anew. */
export function touched(sequence: number, touch: (frame: Buffer) => void): (drafts: Drafts) => Drafts {
  return at(sequence, (draft) => [{ ...draft, touch }]);
}

/** Replaces text in the body of the frame at `sequence`, as it was in the good chain. */
export function edited(sequence: number, from: string, to: string): (drafts: Drafts) => Drafts {
  const body = Buffer.from(GOOD.segments.flat().find((frame) => frame.sequence === sequence)?.body ?? []).toString('latin1');
  if (!body.includes(from)) throw new RangeError(`${from} is not in the body at ${sequence}`);
  return withBody(sequence, Buffer.from(body.replace(from, to), 'latin1'));
}

/** Touches the heads of a frame. */
export const head = (change: (heads: Buffer) => void) => (frame: Buffer) => change(frame.subarray(64));

/** Segment statement of its place by its real key, with members of another kind. */
export function segmentWith(change: (place: Place) => object): (place: Place) => string {
  return (place) => segmentAt(keysOf(ORIGIN).epoch(place.epoch), SEALED.recipients.slice(0, 1), change(place))(place);
}

export function bodyAt(sequence: number): Uint8Array {
  return GOOD.segments.flat().find((frame) => frame.sequence === sequence)?.body ?? Buffer.alloc(0);
}

/** Last 60 characters of the signatures of a note. */
export function noteEnd(sequence: number): string {
  return Buffer.from(bodyAt(sequence)).toString('latin1').slice(-61);
}

export function byWriter(name: string, about: string, change: (drafts: Drafts) => Drafts, expect: Expectation, failure?: string): Vector {
  return {
    name,
    about: `${about} Hashes and signatures are as they must be.`,
    files: rewritten(change),
    expect,
    ...(failure ? { case: failure } : {}),
  };
}
