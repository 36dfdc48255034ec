/** The closed segments of a chain, in memory; they outlive the shipper, as those on a disk outlive a process. */
import { hash } from 'node:crypto';
import type { ClosedSegment, ClosedSegments } from '#sidecar/audit/closed-segments.ts';

export class MemorySegments implements ClosedSegments {
  /** What this disk gives for a segment, where it is not what was closed; an error is thrown. */
  readonly damaged = new Map<number, Buffer | Error>();
  /** Numbers given back, in order. */
  readonly givenBack: number[] = [];
  /** Hears each number before it is given back. */
  onShipped: (segment: ClosedSegment) => void = () => {};
  /** Closed by `closeSegment`, if any. */
  open: string | undefined;
  readonly #kept = new Map<number, { readonly segment: ClosedSegment; readonly bytes: Buffer }>();
  readonly #listeners = new Set<() => void>();
  #sequence = 1;
  #number = 1;

  close(text: string, openedMs = 0): ClosedSegment {
    const bytes = Buffer.from(text);
    const number = this.#number;
    const segment = {
      number,
      firstSequence: this.#sequence,
      lastSequence: this.#sequence + 9,
      bytes: bytes.length,
      sha256: hash('sha256', bytes, 'buffer'),
      openedMs,
    };
    this.#number += 1;
    this.#sequence += 10;
    this.#kept.set(number, { segment, bytes });
    for (const listener of this.#listeners) listener();
    return segment;
  }

  closed = () => [...this.#kept.values()].map(({ segment }) => segment);

  read = async ({ number }: ClosedSegment) => {
    const given = this.damaged.get(number) ?? this.#kept.get(number)?.bytes;
    if (!Buffer.isBuffer(given)) throw given ?? new Error(`segment ${number} was given back`);
    return given;
  };

  shipped = async (segment: ClosedSegment) => {
    this.onShipped(segment);
    this.givenBack.push(segment.number);
    this.#kept.delete(segment.number);
  };

  onClosed = (listener: () => void) => {
    this.#listeners.add(listener);
    if (this.#kept.size > 0) listener();
    return () => void this.#listeners.delete(listener);
  };

  closeSegment = async () => {
    if (this.open !== undefined) this.close(this.open);
    this.open = undefined;
  };

  get unshippedBytes(): number {
    return this.closed().reduce((bytes, segment) => bytes + segment.bytes, this.open?.length ?? 0);
  }

  get oldestUnshippedMs(): number | undefined {
    return this.closed()[0]?.openedMs;
  }
}
