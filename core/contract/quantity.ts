/**
 * Durations (`500ms`, `20s`, `5m`, `1h`) and sizes (`8Mi`) of the contract language.
 */

const DURATION = /^(0|[1-9][0-9]{0,8})(ms|s|m|h)$/;
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds, or nothing when the text is no duration. One number and one unit: `1m30s` is `90s`. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  const unit = MILLISECONDS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

const SIZE = /^(0|[1-9][0-9]{0,11})(Ki|Mi|Gi)?$/;
const BYTES: Readonly<Record<string, number>> = { '': 1, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 };

/** Bytes, or nothing when the text is no size. Powers of two only, as in Kubernetes' memory quantities. */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text);
  const unit = BYTES[match?.[2] ?? ''];
  if (match === null || unit === undefined) return undefined;
  const bytes = Number(match[1]) * unit;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
