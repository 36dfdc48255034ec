/**
 * Every problem the compiler can find: what it means and what to do. A closed catalogue: tools, tests and documents
 * name a problem by its code, so a code never changes its meaning. A test holds that each is produced by some contract.
 */
import { BINDING_CODES } from './problem-codes-binding.ts';
import { COMPLETENESS_CODES } from './problem-codes-completeness.ts';
import { EFFECT_CODES } from './problem-codes-effects.ts';
import { REQUEST_CODES } from './problem-codes-request.ts';
import { STRUCTURE_CODES } from './problem-codes-structure.ts';

export interface ProblemEntry {
  /** An error refuses the object; a warning is shown and lives on. */
  readonly severity: 'error' | 'warning';
  /** What the code means, for the reference page. */
  readonly what: string;
  /** What to write instead, when the place of the finding knows nothing better. */
  readonly cure: string;
}

export const PROBLEM_CODES = {
  ...STRUCTURE_CODES,
  ...REQUEST_CODES,
  ...COMPLETENESS_CODES,
  ...EFFECT_CODES,
  ...BINDING_CODES,
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof PROBLEM_CODES;
