/**
 * Cursors: a walk in the middle, sealed so that the agent can carry it and neither read nor change it.
 *
 * - Bound by authenticated context to session, action, revision and arguments: an edited or foreign cursor does not
 *   open (failure case APR-17).
 * - Carries the whole walk - sticky reasons and warnings, counts, snapshot, ids - so that `complete` speaks for the walk
 *   from its first page.
 * - Expires by its own clock, which is at most the contract's `cursor.ttl`. Format: sidecar/cursor/FORMAT.md.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { SourceWalk } from '#core/completeness/walk.ts';
import type { Sealer } from '#core/encoding/seal.ts';
import { PosternError } from '#core/error/postern-error.ts';

export interface CursorContext {
  readonly action: string;
  readonly revision: string;
  readonly argsDigest: string;
}

export interface WalkSoFar {
  readonly walks: readonly SourceWalk[];
  /** Calls that made the walk so far. */
  readonly calls: number;
}

export interface OpenedCursor extends WalkSoFar {
  /** Past its time: nothing is asked with it, and the walk it carries tells how it ends. */
  readonly expired: boolean;
}

interface Content extends WalkSoFar {
  readonly v: 1;
  /** Wall-clock milliseconds. */
  readonly expires: number;
}

export interface SealedCursor {
  readonly cursor: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

export class Cursors {
  readonly #sealer: Sealer;
  readonly #session: string;
  readonly #clock: Clock;

  constructor(sealer: Sealer, session: string, clock: Clock) {
    this.#sealer = sealer;
    this.#session = session;
    this.#clock = clock;
  }

  /** Throws LIMIT_EXCEEDED when the walk is too large to be carried: a cursor that cannot come back is no way on. */
  seal(walk: WalkSoFar, context: CursorContext, ttlMs: number): SealedCursor {
    const expires = this.#clock.wallMs() + ttlMs;
    const content: Content = { v: 1, expires, ...walk };
    const packed = deflateRawSync(JSON.stringify(content)).toString('base64');
    const cursor = this.#sealer.seal(packed, this.#bound(context));
    if (cursor.length > limits.cursorBytesMax) {
      throw new PosternError('LIMIT_EXCEEDED', 'The state of this walk is too large to be carried in a cursor; ask a narrower question.', {
        details: { limit: 'cursor_bytes', value: String(limits.cursorBytesMax) },
      });
    }
    return { cursor, expiresAt: new Date(expires).toISOString() };
  }

  /** Throws CURSOR_INVALID for anything this session did not seal for this very call. */
  open(cursor: string, context: CursorContext): OpenedCursor {
    const packed = this.#sealer.open(cursor, this.#bound(context));
    if (packed === null) {
      throw new PosternError(
        'CURSOR_INVALID',
        'This cursor belongs to another session, contract revision or set of arguments. Call again without it.',
      );
    }
    // Authenticated by us, so it is ours and well formed; the cap still holds against a bug.
    const text = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: limits.cursorContentBytesMax }).toString('utf8');
    const content: Content = JSON.parse(text);
    if (content.v !== 1)
      throw new PosternError('CURSOR_INVALID', 'This cursor was made by another version of Postern. Call again without it.');
    return { walks: content.walks, calls: content.calls, expired: content.expires <= this.#clock.wallMs() };
  }

  #bound(context: CursorContext): string {
    return JSON.stringify([this.#session, context.action, context.revision, context.argsDigest]);
  }
}
