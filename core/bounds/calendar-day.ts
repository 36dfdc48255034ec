/** Days as contracts write them, in UTC. A warning holds through its day: compiler, sidecar, operator and command line ask here, so that none counts otherwise. */

/** The day as milliseconds since 1970 at its first moment in UTC, or nothing when it is not `YYYY-MM-DD` of the calendar. */
export function parseDay(text: string): number | undefined {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : undefined;
}

/** The first moment after the day, or nothing as in `parseDay`. */
export function endOfDay(text: string): number | undefined {
  const start = parseDay(text);
  return start === undefined ? undefined : start + DAY_MS;
}

export const DAY_MS = 86_400_000;
