/**
 * Where the compiler's findings are gathered. All problems are reported at once, so that a person mends a contract in one round.
 */
import type { Problem } from './problem.ts';
import { PROBLEM_CODES, type ProblemCode } from './problem-codes.ts';
import type { ObjectSource } from './resource-object.ts';
import { type SpecPath, showPath } from './spec-path.ts';

/** Where a member of the examined object was really written: a preset's rule is the preset's to mend. */
export interface Written {
  readonly kind: string;
  readonly name: string;
  readonly path: SpecPath;
  readonly source?: ObjectSource;
}

export interface FindingExtra {
  readonly nearest?: string | undefined;
  /** Replaces the catalogue's cure where a better one is known. */
  readonly cure?: string | undefined;
}

/** Messages quote what is wrong, and what is wrong may be long. */
const MESSAGE_CHARS = 600;

/** Collects findings of one object; the same code at the same place is kept once. */
export class Report {
  readonly #written: (path: SpecPath) => Written;
  readonly #found = new Map<string, Problem>();

  constructor(written: (path: SpecPath) => Written) {
    this.#written = written;
  }

  add(path: SpecPath, code: ProblemCode, message: string, extra: FindingExtra = {}): void {
    const written = this.#written(path);
    const shown = showPath(written.path);
    const key = `${written.kind} ${written.name} ${shown} ${code}`;
    if (this.#found.has(key)) return;
    const entry = PROBLEM_CODES[code];
    this.#found.set(key, {
      object: {
        kind: written.kind,
        name: written.name,
        ...(written.source === undefined ? {} : { file: written.source.file, line: written.source.lineAt(written.path) }),
      },
      path: shown,
      code,
      severity: entry.severity,
      message: message.length > MESSAGE_CHARS ? `${message.slice(0, MESSAGE_CHARS)}…` : message,
      cure: extra.cure ?? entry.cure,
      ...(extra.nearest === undefined ? {} : { nearest: extra.nearest }),
    });
  }

  get problems(): readonly Problem[] {
    return [...this.#found.values()];
  }

  get failed(): boolean {
    return this.problems.some((problem) => problem.severity === 'error');
  }

  /** True when something was already said about this very place; a second complaint about it would only repeat the first. */
  saidAbout(path: SpecPath): boolean {
    const written = this.#written(path);
    const shown = showPath(written.path);
    return this.problems.some((problem) => problem.object.name === written.name && problem.path === shown && problem.severity === 'error');
  }
}
