/** Keys of a binding's Secret as sidecars have them mounted, from what their sessions say. */
import { limits } from '#core/bounds/limits.ts';
import type { SessionRecord } from '#operator/kube/records.ts';

/** As in status.keys. */
export interface KeyFacts {
  readonly key: string;
  readonly present: number;
  readonly missing: number;
  readonly unusable: number;
  /** Values in use now, most sidecars first; more than one means that a rotation is under way. */
  readonly values: { readonly digest: string; readonly sidecars: number; readonly since?: string }[];
}

/** By key. Sessions that have ended say nothing of now. */
export function keyFacts(binding: string, sessions: readonly SessionRecord[]): readonly KeyFacts[] {
  const keys = new Map<string, Reported[]>();
  for (const { status } of sessions) {
    if (status?.state === 'Ended' || status?.state === 'Revoked') continue;
    for (const report of status?.credentials ?? []) {
      if (report.binding !== binding) continue;
      const known = keys.get(report.key);
      if (known === undefined) keys.set(report.key, [report]);
      else known.push(report);
    }
  }
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, reports]) => factsOf(key, reports));
}

type Reported = NonNullable<NonNullable<SessionRecord['status']>['credentials']>[number];

function factsOf(key: string, reports: readonly Reported[]): KeyFacts {
  const count = (state: Reported['state']) => reports.filter((report) => report.state === state).length;
  return { key, present: count('Present'), missing: count('Missing'), unusable: count('Unusable'), values: valuesOf(reports) };
}

function valuesOf(reports: readonly Reported[]): KeyFacts['values'] {
  const values = new Map<string, KeyFacts['values'][number]>();
  for (const { state, digest, since } of reports) {
    if (state !== 'Present' || digest === undefined) continue;
    const known = values.get(digest);
    const first = earlier(known?.since, since);
    values.set(digest, { digest, sidecars: (known?.sidecars ?? 0) + 1, ...(first === undefined ? {} : { since: first }) });
  }
  const sorted = [...values.values()].sort((a, b) => b.sidecars - a.sidecars || (a.digest < b.digest ? -1 : 1));
  return sorted.slice(0, limits.statusValuesMax);
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(a) <= Date.parse(b) ? a : b;
}
