/**
 * What effects stand on: a journal, and somebody who decides. Where one of them is missing effects are refused with the reason, and reads go
 * on: they need neither.
 */
import { join } from 'node:path';
import type { Clock } from '#core/bounds/clock.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { EffectMetrics } from '#core/runtime/effect-metrics.ts';
import type { Log } from '#core/runtime/log.ts';
import { CountedDecider } from '#sidecar/approval/counted-decider.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import { type QuestionWatch, WatchedDecider } from '#sidecar/approval/watched-decider.ts';
import type { CallsMeans } from '#sidecar/call/action-calls.ts';
import type { Configuration } from '#sidecar/configuration.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import { startLocalApprovals } from '#sidecar/local-approvals.ts';
import { StartRefused } from '#sidecar/start-refused.ts';
import { countedDisk } from '#sidecar/wal/counted-disk.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';

export interface EffectsMeans {
  readonly clock: Clock;
  readonly configuration: Configuration;
  /** Undefined where nothing can be kept; `wanted` says whether a folder was named for it. */
  readonly journal: DurableJournal | undefined;
  readonly wanted: boolean;
  /** Path of the socket of the people who decide; undefined where nobody can be asked. */
  readonly approvals: string | undefined;
  readonly metrics: EffectMetrics;
  /** Hears of questions and what becomes of them. */
  readonly watch: QuestionWatch;
}

export interface OpenEffects {
  readonly effects: CallsMeans['effects'];
  /** What effects wait for, as closed words for a probe. Reads need none of it. */
  notReady(): readonly string[];
  /** After the last call has ended. */
  close(): Promise<void>;
}

export async function openEffects({
  clock,
  configuration,
  journal,
  wanted,
  approvals,
  metrics,
  watch,
}: EffectsMeans): Promise<OpenEffects> {
  if (journal === undefined)
    return {
      effects: { none: wanted ? NO_JOURNAL : NO_STATE },
      notReady: () => (wanted ? ['journal'] : []),
      close: () => Promise.resolve(),
    };
  const notReady = () => (journal.fault === undefined ? [] : ['journal']);
  metrics.unknownOperations(() => journal.list().filter(isOpen).length);
  const watched = (decider: Decider) => new WatchedDecider(new CountedDecider(decider, metrics, clock), watch, clock);
  if (configuration.decider !== undefined) {
    const decider = watched(configuration.decider);
    const close = async () => {
      decider.close();
      await journal.close();
    };
    return { effects: { journal, decider }, notReady, close };
  }
  const local = await startLocalApprovals({
    journal,
    clock,
    path: approvals,
    contractOf: (name) => configuration.bundle()?.byContract(name)?.contract,
  });
  const decider = watched(local.decider);
  return {
    effects: { journal, decider },
    notReady,
    close: async () => {
      decider.close();
      await local.close();
      await journal.close();
    },
  };
}

/** Nobody knows what became of it, and nobody has found out. */
function isOpen({ phase, resolution }: Entry): boolean {
  return phase === 'unknown' && resolution === undefined;
}

const NO_STATE = 'This sidecar keeps nothing over a restart, so it calls nothing that changes the world: start it with --state.';

const NO_JOURNAL = 'The journal of this sidecar cannot be used, so it calls nothing that changes the world; its log says why.';

/** Of a start that somebody watches. Throws StartRefused where a folder is named and its journal cannot be used. */
export async function journalOrRefuse(means: JournalMeans, state: string | undefined): Promise<DurableJournal | undefined> {
  try {
    return await openJournal(means, state);
  } catch (fault) {
    if (!(fault instanceof PosternError)) throw fault;
    throw new StartRefused(
      `its journal cannot be used: ${fault.message}`,
      'Look at the folder "journal" below --state. Only one sidecar may use it; what it holds is what nobody may do twice.',
    );
  }
}

/** As `journalOrRefuse`, but a journal that cannot be used costs only effects: calls that change nothing go on. */
export async function journalOrNone(means: JournalMeans, state: string | undefined): Promise<DurableJournal | undefined> {
  try {
    return await openJournal(means, state);
  } catch (fault) {
    means.log.error('the journal cannot be used, so effects are refused', {}, fault);
    return undefined;
  }
}

/**
 * Undefined where no folder is named. Throws AUDIT_UNAVAILABLE where one is named and cannot be used: a journal that is not there must not
 * look like an empty one.
 */
async function openJournal({ clock, log, metrics }: JournalMeans, state: string | undefined): Promise<DurableJournal | undefined> {
  if (state === undefined) return undefined;
  const { effects } = metrics;
  const onFault = (fault: string | undefined) => {
    if (fault === undefined) log.info('the journal takes records again');
    else log.error('the journal takes no records, so effects are refused', { reason: fault });
  };
  const disk = countedDisk(nodeDisk, clock, (durationMs, bytes) => effects.journalSynced(durationMs, bytes));
  // Until it is open, and when it never opens, nothing can be kept.
  effects.journal(() => ({ bytes: 0, failed: true }));
  const journal = await DurableJournal.open({ folder: join(state, 'journal'), clock, onFault, log: { disk } });
  effects.journal(() => ({ bytes: journal.bytes, failed: journal.fault !== undefined }));
  return journal;
}

interface JournalMeans {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: { readonly effects: EffectMetrics };
}
