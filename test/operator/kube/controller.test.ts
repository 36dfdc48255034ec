import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { Controller, type ControllerOptions } from '#operator/kube/controller.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { fastClock, until } from './fast-clock.ts';

function startController(options: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>): Controller & AsyncDisposable {
  const controller = new Controller({ name: 'things', keys: () => [], clock: fastClock(20), ...options });
  controller.start();
  return Object.assign(controller, { [Symbol.asyncDispose]: () => controller.stop() });
}

test('controller: an object that always fails is set apart and reported once, and the others go on (OPR-11)', async () => {
  const runs: Record<string, number> = {};
  const poisoned: string[] = [];
  const outcomes: string[] = [];
  await using controller = startController({
    reconcile: async (key) => {
      runs[key] = (runs[key] ?? 0) + 1;
      if (key === 'poison') throw new TypeError('of undefined');
    },
    concurrency: 1,
    onPoison: async (key) => {
      poisoned.push(key);
      throw new Error('nor can its condition be written');
    },
    observer: { reconciled: (name, outcome) => outcomes.push(`${name} ${outcome}`) },
  });
  controller.enqueue('poison');
  controller.enqueue('good');
  await until(() => controller.poisoned.length === 1, 'set apart');
  assert.deepEqual(controller.poisoned, ['poison']);
  for (let round = 0; round < 50; round += 1) {
    const before = runs.good ?? 0;
    controller.enqueue('good');
    await until(() => (runs.good ?? 0) > before, 'the others go on');
  }
  assert((runs.poison ?? 0) <= limits.queuePoisonFailures + 2, 'it is tried seldom');
  assert.deepEqual(poisoned, ['poison']);
  assert(outcomes.includes('things failed') && outcomes.includes('things done'));
});

test('controller: a changed poison object is tried soon, and healed when it succeeds (OPR-11)', async () => {
  let healthy = false;
  await using controller = startController({
    reconcile: async () => {
      if (!healthy) throw new Error('bad spec');
    },
  });
  controller.enqueue('a');
  await until(() => controller.poisoned.length === 1, 'set apart');
  healthy = true;
  controller.enqueue('a');
  await until(() => controller.poisoned.length === 0, 'healed');
});

test('controller: an API server that is away makes no object poison', async () => {
  let runs = 0;
  await using controller = startController({
    reconcile: async () => {
      runs += 1;
      throw new KubeError('away', { status: 503, reason: 'ServiceUnavailable' });
    },
  });
  controller.enqueue('a');
  await until(() => runs > limits.queuePoisonFailures + 1, 'tried often');
  assert.deepEqual(controller.poisoned, []);
});

test('controller: five thousand changes of slow objects are a few runs, none lost, one at a time for each (OPR-21)', async () => {
  const state: Record<string, number> = {};
  const seen: Record<string, number> = {};
  const running = new Set<string>();
  let runs = 0;
  let together = 0;
  await using controller = startController({
    concurrency: 3,
    reconcile: async (key) => {
      assert(!running.has(key), 'one run for each key');
      running.add(key);
      together = Math.max(together, running.size);
      runs += 1;
      const read = state[key] ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen[key] = read;
      running.delete(key);
    },
  });
  for (let change = 1; change <= 5000; change += 1) {
    const key = `k${change % 7}`;
    state[key] = change;
    controller.enqueue(key);
    assert(controller.length <= 7, 'bounded by the number of objects');
    if (change % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await until(() => controller.length === 0, 'done');
  assert.deepEqual(seen, state, 'the last change of each was seen');
  assert(runs < 200, `${runs} runs`);
  assert.equal(together, 3);
});

test('controller: looks at everything when it starts, and again when it starts again', async () => {
  const seen: string[] = [];
  const controller = new Controller({ name: 'things', keys: () => ['a', 'b'], reconcile: async (key) => void seen.push(key) });
  controller.enqueue('before the start');
  controller.start();
  await until(() => seen.length === 2, 'all keys');
  await controller.stop();
  controller.enqueue('while it is stopped');
  controller.start();
  await until(() => seen.length === 4, 'all keys again');
  await controller.stop();
  assert.deepEqual(seen, ['a', 'b', 'a', 'b']);
});

test('controller: stops when what runs has ended, and tells it to', async () => {
  let ended = false;
  const controller = startController({
    reconcile: (_, signal) =>
      new Promise<undefined>((resolve) => {
        signal.addEventListener('abort', () => {
          ended = true;
          resolve(undefined);
        });
      }),
  });
  controller.enqueue('a');
  controller.enqueue('b');
  await controller.stop();
  assert.equal(ended, true);
});

test('controller: looks again after the time a run asks for', async () => {
  let runs = 0;
  await using controller = startController({
    reconcile: async () => {
      runs += 1;
      return runs < 3 ? { afterMs: 100 } : undefined;
    },
  });
  controller.enqueue('a');
  await until(() => runs === 3, 'looked at three times');
  assert.equal(controller.length, 0);
});
