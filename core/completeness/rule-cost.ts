/**
 * The meter of one evaluation: every list element, map entry and kilobyte of text it touches is paid for, so that the same
 * expression over the same answer always stops at the same place. Evaluation is synchronous; one meter at a time is enough.
 */
import { limits } from '#core/bounds/limits.ts';

let budget = 0;

class TooCostly extends Error {}

/** Begins an evaluation with limits.ruleCostMax units. */
export function refill(): void {
  budget = limits.ruleCostMax;
}

/** Throws when the evaluation has cost more than it may; what the library makes of it, `isOverspent` still tells. */
export function spend(units: number): void {
  budget -= units;
  if (budget < 0) throw new TooCostly();
}

export function isOverspent(): boolean {
  return budget < 0;
}
