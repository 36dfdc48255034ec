import { limits } from '#core/bounds/limits.ts';

/** Names for a sentence: at most limits.conditionNamesMax, and how many more there are. */
export function nameList(all: readonly string[], separator = ', '): string {
  const kept = all.slice(0, limits.conditionNamesMax);
  const more = all.length - kept.length;
  return `${kept.join(separator)}${more === 0 ? '' : ` and ${more} more`}`;
}
