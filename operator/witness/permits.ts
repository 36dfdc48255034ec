/**
 * What one session puts into the store: segments of its own chain, one at a time, and after the last one a manifest. The sidecar gets a link
 * for exactly these bytes under exactly this name, and no credential; what it says it has stored counts when the store says so too.
 *
 * A number may be skipped: a segment that its disk has lost must not keep all later ones from the store. Whoever skips harms its own chain
 * alone, whose gap `verify` names; the one that is missing is permitted whenever it comes. Bytes and rate are bounded all the same.
 *
 *   stored  1 2 . 4 5     shipped: 2, up to which nothing is missing, as it stands in status; ahead: 4, 5
 *   stored  1 2 3 4 5     shipped: 5
 *
 * Numbers go on where the last replica left them in status. Where that is behind - it died between the upload and its word, or knew of a gap -
 * the store itself tells what is there, since each object was put by a permit of ours.
 */
import { manifestObject, segmentObject } from '#core/audit/object-name.ts';
import { StoreFault } from '#core/audit/object-store.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { PresignedPut } from '#core/runtime/s3-objects.ts';
import type { Allowance } from './allowances.ts';
import type { ReadBack } from './read-back.ts';
import { STORE_CURES, type StoreWatch } from './store-watch.ts';

export interface AskedUpload {
  readonly object: 'segment' | 'manifest';
  /** From 1; 0 for a manifest. */
  readonly number: number;
  readonly bytes: number;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly stored: boolean;
}

/** Up to where the store has all of the chain; 0 and 0 before its first segment. */
export interface Shipped {
  readonly segments: number;
  /** Of the last record in them; 0 where only the store knows it. */
  readonly sequence: number;
}

export type PermitRefusedBecause = 'malformed' | 'not_next' | 'too_much' | 'occupied' | 'not_stored' | 'store';

export type PermitVerdict =
  | { readonly kind: 'permit'; readonly put: PresignedPut }
  /** `shipped`: it has grown. `stored`: this segment was not known to be in the store. */
  | { readonly kind: 'present'; readonly stored: boolean; readonly shipped?: Shipped }
  | { readonly kind: 'refused'; readonly because: PermitRefusedBecause; readonly message: string };

export interface PermitMeans {
  readonly clock: Clock;
  readonly watch: StoreWatch;
  readonly readBack: ReadBack;
  readonly allowance: Allowance;
  /** Of the chain in the store, with `/` at its end. */
  readonly folder: string;
}

export class Permits {
  readonly #means: PermitMeans;
  #shipped: Shipped;
  /** The last sequence of segments behind a gap, by number; 0 where only the store knows it. */
  readonly #ahead = new Map<number, number>();
  /** More is ahead than is kept here. */
  #forgot = false;
  /** Whether the store was asked what is there. */
  #caughtUp = false;
  /** What was permitted last and may be there by now, as number and digest. */
  #permitted = '';

  constructor(means: PermitMeans, shipped: Shipped) {
    this.#means = means;
    this.#shipped = shipped;
  }

  /** The first that is missing. */
  get next(): number {
    return this.#shipped.segments + 1;
  }

  /** One at a time. Never rejects. */
  async ask(upload: AskedUpload): Promise<PermitVerdict> {
    const { watch } = this.#means;
    if (watch.state !== 'safe') return refused('store', STORE_CURES[watch.state]);
    if (!isUpload(upload)) return refused('malformed', 'That is no object of a chain: see its number, length, digest and sequences.');
    try {
      if (upload.object === 'manifest') return await this.#askManifest(upload);
      if (upload.number > this.next) await this.#catchUp();
      return await this.#askSegment(upload);
    } catch (error) {
      if (error instanceof StoreFault) return refused(error.kind === 'occupied' ? 'occupied' : 'store', error.message);
      throw error;
    }
  }

