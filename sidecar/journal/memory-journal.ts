/** The journal of a process without a folder, and of tests: the same rules, gone with the process, and it says so. */
import type { Clock } from '#core/bounds/clock.ts';
import { RecordedJournal } from './recorded-journal.ts';

export class MemoryJournal extends RecordedJournal {
  constructor(clock: Clock) {
    super({ clock, durable: false, log: { append: async () => {}, close: async () => {} } });
  }
}
