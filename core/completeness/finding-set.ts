/**
 * Reasons, warnings and omissions of a walk, each kept once and bounded: thousands of items with the same fault
 * are one finding, and an answer cannot grow the envelope without end.
 */
import { limits } from '#core/bounds/limits.ts';
import type { OmittedField, RaisedWarning } from './envelope.ts';
import type { Finding, SourceWalk } from './source-walk.ts';

type Found = Pick<SourceWalk, 'reasons' | 'warnings' | 'omitted'>;

export class FindingSet {
  readonly #reasons: Map<string, Finding>;
  readonly #warnings: Map<string, RaisedWarning>;
  readonly #omitted: Map<string, OmittedField>;

  constructor(found: Found) {
    this.#reasons = new Map(found.reasons.map((finding) => [reasonKey(finding), finding]));
    this.#warnings = new Map(found.warnings.map((warning) => [warningKey(warning), warning]));
    this.#omitted = new Map(found.omitted.map((field) => [omittedKey(field), field]));
  }

  reasons(findings: readonly Finding[]): void {
    for (const finding of findings) {
      const known = this.#reasons.get(reasonKey(finding));
      // What an earlier page said is not concluded from the end, also where the end says the same: it may be concluded anew.
      if (known === undefined || known.atEnd === true) keep(this.#reasons, reasonKey(finding), finding);
    }
  }

  warnings(warnings: readonly RaisedWarning[]): void {
    for (const warning of warnings) {
      const key = warningKey(warning);
      const known = this.#warnings.get(key);
      // Of several ages the oldest is the one to know.
      if (known?.observed_age_ms !== undefined && known.observed_age_ms >= (warning.observed_age_ms ?? 0)) continue;
      // Only further details of a warning already there may be dropped: no flood of notices hides another warning.
      const full = this.#warnings.size >= limits.walkFindingsMax && !this.#warnings.has(key);
      if (full && [...this.#warnings.values()].some(({ code, name }) => code === warning.code && name === warning.name)) continue;
      this.#warnings.set(key, warning);
    }
  }

  omitted(fields: readonly OmittedField[]): void {
    for (const field of fields) keep(this.#omitted, omittedKey(field), field);
  }

  found(): Found {
    return { reasons: [...this.#reasons.values()], warnings: [...this.#warnings.values()], omitted: [...this.#omitted.values()] };
  }
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.has(key) || map.size < limits.walkFindingsMax) map.set(key, value);
}

function reasonKey(finding: Finding): string {
  return JSON.stringify([finding.code, finding.origin, finding.rule, finding.message, finding.parts]);
}

function warningKey(warning: RaisedWarning): string {
  return JSON.stringify([warning.code, warning.name, warning.message, warning.detail, warning.fields]);
}

function omittedKey(field: OmittedField): string {
  return JSON.stringify([field.path, field.cause]);
}
