/** The best an answer can be, so that a contract that can never be complete does not look like the others. */
import type { CompiledContract } from './compiled.ts';

/**
 * `Partial`: some rule makes every answer incomplete. `SinglePage`: a list whose pages have no basis to belong together, complete only
 * while one page holds all. `Complete`: everything else, also single objects.
 */
export function bestOf({ completeness, result }: Pick<CompiledContract, 'completeness' | 'result'>): CompiledContract['best'] {
  const always = completeness.signals.some((signal) => signal.kind === 'when' && signal.when.text.trim() === 'true');
  if (always) return 'Partial';
  const walks = result.shape.kind === 'items' && completeness.paging.mode === 'Walk';
  return walks && completeness.consistency.mode === 'SinglePage' ? 'SinglePage' : 'Complete';
}
