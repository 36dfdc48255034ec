/**
 * How often each approval was used. A use is the record that an operation was begun with it, so that no call costs a record of its own;
 * the number outlives the operations, which are forgotten long before a yes for ten thousand calls is over.
 *
 * Counted as long as anything is kept under a name that ends in the approval's: its question, its decision, the range it is for. So
 * there are never more numbers than names, and they go together.
 */
import type { Entry } from './entry.ts';

export class Uses {
  /** By approval; `names`: how many kept values are about it. */
  readonly #counts = new Map<string, { names: number; uses: number }>();

  of(approval: string): number {
    return this.#counts.get(approval)?.uses ?? 0;
  }

  *all(): Iterable<readonly [approval: string, uses: number]> {
    for (const [approval, { uses }] of this.#counts) if (uses > 0) yield [approval, uses];
  }

  /** A value is kept under a name that was not there before. */
  kept(name: string): void {
    const approval = approvalOf(name);
    const count = this.#counts.get(approval) ?? { names: 0, uses: 0 };
    count.names += 1;
    this.#counts.set(approval, count);
  }

  forgotten(name: string): void {
    const approval = approvalOf(name);
    const count = this.#counts.get(approval);
    if (count === undefined) return;
    count.names -= 1;
    if (count.names === 0) this.#counts.delete(approval);
  }

  /** The entry of an operation that was begun, with the use it is; the same one, begun again after a crash, is the same use. */
  begun(entry: Entry): Entry {
    const { approval } = entry;
    const count = approval === undefined ? undefined : this.#counts.get(approval);
    if (approval === undefined || count === undefined || entry.use?.approval === approval) return entry;
    count.uses += 1;
    return { ...entry, use: { approval, nth: count.uses } };
  }

  /** From a log that was rewritten. Nothing where nothing is kept about the approval. */
  restore(approval: string, uses: number): void {
    const count = this.#counts.get(approval);
    if (count !== undefined) count.uses = uses;
  }
}

function approvalOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
