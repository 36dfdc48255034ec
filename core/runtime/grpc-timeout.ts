/**
 * The `grpc-timeout` header (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, "Timeout"): at most
 * eight digits and a unit. The library under us wraps large values to negative ones, which fail at once, so the
 * header is rewritten before it sees it (GRPC-10).
 */
const TIMEOUT = /^([0-9]{1,8})([HMSmun])$/;
const MILLISECONDS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Milliseconds the caller waits, at least 1 and at most `msMax`. A value that is too large or unreadable is `msMax`:
 * the contract's own time then bounds the call. No header: undefined.
 */
export function clampedTimeoutMs(header: string | undefined, msMax: number): number | undefined {
  if (header === undefined) return undefined;
  const match = TIMEOUT.exec(header);
  const unit = MILLISECONDS[match?.[2] ?? ''];
  if (match === null || unit === undefined) return msMax;
  return Math.min(Math.max(Math.ceil(Number(match[1]) * unit), 1), msMax);
}
