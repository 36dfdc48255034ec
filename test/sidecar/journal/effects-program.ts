/**
 * A process that does effects as calls do, for tests that let it die: FOLDER holds the journal, OUT a file that outlives it. Each line of
 * OUT is a fact: `ack OPERATION KIND` after the journal has acknowledged it, `effect OPERATION` where a request would be sent.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { operation } from './operation-record.ts';

const [folder = '', out = '', count = '6'] = process.argv.slice(2);
const say = (line: string) => appendFileSync(out, `${line}\n`);

const journal = await DurableJournal.open({
  folder,
  clock: systemClock,
  log: { segmentBytes: 2_048, appendMs: 400 },
  compact: { bytesMin: 3_000, factor: 0 },
});
for (let index = 0; index < Number(count); index += 1) {
  const id = `op_${index}`;
  try {
    await journal.plan(operation(id, { plan: 'x'.repeat(300) }));
    say(`ack ${id} plan`);
    await journal.begin(id);
    await journal.intent(id, 0);
    say(`ack ${id} intent`);
    say(`effect ${id}`);
    await journal.step(id, 0, 'done');
    await journal.end(id, 'done', { reply: index });
    say(`ack ${id} end`);
  } catch (error) {
    say(`refused ${id} ${(error as { reason?: string }).reason}`);
    await sleep(limits.walRetryMs * 1.5);
  }
}
await journal.close();
say('closed');
