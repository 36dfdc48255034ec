/**
 * The one error type. Operating failures throw it; expected alternatives are
 * returned as values; bugs are `assert` and end the process.
 *
 * Invariant: `message`, `fields` and `details` are our own words. Text of the
 * remote, of a library or of the runtime goes only into `cause`, which never
 * leaves the process (failure cases LEAK-01, LEAK-02).
 */
import { REASONS, type Reason } from './reasons.ts';

/** One broken rule of the arguments: RFC 6901 path, machine word, sentence with the cure. */
export interface FieldViolation {
  readonly path: string;
  /** Closed word such as `duplicate_key`, `unsafe_integer`, `dot_segment`. */
  readonly rule: string;
  readonly message: string;
}

/** How far an operation got that changes the world, for whoever asked for it. */
export interface OperationFacts {
  /** Name of the question that waits for a person. */
  readonly approval?: string;
  /** Its text, every part of it cleaned. */
  readonly card?: string;
  readonly cardDigest?: string;
  /** RFC 3339; the question is not answered after it. */
  readonly expiresAt?: string;
  /** How many targets of an effect on several came to which end. */
  readonly targets?: { readonly done: number; readonly refused: number; readonly untouched: number; readonly unknown: number };
}

export interface PosternErrorOptions {
  readonly cause?: unknown;
  readonly requestId?: string;
  readonly operationId?: string;
  readonly retryAfterMs?: number;
  readonly fields?: readonly FieldViolation[];
  /** Facts for machines; values are short and of our own making. */
  readonly details?: Readonly<Record<string, string>>;
  /** The completeness envelope that goes with the error, as JSON (design 5: "Errors carry one too"). */
  readonly completeness?: unknown;
  readonly operation?: OperationFacts;
}

export class PosternError extends Error {
  readonly reason: Reason;
  readonly requestId: string | undefined;
  readonly operationId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly fields: readonly FieldViolation[];
  readonly details: Readonly<Record<string, string>>;
  readonly completeness: unknown;
  readonly operation: OperationFacts | undefined;

  constructor(reason: Reason, message: string, options: PosternErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PosternError';
    this.reason = reason;
    this.requestId = options.requestId;
    this.operationId = options.operationId;
    this.retryAfterMs = options.retryAfterMs;
    this.fields = options.fields ?? [];
    this.details = options.details ?? {};
    this.completeness = options.completeness;
    this.operation = options.operation;
  }

  get retryable(): boolean {
    return REASONS[this.reason].retryable;
  }

  /** The same error with the ids of its call; an id it has already stays. */
  forCall(ids: { readonly requestId: string; readonly operationId?: string }): PosternError {
    const { message, cause, fields, details, completeness, operation, retryAfterMs } = this;
    const operationId = this.operationId ?? ids.operationId;
    return new PosternError(this.reason, message, {
      cause,
      fields,
      details,
      completeness,
      requestId: this.requestId ?? ids.requestId,
      ...(operationId === undefined ? {} : { operationId }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(operation === undefined ? {} : { operation }),
    });
  }

  /** Any thrown value as a PosternError; what is not ours becomes INTERNAL with a fixed sentence. */
  static from(thrown: unknown): PosternError {
    if (thrown instanceof PosternError) return thrown;
    return new PosternError('INTERNAL', 'Postern met an unexpected fault; the cause is in its own log.', { cause: thrown });
  }
}
