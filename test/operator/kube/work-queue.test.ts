import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { type Verdict, WorkQueue } from '#operator/kube/work-queue.ts';
import { until } from './fast-clock.ts';

test('work queue: more keys than it holds are dropped, and asked for once there is room (OPR-21)', async () => {
  const done = new Set<string>();
  const keys = Array.from({ length: limits.queueKeysMax + 500 }, (_, index) => `k${index}`);
  let asked = 0;
  const run = async (key: string): Promise<Verdict> => {
    done.add(key);
    return { kind: 'done' };
  };
  const onRoom = () => {
    asked += 1;
    for (const key of keys) if (!done.has(key)) queue.add(key);
  };
  const queue = new WorkQueue({ run, onRoom, concurrency: 1 });
  for (const key of keys) queue.add(key);
  assert(queue.length <= limits.queueKeysMax);
  await until(() => done.size === keys.length, 'all of them in the end');
  assert.equal(asked, 1);
  await queue.stop();
});
