/** The existing name a misspelled one most likely meant. */
import { closest, distance } from 'fastest-levenshtein';

/** The nearest of `names`, or nothing when none is near enough to be a slip of the hand: at most a third of the letters, at least two. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || written.length > 200) return undefined;
  const nearest = closest(
    written.toLowerCase(),
    names.map((name) => name.toLowerCase()),
  );
  const found = names.find((name) => name.toLowerCase() === nearest);
  const allowed = Math.max(2, Math.floor(written.length / 3));
  return found !== undefined && distance(written.toLowerCase(), nearest) <= allowed ? found : undefined;
}
