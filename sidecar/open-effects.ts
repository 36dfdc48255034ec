/**
 * What effects stand on: a journal, and somebody who decides. Where one of them is missing effects are refused with the reason, and reads go
 * on: they need neither.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { CallsMeans } from '#sidecar/call/action-calls.ts';
import type { Configuration } from '#sidecar/configuration.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { MemoryJournal } from '#sidecar/journal/memory-journal.ts';
import { startLocalApprovals } from '#sidecar/local-approvals.ts';

export interface EffectsMeans {
  readonly clock: Clock;
  readonly configuration: Configuration;
  /** Undefined where nothing can be kept. */
  readonly journal: Journal | undefined;
  /** Path of the socket of the people who decide; undefined where nobody can be asked. */
  readonly approvals: string | undefined;
}

export interface OpenEffects {
  readonly effects: CallsMeans['effects'];
  /** After the last call has ended. */
  close(): Promise<void>;
}

export async function openEffects({ clock, configuration, journal, approvals }: EffectsMeans): Promise<OpenEffects> {
  if (journal === undefined) return { effects: { none: NO_STATE }, close: () => Promise.resolve() };
  if (configuration.decider !== undefined) {
    return { effects: { journal, decider: configuration.decider }, close: () => journal.close() };
  }
  const local = await startLocalApprovals({
    journal,
    clock,
    path: approvals,
    contractOf: (name) => configuration.bundle()?.byContract(name)?.contract,
  });
  return {
    effects: { journal, decider: local.decider },
    close: async () => {
      await local.close();
      await journal.close();
    },
  };
}

const NO_STATE = 'This sidecar keeps nothing over a restart, so it calls nothing that changes the world: start it with --state.';

/** Undefined where no folder is named. Throws where one is named and cannot be used: a journal that is not there must not look like none. */
export async function openJournal(clock: Clock, state: string | undefined): Promise<Journal | undefined> {
  return state === undefined ? undefined : new MemoryJournal(clock);
}
