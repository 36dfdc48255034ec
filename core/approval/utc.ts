/** Times as a card says them: the same for every reader, wherever the process runs. */

/** `2026-11-30 15:00:00 UTC`. Takes any number: facts come from outside. */
export function utc(ms: number): string {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return 'an impossible time';
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `4 min`, `12 h`, `90 s`: a length of time, rounded down to what a person compares. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
