/** Why a sidecar did not start: sentences for the person who started it, and the problems of its contracts. */
import type { Problem } from '#core/contract/problem.ts';

export class StartRefused extends Error {
  readonly problems: readonly Problem[];
  constructor(message: string, problems: readonly Problem[]) {
    super(message);
    this.name = 'StartRefused';
    this.problems = problems;
  }
}
