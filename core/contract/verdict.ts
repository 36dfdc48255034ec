/** What an admission answers about one object: problems as a message, everything else worth knowing as warnings, all of it bounded. */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Problem } from './problem.ts';
import { problemList, problemText, sortedProblems } from './problem-text.ts';

export interface Verdict {
  readonly allowed: boolean;
  /** For whoever applied it; empty when allowed. At most limits.admissionMessageCharsMax. */
  readonly message: string;
  /** At most limits.admissionWarningsMax, each at most limits.admissionWarningCharsMax. */
  readonly warnings: readonly string[];
}

export const ALLOWED: Verdict = { allowed: true, message: '', warnings: [] };

/** `later`: what does not fit the other objects there are now; it refuses nothing, since those may still change. */
export function verdictOf(name: string, problems: readonly Problem[], later: readonly string[] = []): Verdict {
  const { errors, warnings } = sortedProblems(problems);
  const allowed = errors.length === 0;
  return {
    allowed,
    message: allowed ? '' : problemList(errors, name, limits.admissionMessageCharsMax),
    warnings: bounded([...warnings.map((warning) => problemText(warning, name)), ...later]),
  };
}

export function refused(message: string): Verdict {
  return { allowed: false, message, warnings: [] };
}

function bounded(texts: readonly string[]): readonly string[] {
  const kept = texts.length > limits.admissionWarningsMax ? texts.slice(0, limits.admissionWarningsMax - 1) : texts;
  const more = texts.length - kept.length;
  const shown = kept.map((text) => visibleText(text, { chars: limits.admissionWarningCharsMax }));
  return more === 0 ? shown : [...shown, `and ${more} more warnings; "postern contract lint" shows all`];
}
