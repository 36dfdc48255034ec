/**
 * A process in which an agreed call dies by SIGKILL right after, or right before, one step of it: FOLDER holds the journal, PORT is the
 * remote's, DEATH is `after admit` and the like. Says the id of the operation before it goes.
 */
import { systemClock } from '#core/bounds/clock.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { ASKED, NOTE, startRig } from './effect-rig.ts';

const [folder = '', port = '', death = ''] = process.argv.slice(2);

function dying<Target extends object>(target: Target): Target {
  return new Proxy(target, {
    get(of, name) {
      const method: unknown = Reflect.get(of, name, of);
      if (typeof method !== 'function') return method;
      return (...given: unknown[]) => {
        if (death === `before ${String(name)}`) die();
        const result: unknown = method.apply(of, given);
        return death === `after ${String(name)}` && result instanceof Promise ? result.finally(die) : result;
      };
    },
  });
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('dead');
}

const journal = await DurableJournal.open({ folder, clock: systemClock });
const rig = await startRig({
  contracts: { 'put-note': ASKED },
  journal: dying(journal),
  wrap: dying,
  upstream: { port: Number(port), requests: [], [Symbol.asyncDispose]: async () => {} },
});
const { operationId = '' } = await rig.refused('put_note', NOTE);
await rig.approve(operationId);
process.stdout.write(operationId);
await rig.execute('put_note', NOTE, { operationId });
