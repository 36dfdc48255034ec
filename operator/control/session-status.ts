/**
 * The part of an AgentSession's status that belongs to whoever holds the stream, as a value. Everything in it is written whole each
 * time, by one field manager: a replica that takes a stream over starts from what the last one wrote.
 *
 * What a sidecar reports is checked field by field: a process that got hold of a sidecar's token writes here what people and the
 * leader read.
 */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { DUPLICATE_SIDECAR } from '#core/resource/names.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import { type Ack, type CredentialReport, CredentialState, type WarningReport } from '#proto/postern/control/v1/control_pb.ts';

type Status = NonNullable<AgentSession['status']>;
export type Condition = NonNullable<Status['conditions']>[number];
export type StreamStatus = Pick<
  Status,
  'version' | 'instance' | 'appliedRevision' | 'lastSeenAt' | 'contracts' | 'credentials' | 'warnings' | 'head' | 'audit' | 'conditions'
>;

const OWN_CONDITIONS = ['Connected', 'DuplicateSidecar', 'BundleTooLarge', 'Audited', 'AuditBroken'];

/** What the last holder of the stream wrote. */
export function streamStatusOf(status: Status | undefined): StreamStatus {
  const { version, instance, appliedRevision, lastSeenAt, contracts, credentials, warnings, head, audit, conditions = [] } = status ?? {};
  return defined({
    version,
    instance,
    appliedRevision,
    lastSeenAt,
    contracts,
    credentials,
    warnings,
    head,
    audit,
    conditions: conditions.filter(({ type }) => OWN_CONDITIONS.includes(type)),
  });
}

export function conditionOf(status: { readonly conditions?: readonly Condition[] } | undefined, type: string): Condition | undefined {
  return (status?.conditions ?? []).find((condition) => condition.type === type);
}

/** The time of the transition stays while the status does. */
export function withCondition(status: StreamStatus, next: Omit<Condition, 'lastTransitionTime'>, nowMs: number): StreamStatus {
  const others = (status.conditions ?? []).filter(({ type }) => type !== next.type);
  const was = conditionOf(status, next.type);
  const lastTransitionTime = was !== undefined && was.status === next.status ? was.lastTransitionTime : secondTime(nowMs);
  return { ...status, conditions: [...others, { ...next, lastTransitionTime }] };
}

/** The stream that holds a session, as its condition Connected names it; undefined when none does. */
export function holderIn(status: { readonly conditions?: readonly Condition[] } | undefined): string | undefined {
  const connected = conditionOf(status, 'Connected');
  return connected?.status === 'True' ? /^Stream (\S+) /.exec(connected.message)?.[1] : undefined;
}

/** The replica that holds it, as that condition names it. */
export function replicaIn(status: { readonly conditions?: readonly Condition[] } | undefined): string | undefined {
  const connected = conditionOf(status, 'Connected');
  return connected?.status === 'True' ? /^Stream \S+ is held by the replica (\S+)\.$/.exec(connected.message)?.[1] : undefined;
}

export function connected(status: StreamStatus, stream: string, replica: string, nowMs: number): StreamStatus {
  const message = `Stream ${stream} is held by the replica ${replica}.`;
  return withCondition(status, { type: 'Connected', status: 'True', reason: 'StreamOpen', message }, nowMs);
}

/** `reason` is an UpperCamel word of ours. */
export function disconnected(status: StreamStatus, reason: string, message: string, nowMs: number): StreamStatus {
  return withCondition(status, { type: 'Connected', status: 'False', reason, message }, nowMs);
}

export function duplicateSeen(status: StreamStatus, admitted: boolean, nowMs: number): StreamStatus {
  const reason = admitted ? DUPLICATE_SIDECAR.afterAdmission : DUPLICATE_SIDECAR.beforeAdmission;
  const message = `A second process of the pod connected as its sidecar${admitted ? ', after the session was admitted' : ''}. Find out who holds its token, then delete the pod.`;
  return withCondition(status, { type: 'DuplicateSidecar', status: 'True', reason, message }, nowMs);
}

