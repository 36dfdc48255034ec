/**
 * The status of one of our objects, written in one server-side apply, or not at all when it says what is there already.
 *
 * Several writers share a status: the leader, and the replica that holds a session's stream. Each has a field manager of its own and
 * a part it owns; a member of that part which it leaves out is removed, the rest is not touched.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import type { KubeClient } from './client.ts';
import { type Condition, conditionsOf, type Finding } from './conditions.ts';
import { isKubeError } from './kube-error.ts';
import type { ResourceKind } from './resource-kind.ts';

export interface StatusPart {
  readonly kind: ResourceKind;
  /** Field manager. */
  readonly manager: string;
  /** Members of the status this writer owns, `conditions` apart. */
  readonly fields: readonly string[];
  /** Types of the conditions this writer owns. */
  readonly conditions: readonly string[];
}

/** The object as last seen. */
export interface StatusOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly status: object | undefined;
}

export interface StatusNow {
  /** Members left out, or undefined, are removed. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Finding[];
}

/** `gone`: the object was deleted, or recreated under its name, since it was seen. */
export type StatusWrite = 'written' | 'unchanged' | 'gone';

/**
 * Throws KubeError, and what the client's own check throws (NotLeadingError). Throws TypeError for a field or condition outside the
 * part: it would belong to two writers, who would undo each other for ever.
 */
export async function applyStatus(
  client: Pick<KubeClient, 'apply'>,
  part: StatusPart,
  owner: StatusOwner,
  now: StatusNow,
  clock: Clock = systemClock,
): Promise<StatusWrite> {
  const before = partOf(part, owner.status);
  const conditions = conditionsOf(now.conditions, before.conditions, clock.wallMs());
  const fields = Object.fromEntries(Object.entries(now.fields).filter(([, value]) => value !== undefined));
  refuseForeign(part, fields, conditions);
  if (isDeepStrictEqual(plain(fields), before.fields) && isDeepStrictEqual(plain(conditions), plain(before.conditions))) return 'unchanged';
  const { namespace, name, uid } = owner;
  const status = { ...fields, ...(conditions.length > 0 && { conditions }) };
  try {
    // With the UID an object of the same name that is another one refuses the write (failure case OPR-10).
    await client.apply(
      part.kind,
      { metadata: { namespace, name, uid }, status },
      { manager: part.manager, force: true, subresource: 'status' },
    );
  } catch (error) {
    if (isKubeError(error, 404) || (isKubeError(error, 409) && !namesManagers(error.message))) return 'gone';
    throw error;
  }
  return 'written';
}

function partOf(part: StatusPart, status: object | undefined): { readonly fields: object; readonly conditions: readonly Condition[] } {
  const all = (status ?? {}) as Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] };
  const fields = Object.fromEntries(part.fields.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]));
  const conditions = (all.conditions ?? []).filter(({ type }) => part.conditions.includes(type));
  return { fields: plain(fields), conditions: [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1)) };
}

function refuseForeign(part: StatusPart, fields: object, conditions: readonly Condition[]): void {
  const foreign =
    Object.keys(fields).find((name) => !part.fields.includes(name)) ?? conditions.find(({ type }) => !part.conditions.includes(type))?.type;
  if (foreign !== undefined) throw new TypeError(`${part.manager} does not own status ${foreign} of a ${part.kind.kind}`);
}

/** As it will be read back: without undefined members. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** A conflict about fields, which `force` rules out, is not one about the UID. */
function namesManagers(message: string): boolean {
  return message.includes('conflict with');
}
