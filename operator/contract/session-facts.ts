/** What the sessions of a contract's callers say about it: who runs the present revision, which warnings their answers carry. */
import { limits } from '#core/bounds/limits.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { SessionRecord } from '#operator/kube/records.ts';

export interface SessionFacts {
  /** Sessions that run the present revision. */
  readonly current: number;
  /** Sessions that run another one, refused this one, or have said nothing yet. */
  readonly behind: number;
  readonly warnings: ShownWarning[];
}

/** As in status.warnings. */
export type ShownWarning = NonNullable<NonNullable<ActionContract['status']>['warnings']>[number];

/** Without `revision` every session is behind: the contract does not compile, and what they run is an older one. */
export function sessionFacts(
  contract: { readonly name: string; readonly revision: string | undefined },
  sessions: readonly SessionRecord[],
): SessionFacts {
  const action = contract.name.replaceAll('-', '_');
  let current = 0;
  let behind = 0;
  const warnings = new Map<string, ShownWarning>();
  for (const { status } of sessions) {
    if (status?.state === 'Ended' || status?.state === 'Revoked') continue;
    const applied = status?.contracts?.find(({ name }) => name === contract.name)?.revision;
    if (applied !== undefined && applied === contract.revision) current += 1;
    else behind += 1;
    for (const warning of status?.warnings ?? []) if (warning.action === action) gather(warnings, warning);
  }
  return { current, behind, warnings: [...warnings.values()].sort(byCode).slice(0, limits.statusWarningsMax) };
}

type Reported = NonNullable<NonNullable<SessionRecord['status']>['warnings']>[number];

/** Times are RFC 3339 in UTC with equal precision, so that their order is the order of their texts. */
function gather(warnings: Map<string, ShownWarning>, { code, owner, firstSeen, lastSeen, expires }: Reported): void {
  const key = `${code} ${owner}`;
  const known = warnings.get(key);
  const first = least(known?.firstSeen, firstSeen);
  const last = least(known?.lastSeen, lastSeen, -1);
  const end = least(known?.expires, expires);
  warnings.set(key, {
    code,
    owner,
    sessions: (known?.sessions ?? 0) + 1,
    ...(first === undefined ? {} : { firstSeen: first }),
    ...(last === undefined ? {} : { lastSeen: last }),
    ...(end === undefined ? {} : { expires: end }),
  });
}

function least(a: string | undefined, b: string | undefined, sign = 1): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (Date.parse(a) - Date.parse(b)) * sign <= 0 ? a : b;
}

function byCode(a: ShownWarning, b: ShownWarning): number {
  return a.code === b.code ? Number(a.owner > b.owner) - Number(a.owner < b.owner) : a.code < b.code ? -1 : 1;
}
