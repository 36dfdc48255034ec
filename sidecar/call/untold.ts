/**
 * What an earlier process may have left untold when it died: whoever decides would hold equal calls back, and ask a person about what the
 * journal knows.
 */
import { limits } from '#core/bounds/limits.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import { type EffectMeans, endOf } from './execute.ts';

/** Tells what became of them, again where it was told before. Gives those whose outcome is not known. */
export function tellUntold({ journal, decider }: Pick<EffectMeans, 'journal' | 'decider'>): readonly string[] {
  const unknown: string[] = [];
  for (const { record, phase, steps } of untold(journal.list())) {
    const { operationId, effect } = record;
    if (phase === 'unknown' && effect !== 'Read') {
      unknown.push(operationId);
      void decider.settled(operationId, 'unknown');
      continue;
    }
    // A read that died with its process changed nothing: nobody has to find out. Should it not be written, the next start tries again.
    if (phase === 'unknown') journal.resolve(operationId, 'notDone', 'settle').catch(() => {});
    void decider.settled(operationId, phase === 'done' || phase === 'failed' ? endOf(phase, steps) : 'notDone');
  }
  return unknown;
}

/** All that is in doubt, all that the process died with, and as many of the last that ended as could be on their way to be told. */
function untold(entries: readonly Entry[]): Iterable<Entry> {
  const open = entries.filter(
    ({ phase, resolution, interrupted }) => interrupted === true || (phase === 'unknown' && resolution === undefined),
  );
  const ended = entries
    .filter(({ phase, steps }) => (phase === 'done' || phase === 'failed') && steps.length > 0)
    .toSorted((one, other) => (other.endedAtMs ?? 0) - (one.endedAtMs ?? 0))
    .slice(0, limits.callsInFlightMax);
  return new Set([...open, ...ended]);
}
