/** The segments of a log that count, oldest first, and what of them may go. */
import type { CountedSegment, Recovered } from './recover.ts';

interface Tail {
  readonly number: number;
  readonly end: number;
}

export class CountedSegments {
  #segments: CountedSegment[];
  /** Number of the oldest one, once any was dropped; every new segment states it. 0: none was. */
  floor: number;

  constructor({ segments, floor }: Recovered) {
    this.#segments = [...segments];
    this.floor = floor;
  }

  add(segment: CountedSegment): void {
    this.#segments.push(segment);
  }

  /** With the tail's own end: of the one that is written to only the log knows it. */
  list(tail: Tail | undefined): readonly CountedSegment[] {
    return this.#segments.map((segment) => (segment.number === tail?.number ? { ...segment, end: tail.end } : segment));
  }

  /** The tail is over where it says. */
  close({ number, end }: Tail): void {
    this.#segments = this.#segments.map((segment) => (segment.number === number ? { ...segment, end } : segment));
  }

  /** All, for a log that was rewritten. */
  takeAll(): readonly CountedSegment[] {
    this.floor = 0;
    return this.#segments.splice(0);
  }

  /** Leading ones without a record from `sequence` on; `next` is the sequence of the next record of the log. */
  below(sequence: number, next: number): readonly CountedSegment[] {
    const end = this.#segments.findIndex((_, index) => (this.#segments[index + 1]?.sequence ?? next) > sequence);
    return end < 0 ? [...this.#segments] : this.#segments.slice(0, end);
  }

  takeBelow(floor: number): readonly CountedSegment[] {
    const kept = this.#segments.findIndex(({ number }) => number >= floor);
    this.floor = floor;
    return this.#segments.splice(0, kept < 0 ? this.#segments.length : kept);
  }
}
