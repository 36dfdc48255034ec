/**
 * The status of one of our objects, written in one server-side apply, or not at all when it says what is there already.
 *
 * Several writers share a status: the leader, and the replica that holds a session's stream. Each has a field manager of its own and
 * a part it owns; a member of that part which it leaves out is removed, the rest is not touched.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { KubeClient } from './client.ts';
import { type Condition, conditionsOf, type Finding } from './conditions.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject } from './records.ts';
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
  readonly resourceVersion: string;
  readonly status: object | undefined;
}

export interface StatusNow {
  /** Members left out, or undefined, are removed. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Finding[];
}

/** Without `get`, a write that others come before is a KubeError 409. */
export type StatusClient = Pick<KubeClient, 'apply'> & Partial<Pick<KubeClient, 'get'>>;

/** `gone`: the object was deleted, or recreated under its name, since it was seen. */
export type StatusWrite = 'written' | 'unchanged' | 'gone';

/**
 * Throws KubeError, and what the client's own check throws (NotLeadingError). Throws TypeError for a field or condition outside the
 * part: it would belong to two writers, who would undo each other for ever.
 */
export async function applyStatus(
  client: StatusClient,
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
  const status = { ...fields, ...(conditions.length > 0 && { conditions }) };
  return write(client, part, owner, status);
}

/**
 * The API server does not compare UIDs when the status of a custom resource is applied; measured. The version stands in for it: a
 * judgement about a contract that was deleted must not become the status of the one that has its name now (failure case OPR-10).
 * Where only somebody else's change came between, the write is made on top of that.
 */
async function write(client: StatusClient, { kind, manager }: StatusPart, owner: StatusOwner, status: object): Promise<StatusWrite> {
  const { namespace, name, uid } = owner;
  let { resourceVersion } = owner;
  for (let tries = 1; ; tries += 1) {
    try {
      const metadata = { namespace, name, uid, resourceVersion };
      await client.apply(kind, { metadata, status }, { manager, force: true, subresource: 'status' });
      return 'written';
    } catch (error) {
      if (isKubeError(error, 404)) return 'gone';
      if (!isKubeError(error, 409) || tries === limits.statusTriesMax || client.get === undefined) throw error;
    }
    const now = await client.get?.<KubeObject>(kind, { namespace, name });
    if (now?.metadata.uid !== uid) return 'gone';
    resourceVersion = now.metadata.resourceVersion;
  }
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
