/** The journal without a disk: the same rules, gone with the process, and it says so. */
import type { Clock } from '#core/bounds/clock.ts';
import { RecordedJournal } from '#sidecar/journal/recorded-journal.ts';

export class MemoryJournal extends RecordedJournal {
  constructor(clock: Clock) {
    super({ clock, durable: false, log: { append: async () => {}, close: async () => {} } });
  }
}
