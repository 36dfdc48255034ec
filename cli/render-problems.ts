/** Findings of the compiler for a person: `file:line: path: code: message`, then the cure and the nearest name. */
import type { Problem } from '#core/contract/problem.ts';
import { visibleText } from '#core/encoding/visible-text.ts';

/** Errors first, then by file, line and path, so that two runs print the same. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const key = ({ severity, object, path, code }: Problem) =>
    [severity === 'error' ? 0 : 1, object.file ?? '', String(object.line ?? 0).padStart(8, '0'), object.name, path, code].join('\u0000');
  return problems.toSorted((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))));
}

export function renderProblem(problem: Problem): string {
  const { file, line, kind, name } = problem.object;
  const place = file === undefined ? `${kind}/${name}` : line === undefined ? file : `${file}:${line}`;
  const mark = problem.severity === 'warning' ? 'warning: ' : '';
  const nearest = problem.nearest === undefined ? '' : `\n    nearest: ${visibleText(problem.nearest)}`;
  const message = visibleText(problem.message, { lines: 5 });
  const path = problem.path === '' ? '' : `${visibleText(problem.path)}: `;
  return `${place}: ${path}${mark}${problem.code}: ${message}${nearest}\n    cure: ${visibleText(problem.cure)}`;
}

/** `3 errors, 1 warning`. */
export function countProblems(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return `${plural(errors, 'error')}, ${plural(problems.length - errors, 'warning')}`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
