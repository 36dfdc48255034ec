import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for something to hold; the limit is for what never will. */
export async function until(holds: () => Promise<boolean> | boolean, says: () => string = () => 'it never held'): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`Waited ${WAIT_MS} ms: ${says()}`);
    await sleep(50);
  }
}

const WAIT_MS = 60_000;
