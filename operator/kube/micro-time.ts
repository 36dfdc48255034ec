/** Kubernetes' MicroTime: RFC 3339 with six digits of fraction, no more and no fewer (failure case OPR-17). */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
}

/** Kubernetes' Time, as in conditions: whole seconds. */
export function secondTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