  async #askSegment(upload: AskedUpload): Promise<PermitVerdict> {
    const { number, firstSequence } = upload;
    const name = `${this.#means.folder}${segmentObject(number)}`;
    if (number < this.next) return this.#judgeStored(upload, name);
    const before = number === this.next ? this.#shipped.sequence : (this.#ahead.get(number - 1) ?? 0);
    if (before > 0 && firstSequence !== before + 1)
      return refused('not_next', `Segment ${number} of this chain begins with sequence ${before + 1}.`);
    if (number === 1 && firstSequence !== 1) return refused('not_next', 'The first segment of a chain begins with sequence 1.');
    // Each segment that is not there has a frame at least.
    const least = this.#shipped.sequence + 1 + (number - this.next);
    if (firstSequence < least) return refused('not_next', `Segment ${number} of this chain begins with sequence ${least} or a later one.`);
    return this.#permit(upload, name);
  }

  async #askManifest(upload: AskedUpload): Promise<PermitVerdict> {
    const { sequence } = this.#shipped;
    const last = Math.max(sequence, ...this.#ahead.values());
    // It also lists what is missing, if that was the last.
    const fits = this.#ahead.size === 0 && sequence > 0 ? upload.lastSequence === last : upload.lastSequence >= last;
    if (!fits) return refused('not_next', `The manifest comes after the last segment; what is stored ends with sequence ${last}.`);
    return this.#permit(upload, `${this.#means.folder}${manifestObject(upload.lastSequence)}`);
  }

  /** First a permit, without a look at the store: nearly always nothing is there, and where something is the store says 412. */
  async #permit(upload: AskedUpload, name: string): Promise<PermitVerdict> {
    const { watch, allowance } = this.#means;
    const object = { name, bytes: upload.bytes, sha256: upload.sha256 };
    const asked = `${name} ${Buffer.from(upload.sha256).toString('hex')}`;
    if (upload.stored || this.#permitted !== '' || this.#ahead.has(upload.number)) {
      const found = await this.#means.readBack.look(object);
      if (found === 'same') return this.#present(upload);
      if (found === 'other') return OCCUPIED;
      if (upload.stored) return refused('not_stored', 'The store does not have this object; put it there with a permit.');
    }
    // The same object again costs nothing: a link that ran out, a connection that broke.
    if (this.#permitted !== asked && !allowance.takeSegment(upload.bytes))
      return refused('too_much', 'This session stores more than its share; it goes on at a slower pace.');
    this.#permitted = asked;
    return { kind: 'permit', put: await watch.store.presign(object, limits.auditPermitMs) };
  }

  #present({ object, number, lastSequence }: AskedUpload): PermitVerdict {
    this.#permitted = '';
    if (object === 'manifest') return { kind: 'present', stored: false };
    const stored = !this.#ahead.has(number);
    if (number !== this.next) {
      this.#note(number, lastSequence);
      return { kind: 'present', stored };
    }
    this.#shipped = { segments: number, sequence: lastSequence };
    const shipped = this.#closeGap();
    return { kind: 'present', stored, shipped };
  }

  async #judgeStored({ bytes, sha256, lastSequence, number }: AskedUpload, name: string): Promise<PermitVerdict> {
    const found = await this.#means.readBack.look({ name, bytes, sha256 });
    if (found !== 'same') return OCCUPIED;
    if (number !== this.#shipped.segments || this.#shipped.sequence > 0) return { kind: 'present', stored: false };
    this.#shipped = { segments: number, sequence: lastSequence };
    return { kind: 'present', stored: true, shipped: this.#shipped };
  }

  #note(number: number, lastSequence: number): void {
    if (this.#ahead.size < limits.auditAheadSegmentsMax || this.#ahead.has(number)) this.#ahead.set(number, lastSequence);
    else this.#forgot = true;
  }

  /** The last of what is stored without a gap whose sequence is known. */
  #closeGap(): Shipped {
    let known = this.#shipped;
    for (let sequence = this.#ahead.get(this.next); sequence !== undefined; sequence = this.#ahead.get(this.next)) {
      this.#ahead.delete(this.next);
      this.#shipped = { segments: this.next, sequence };
      if (sequence > 0) known = this.#shipped;
    }
    if (this.#forgot && this.#ahead.size === 0) this.#caughtUp = this.#forgot = false;
    return known;
  }

  /** Once for each stream, and again after a gap behind which more was stored than is remembered: nobody lists at each segment. */
  async #catchUp(): Promise<void> {
    if (this.#caughtUp) return;
    const { watch, folder } = this.#means;
    let looked = 0;
    for await (const { name } of watch.store.list(folder)) {
      looked += 1;
      if (looked > limits.auditListedNamesMax) break;
      const number = Number(SEGMENT.exec(name.slice(folder.length))?.[1] ?? 0);
      if (number >= this.next && !this.#ahead.has(number)) this.#note(number, 0);
    }
    this.#closeGap();
    this.#caughtUp = true;
  }
}

const SEGMENT = /^([0-9]{10})\.seg$/;
const OCCUPIED = refused('occupied', 'The store has other bytes under the name of this object; keep both and find out who wrote them.');
const SHA256_BYTES = 32;

function isUpload({ object, number, bytes, sha256, firstSequence, lastSequence }: AskedUpload): boolean {
  const counts = [number, bytes, firstSequence, lastSequence].every((count) => Number.isSafeInteger(count) && count >= 0);
  const bytesMax = object === 'segment' ? limits.auditSegmentFileBytesMax : limits.auditManifestBytesMax;
  const isNumber = object === 'segment' ? number >= 1 && number <= NUMBER_MAX : number === 0;
  const isRange = firstSequence >= 1 && lastSequence >= firstSequence;
  return counts && isNumber && isRange && bytes >= 1 && bytes <= bytesMax && sha256.length === SHA256_BYTES;
}

/** What its name has room for. */
const NUMBER_MAX = 9_999_999_999;

function refused(because: PermitRefusedBecause, message: string): Extract<PermitVerdict, { kind: 'refused' }> {
  return { kind: 'refused', because, message };
}
