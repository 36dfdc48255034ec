/** Many write at once, or one alone: whoever wants to be alone waits for those who write, and who comes meanwhile waits for it. */
export class WriteGate {
  /** Called when nobody writes any more. */
  onQuiet: () => void = () => {};
  #writing = 0;
  #alone: Promise<void> | undefined;
  #quiet: (() => void) | undefined;

  /** Undefined when one may go in at once, and has. */
  enter(): Promise<void> | undefined {
    if (this.#alone !== undefined) return this.#enterLater();
    this.#writing += 1;
    return undefined;
  }

  leave(): void {
    this.#writing -= 1;
    if (this.#writing > 0) return;
    this.#quiet?.();
    this.onQuiet();
  }

  async alone(work: () => Promise<void>): Promise<void> {
    const opened = Promise.withResolvers<void>();
    this.#alone = opened.promise;
    try {
      if (this.#writing > 0) await new Promise<void>((resolve) => (this.#quiet = resolve));
      this.#quiet = undefined;
      await work();
    } finally {
      this.#alone = undefined;
      opened.resolve();
    }
  }

  async #enterLater(): Promise<void> {
    while (this.#alone !== undefined) await this.#alone;
    this.#writing += 1;
  }
}
