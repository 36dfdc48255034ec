/** Bytes that may be on their way at once; the rest waits in order of arrival. One larger than all of it goes alone. */
export class ByteBudget {
  readonly #bytesMax: number;
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];
  #used = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Runs `act` with the bytes taken; waits for room first. Throws `signal.reason` when aborted while it waits. */
  async use<T>(bytes: number, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    await this.#enter(bytes, signal);
    try {
      return await act();
    } finally {
      this.#used -= bytes;
      this.#admit();
    }
  }

  #enter(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1);
        reject(signal.reason);
        this.#admit();
      };
      const place = {
        bytes,
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(place);
      this.#admit();
    });
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#used > 0 && this.#used + next.bytes > this.#bytesMax) return;
      this.#waiting.shift();
      this.#used += next.bytes;
      next.enter();
    }
  }
}
