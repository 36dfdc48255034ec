/**
 * Ships closed segments to a store, in order, and gives back their room here once they are there.
 *
 *   closed ─▶ read, compare ─▶ put ─▶ stored ─▶ listed ─▶ its room is given back
 *               │               ├─ unavailable, unsafe ─▶ all wait, longer each time
 *               │               ├─ refused ─▶ the next ones are tried: one is stored ─▶ it was this one: poison; none ─▶ all wait
 *               └─ damaged      └─ occupied ─▶ poison: kept here, told, tried again rarely; the next ones go on
 *
 * Invariants:
 * - Nothing is given back before the store has said that it has exactly these bytes.
 * - A crash anywhere leads to the same segment being offered again, which the store then finds `present` (AUD-19): none is lost or doubled.
 * - Numbers are offered upwards, one at a time; only poison is passed.
 */
import { hash } from 'node:crypto';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ClosedSegment, ClosedSegments } from './closed-segments.ts';
import { manifestOf } from './manifest.ts';
import { PoisonedSegments, type PoisonKind } from './poison.ts';
import type { SegmentSink } from './segment-sink.ts';
import { putWithin, readClosed, type Shipment, type ShipmentEnd } from './ship-segment.ts';
import type { ShippedList } from './shipped-list.ts';

export interface ShipperOptions {
  readonly segments: ClosedSegments;
  readonly sink: SegmentSink;
  readonly list: ShippedList;
  /** Name of the chain. */
  readonly origin: string;
  readonly clock: Clock;
  /** From 0 to below 1. Default Math.random. */
  readonly random?: () => number;
  /** A segment became poison, or another kind of it. `cause` is for the log of this process alone. */
  readonly onPoison?: (segment: ClosedSegment, kind: PoisonKind, cause?: unknown) => void;
  /** It was shipped after all. */
  readonly onMended?: (segment: ClosedSegment) => void;
  /** Shipping stands still for this reason, or goes on: told when it changes. */
  readonly onFault?: (fault: Shipment | undefined, cause?: unknown) => void;
}

export interface ShippingFacts {
  /** Of the last record that is in the store; 0 before the first. */
  readonly lastShippedSequence: number;
  readonly unshippedBytes: number;
  /** Age of the oldest record that is not shipped; 0 without one. */
  readonly lagMs: number;
  /** When the store last took a segment, milliseconds since 1970. */
  readonly lastSuccessMs: number | undefined;
  readonly poisoned: number;
  readonly fault: Shipment | undefined;
}

interface Doubt {
  readonly segment: ClosedSegment;
  readonly end: ShipmentEnd;
}

export class Shipper {
  readonly #options: ShipperOptions;
  readonly #poison = new PoisonedSegments();
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #wake = () => {};
  #woken = false;
  #turns = Promise.withResolvers<void>();
  #hurried = false;
  #failures = 0;
  #fault: Shipment | undefined;
  #lastShipped: ClosedSegment | undefined;
  #lastSuccessMs: number | undefined;