/** True and names when contracts did not fit; absent when nothing ever was left out. */
export function bundleSize(status: StreamStatus, leftOut: readonly string[], nowMs: number): StreamStatus {
  if (leftOut.length === 0 && conditionOf(status, 'BundleTooLarge') === undefined) return status;
  const next =
    leftOut.length === 0
      ? ({ status: 'False', reason: 'Fits', message: 'All contracts of this ServiceAccount fit its bundle.' } as const)
      : ({ status: 'True', reason: 'LeftOut', message: leftOutMessage(leftOut) } as const);
  return withCondition(status, { type: 'BundleTooLarge', ...next }, nowMs);
}

export function acknowledged(status: StreamStatus, { bundleRevision, contracts }: Ack): StreamStatus {
  const shown = firstOf(contracts, ({ contract }) => contract)
    .filter(({ contract }) => isName(contract))
    .slice(0, limits.controlBundleContractsMax)
    .map(({ contract, revision, refused }) =>
      defined({ name: contract, revision: isDigest(revision) ? revision : undefined, refused: refused === '' ? undefined : word(refused) }),
    );
  return { ...status, appliedRevision: bundleRevision, contracts: shown };
}

export function credentialsReported(status: StreamStatus, { files }: CredentialReport): StreamStatus {
  const credentials = firstOf(files, ({ binding, key }) => `${binding}/${key}`)
    .filter(({ binding, key }) => isName(binding) && /^[A-Za-z0-9._-]{1,253}$/.test(key))
    .slice(0, limits.controlCredentialsMax)
    .map(({ binding, key, state, digest, sinceMs }) =>
      defined({
        binding,
        key,
        state: STATES[state] ?? 'Unusable',
        digest: /^[0-9a-f]{8}$/.test(digest) ? digest : undefined,
        since: timeOf(sinceMs),
      }),
    );
  return { ...status, credentials };
}

export function warningsReported(status: StreamStatus, { warnings }: WarningReport): StreamStatus {
  const shown = warnings
    .filter(({ action, code }) => /^[a-z0-9_]{1,63}$/.test(action) && /^[A-Z][A-Z0-9_]{0,62}$/.test(code))
    .slice(0, limits.controlWarningsMax)
    .map(({ action, code, owner, firstSeenMs, lastSeenMs, expiresMs }) =>
      defined({
        action,
        code,
        owner: word(owner, 100),
        firstSeen: timeOf(firstSeenMs),
        lastSeen: timeOf(lastSeenMs),
        expires: timeOf(expiresMs),
      }),
    );
  return { ...status, warnings: shown };
}

/** What is not known here can not be counted as usable. */
const STATES: Readonly<Partial<Record<CredentialState, 'Present' | 'Missing'>>> = {
  [CredentialState.PRESENT]: 'Present',
  [CredentialState.MISSING]: 'Missing',
};

/** Lists with keys take each key once. */
function firstOf<T>(items: readonly T[], keyIn: (item: T) => string): readonly T[] {
  const found = new Map<string, T>();
  for (const item of items) if (!found.has(keyIn(item))) found.set(keyIn(item), item);
  return [...found.values()];
}

function leftOutMessage(names: readonly string[]): string {
  const shown = names.slice(0, limits.conditionNamesMax).join(', ');
  const more = names.length > limits.conditionNamesMax ? ` and ${names.length - limits.conditionNamesMax} more` : '';
  return `These contracts do not fit one bundle of ${limits.controlBundleContractsMax} contracts and ${limits.controlBundleBytesMax} bytes and are not served: ${shown}${more}. Split their callers over several ServiceAccounts.`;
}

function isName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(text);
}

export function isDigest(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

/** Free words of a sidecar, made safe to show. */
function word(text: string, chars = 63): string {
  return visibleText(text, { chars });
}

/** Times before 2000 and after 2100 are no times: nobody means them, and RFC 3339 has four digits for the year. */
function timeOf(unixMs: bigint): string | undefined {
  const ms = Number(unixMs);
  return ms > 946_684_800_000 && ms < 4_102_444_800_000 ? secondTime(ms) : undefined;
}

/** Drops members that are undefined: an applied field that is null would be an error of the schema. */
function defined<const T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
