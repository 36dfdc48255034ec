/**
 * A request to the API server that failed. The message is a sentence of our own, followed by the API server's `message`, which is
 * sanitized and cut: webhooks of other people write into it.
 */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';

/** Reasons of our own, beside those of Kubernetes (`NotFound`, `Conflict`, `Expired`, ...). */
export type OwnReason = 'Unreachable' | 'TimedOut' | 'AnswerTooLarge' | 'Unreadable' | 'Unauthorized' | 'OtherUid' | 'Unknown';

export interface KubeErrorOptions {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `reason` of the API server's Status, or one of ours. */
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class KubeError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: KubeErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KubeError';
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Another try may succeed without anybody changing anything. */
  get transient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function isKubeError(error: unknown, status?: number): error is KubeError {
  return error instanceof KubeError && (status === undefined || error.status === status);
}

/**
 * There is no object of this name, or it is another one than the patch named by `metadata.uid`: for that a real API server answers 422,
 * "field is immutable", and not 409 (failure case OPR-10).
 */
export function isGone(error: unknown): boolean {
  return isKubeError(error, 404) || (isKubeError(error) && error.reason === 'OtherUid');
}

/** The Status object of an answer that is not 2xx. Text that is no Status is not repeated: it may be a proxy's page. */
export function kubeErrorOf(what: string, status: number, text: string, retryAfterMs?: number): KubeError {
  const { reason, message } = statusIn(text);
  const theirs = message === undefined ? '' : `: ${visibleText(message, { chars: limits.kubeMessageCharsMax })}`;
  return new KubeError(`The API server answered ${status} when asked to ${what}${theirs}`, {
    status,
    reason: reason ?? REASON_BY_STATUS[status] ?? 'Unknown',
    retryAfterMs,
  });
}

const REASON_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Gone',
  422: 'Invalid',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
};

function statusIn(text: string): { readonly reason?: string; readonly message?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {}; // plain text or HTML: not the API server's own answer
  }
  if (typeof value !== 'object' || value === null) return {};
  const { kind, reason, message, code, details } = value as Readonly<Record<string, unknown>>;
  if (kind !== 'Status') return {};
  return {
    ...(typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) && { reason }),
    ...(code === 422 && isAboutUid(details) && { reason: 'OtherUid' }),
    ...(typeof message === 'string' && message !== '' && { message }),
  };
}

function isAboutUid(details: unknown): boolean {
  const causes = typeof details === 'object' && details !== null && 'causes' in details ? details.causes : undefined;
  return Array.isArray(causes) && causes.length > 0 && causes.every((cause) => cause?.field === 'metadata.uid');
}
