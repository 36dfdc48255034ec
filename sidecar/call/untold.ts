/**
 * What an earlier process may have left untold when it died: whoever decides would hold equal calls back, and ask a person about what the
 * journal knows.
 */
import { limits } from '#core/bounds/limits.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import { type EffectMeans, endOf } from './execute.ts';
import type { FoundOutcome } from './recorder.ts';

/** Tells what became of them, again where it was told before. Gives those whose outcome is not known. */
export function tellUntold({ journal, decider, recorder }: Pick<EffectMeans, 'journal' | 'decider' | 'recorder'>): readonly string[] {
  const unknown: string[] = [];
  for (const { record, phase, steps, interrupted, resolution } of untold(journal.list())) {
    const { operationId, effect } = record;
    // Its intent may stand in the chain without an end (failure case AUD-14). One that is planned died before its first request.
    if (interrupted === true && resolution === undefined) recorder.found(record, { verdict: interruptedAs(phase, effect), by: 'start' });
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

function interruptedAs(phase: Entry['phase'], effect: Entry['record']['effect']): FoundOutcome['verdict'] {
  if (phase === 'done') return 'done';
  return phase === 'unknown' && effect !== 'Read' ? 'unknown' : 'notDone';
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
