/** Why a sidecar did not start: a sentence and its cure for the person who started it, and the problems of its contracts. */
import type { Problem } from '#core/contract/problem.ts';

export class StartRefused extends Error {
  /** What that person can do. */
  readonly cure: string;
  readonly problems: readonly Problem[];
  constructor(message: string, cure: string, problems: readonly Problem[] = []) {
    super(message);
    this.name = 'StartRefused';
    this.cure = cure;
    this.problems = problems;
  }
}

/** What the system calls a fault: `EADDRINUSE`. Any other fault is thrown on. */
export function systemCodeOf(fault: unknown): string {
  if (fault instanceof Error && 'code' in fault && typeof fault.code === 'string') return fault.code;
  throw fault;
}
