/**
 * Findings of the compiler in one message: an answer to `kubectl apply`, or a condition. What does not fit is counted, never dropped
 * without a word.
 */
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Problem } from './problem.ts';

/** `spec.http.url: message Cure.`; a problem of another object (a preset) begins with that. */
export function problemText({ object, path, code, message, cure, nearest }: Problem, of: string): string {
  const whose = object.name === of ? '' : `${object.kind} ${object.name}, `;
  const near = nearest === undefined ? '' : ` The nearest name is ${nearest}.`;
  return visibleText(`${whose}${path === '' ? 'object' : path}: ${code}: ${message}${near} ${cure}`, { chars: 1_000 });
}

/** All problems, a line each or in one line, at most `charsMax` characters; the end says how many more there are. */
export function problemList(problems: readonly Problem[], of: string, charsMax: number, separator: '\n' | ' ' = '\n'): string {
  const lines: string[] = [];
  let chars = 0;
  for (const [index, problem] of problems.entries()) {
    const line = problemText(problem, of);
    const left = problems.length - index;
    const more = `and ${left} more; "postern contract lint" shows all`;
    if (chars + line.length + more.length + 2 > charsMax && left > 0) return [...lines, more].join(separator);
    lines.push(line);
    chars += line.length + 1;
  }
  return lines.join(separator);
}

/** Errors and warnings apart, each by path, so that two runs say the same. */
export function sortedProblems(problems: readonly Problem[]): {
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
} {
  const sorted = problems.toSorted((a, b) => compare(a.path, b.path) || compare(a.code, b.code));
  return {
    errors: sorted.filter(({ severity }) => severity === 'error'),
    warnings: sorted.filter(({ severity }) => severity === 'warning'),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
