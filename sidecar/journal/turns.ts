/** One after the other, by name: who comes while somebody is at it waits for the end, whichever it is. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  taken(name: string): boolean {
    return this.#last.has(name);
  }

  /** Starts `work` at once when nobody is before it: a caller that asks for several names starts them all in one go. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    const end = (): void => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    };
    const settled: Promise<void> = mine.then(end, end);
    this.#last.set(name, settled);
    return mine;
  }
}
