/**
 * Finds the plan that an equal call means: the same contract and arguments, planned and not begun. An agent that repeats itself must not
 * fill a person's list with the same question.
 */
import type { Entry } from '#sidecar/journal/entry.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { shownPlan } from './kept-plan.ts';
import type { Plan } from './plan.ts';

export class EqualPlans {
  readonly #journal: Journal;
  /** The newest plan of each call. */
  readonly #planned = new Map<string, string>();
  /** Calls that are being planned now: their equals wait for that plan. */
  readonly #coming = new Map<string, Promise<Entry>>();

  constructor(journal: Journal) {
    this.#journal = journal;
    // Oldest first, so that the newest stays.
    for (const entry of [...journal.list()].reverse()) if (entry.phase === 'planned') this.planned(entry);
  }

  planned(entry: Entry): void {
    const { needs } = shownPlan(entry);
    if (needs.kind === 'person' && needs.alternative !== undefined) return;
    for (const [key, id] of this.#planned) if (this.#journal.get(id)?.phase !== 'planned') this.#planned.delete(key);
    this.#planned.set(keyOf(entry.record), entry.record.operationId);
  }

  /** One of this revision that is not over. */
  find({ served, argsDigest }: Plan, nowMs: number): Entry | undefined {
    const { name: contract, revision } = served.contract;
    const id = this.#planned.get(keyOf({ contract, argsDigest }));
    const entry = id === undefined ? undefined : this.#journal.get(id);
    if (entry?.phase !== 'planned' || entry.record.revision !== revision || entry.record.expiresAtMs <= nowMs) return undefined;
    return entry;
  }

  /** Of equal calls at one time one is planned; the others get its plan, or its error. */
  once({ served, argsDigest }: Plan, plan: () => Promise<Entry>): Promise<Entry> {
    const key = keyOf({ contract: served.contract.name, argsDigest });
    const coming = this.#coming.get(key);
    if (coming !== undefined) return coming;
    const planning = plan().finally(() => this.#coming.delete(key));
    this.#coming.set(key, planning);
    return planning;
  }
}

function keyOf({ contract, argsDigest }: { readonly contract: string; readonly argsDigest: string }): string {
  return `${contract} ${argsDigest}`;
}