  constructor(options: ShipperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  get facts(): ShippingFacts {
    const { segments, clock } = this.#options;
    const oldest = segments.oldestUnshippedMs;
    return {
      lastShippedSequence: this.#lastShipped?.lastSequence ?? 0,
      unshippedBytes: segments.unshippedBytes,
      lagMs: oldest === undefined ? 0 : Math.max(0, clock.wallMs() - oldest),
      lastSuccessMs: this.#lastSuccessMs,
      poisoned: this.#poison.size,
      fault: this.#fault,
    };
  }

  /** Closes the open segment and ships what there is, within `ms`. True when nothing but poison is left here. */
  async flush(ms: number): Promise<boolean> {
    const { clock, segments } = this.#options;
    const late = Promise.withResolvers<false>();
    const cancel = clock.alarm(ms, () => late.resolve(false));
    this.#hurried = true;
    this.start();
    try {
      // What could not be closed is not lost: the next start finds it.
      if ((await Promise.race([segments.closeSegment().catch(() => {}), late.promise])) === false) return false;
      this.#rouse();
      while (!this.#isDone()) if ((await Promise.race([this.#turns.promise, late.promise])) === false) return false;
      return true;
    } finally {
      cancel();
      this.#hurried = false;
    }
  }

  /** After the chain has ended in order: the rest is shipped, then the manifest, within `ms`; then nothing more. */
  async end(ms: number): Promise<{ readonly shipped: boolean; readonly manifest: boolean }> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + ms;
    const shipped = await this.flush(ms);
    const leftMs = untilMs - clock.monotonicMs();
    const manifest = shipped && leftMs > 0 && (await this.#putManifest(leftMs));
    await this.stop();
    return { shipped, manifest };
  }

  /** Ends what is under way; it is offered again at the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const unsubscribe = this.#options.segments.onClosed(() => {
      // A store that is away is not asked more often because more is written.
      if (this.#failures === 0) this.#rouse();
    });
    while (!this.#stopped.signal.aborted) {
      this.#woken = false;
      const restMs = await this.#turn();
      const turns = this.#turns;
      this.#turns = Promise.withResolvers<void>();
      turns.resolve();
      await this.#rest(restMs);
    }
    unsubscribe();
  }

  #rouse(): void {
    this.#woken = true;
    this.#wake();
  }

  async #rest(ms: number): Promise<void> {
    if (this.#woken || this.#stopped.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = Number.isFinite(ms) ? this.#options.clock.alarm(ms, resolve) : () => {};
    await promise;
    cancel();
  }

  /** Once through what is closed. Resolves to how long to rest if nothing happens. */
  async #turn(): Promise<number> {
    const doubts: Doubt[] = [];
    for (const segment of [...this.#options.segments.closed()]) {
      if (this.#stopped.signal.aborted) return 0;
      if (this.#poison.rests(segment.number, this.#options.clock.monotonicMs())) continue;
      const end = await this.#ship(segment);
      if (!this.#judge({ segment, end }, doubts)) return this.#backOff(end);
      // One more is tried after each failure, so that no row of poison is too long.
      if (doubts.length > this.#failures + 1) break;
    }
    if (doubts[0] !== undefined) return this.#backOff(doubts[0].end);
    this.#tellFault(undefined);
    return this.#poison.nextMs(this.#options.clock.monotonicMs());
  }

  /** False where the next one needs not be tried. `doubts`: those before it that may be poison. */
  #judge(shipped: Doubt, doubts: Doubt[]): boolean {
    switch (shipped.end.shipment) {
      case 'stored':
        for (const doubt of doubts.splice(0)) this.#condemn(doubt);
        this.#succeed(shipped.segment);
        return true;
      case 'occupied':
      case 'damaged':
        this.#condemn(shipped);
        return true;
      case 'refused':
      case 'unreadable':
        if (this.#poison.has(shipped.segment.number)) this.#condemn(shipped);
        else doubts.push(shipped);
        return true;
      default:
        return false;
    }
  }

  async #ship(segment: ClosedSegment): Promise<ShipmentEnd> {
    const { segments, sink, list, clock } = this.#options;
    const bytes = await readClosed(segments, segment);
    if (!Buffer.isBuffer(bytes)) return bytes;
    if (segment.number === 1) await list.began(segment.openedMs);
    const object = { ...segment, kind: 'segment', bytes, chainBeganMs: list.beganMs ?? segment.openedMs } as const;
    const end = await putWithin(sink, object, { clock, ms: limits.auditShipMs, stop: this.#stopped.signal });
    if (end.shipment !== 'stored') return end;
    await list.add(segment);
    try {
      await segments.shipped(segment);
      return end;
    } catch (cause) {
      // It is offered again, and found present.
      return { shipment: 'unavailable', cause };
    }
  }

  #succeed(segment: ClosedSegment): void {
    // What was closed while the store was away roused nobody, and this turn may not have it on its list.
    if (this.#failures > 0) this.#woken = true;
    this.#failures = 0;
    this.#lastSuccessMs = this.#options.clock.wallMs();
    if (segment.number > (this.#lastShipped?.number ?? 0)) this.#lastShipped = segment;
    if (this.#poison.clear(segment.number)) this.#options.onMended?.(segment);
    this.#tellFault(undefined);
  }

  #condemn({ segment, end: { shipment, cause } }: Doubt): void {
    const kind = POISONS[shipment];
    if (kind !== undefined && this.#poison.mark(segment.number, kind, this.#options.clock.monotonicMs()))
      this.#options.onPoison?.(segment, kind, cause);
  }

  #tellFault(fault: Shipment | undefined, cause?: unknown): void {
    if (fault === undefined) this.#failures = 0;
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#options.onFault?.(fault, cause);
  }

  #backOff({ shipment, cause }: ShipmentEnd): number {
    const { random = Math.random } = this.#options;
    this.#failures += 1;
    this.#tellFault(shipment, cause);
    const doublings = this.#hurried ? 0 : Math.min(this.#failures - 1, 30);
    return Math.min(limits.auditShipRetryMsMax, limits.auditShipRetryMsMin * 2 ** doublings) * (0.5 + random() / 2);
  }

  #isDone(): boolean {
    return this.#options.segments.closed().every(({ number }) => this.#poison.has(number));
  }

  async #putManifest(ms: number): Promise<boolean> {
    const { segments, sink, list, origin, clock } = this.#options;
    const known = [...(await list.segments()), ...segments.closed(), ...(this.#lastShipped === undefined ? [] : [this.#lastShipped])];
    const manifest = manifestOf(origin, known);
    if (manifest === undefined) return false;
    const chainBeganMs = list.beganMs ?? this.#lastShipped?.openedMs ?? clock.wallMs();
    const object = { ...manifest, kind: 'manifest', number: 0, sha256: hash('sha256', manifest.bytes, 'buffer'), chainBeganMs } as const;
    return (await putWithin(sink, object, { clock, ms, stop: this.#stopped.signal })).shipment === 'stored';
  }
}

const POISONS: Readonly<Partial<Record<Shipment, PoisonKind>>> = {
  occupied: 'occupied',
  damaged: 'damaged',
  refused: 'refused',
  unreadable: 'unreadable',
};
