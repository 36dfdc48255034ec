/** How the commands that serve learn that they shall end. */
import { constants } from 'node:os';

/** The first signal drains; a second one of an impatient person ends the process at once, also as process 1, where no signal ends it by itself. */
export function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (told) process.exit(128 + constants.signals[signal]);
        told = true;
        resolve();
      });
    }
  });
}
