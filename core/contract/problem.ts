/** A finding of the compiler, for people and for tools. `path` is `spec.http.query.since`-like; `code` a closed kebab-case word. */
export interface Problem {
  readonly object: { readonly kind: string; readonly name: string; readonly file?: string; readonly line?: number };
  readonly path: string;
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** What to write instead. */
  readonly cure: string;
  /** The nearest existing name, when the problem is an unknown one. */
  readonly nearest?: string;
}
