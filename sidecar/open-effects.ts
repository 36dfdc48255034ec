/**
 * What effects stand on: a journal, and somebody who decides. Where one of them is missing effects are refused with the reason, and reads go
 * on: they need neither.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { Log } from '#core/runtime/log.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import type { CallsMeans } from '#sidecar/call/action-calls.ts';
import type { Configuration } from '#sidecar/configuration.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { MemoryJournal } from '#sidecar/journal/memory-journal.ts';

export interface EffectsMeans {
  readonly clock: Clock;
  readonly log: Log;
  readonly configuration: Configuration;
  /** Undefined where nothing can be kept. */
  readonly state: string | undefined;
  /** Path of the socket of the people who decide; undefined where nobody can be asked. */
  readonly approvals: string | undefined;
}

export interface OpenEffects {
  readonly effects: CallsMeans['effects'];
  /** After the last call has ended. */
  close(): Promise<void>;
}

export async function openEffects(means: EffectsMeans): Promise<OpenEffects> {
  const journal = await openJournal(means);
  if (journal === undefined) return { effects: { none: NO_STATE }, close: () => Promise.resolve() };
  const decider = new LocalDecider({
    journal,
    clock: means.clock,
    reachable: means.approvals !== undefined,
    contractOf: (name) => means.configuration.bundle()?.byContract(name)?.contract,
  });
  return {
    effects: { journal, decider },
    close: async () => {
      decider.close();
      await journal.close();
    },
  };
}

const NO_STATE = 'This sidecar keeps nothing over a restart, so it calls nothing that changes the world: start it with --state.';

async function openJournal({ clock, state }: EffectsMeans): Promise<Journal | undefined> {
  return state === undefined ? undefined : new MemoryJournal(clock);
}
