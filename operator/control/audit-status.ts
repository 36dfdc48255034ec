/** How a session is recorded, in the part of its status that the stream writes. */
import { hash } from 'node:crypto';
import { verifierText } from '#core/audit/signed-note.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { chainOrigin } from '#operator/witness/authority.ts';
import type { KnownEpoch } from '#operator/witness/epochs.ts';
import { hashText, headText, type KnownHead, parseHashText, relate } from '#operator/witness/heads.ts';
import type { Shipped } from '#operator/witness/permits.ts';
import { STORE_CURES } from '#operator/witness/store-watch.ts';
import { type AuditMeans, keepsIntents } from './audit-means.ts';
import { conditionOf, type StreamStatus, withCondition } from './session-status.ts';

type Audit = NonNullable<StreamStatus['audit']>;

/** Longest note that stands in the status; its place is bounded, and the log has its head anyway. */
const NOTE_CHARS_MAX = 4_096;

/** As it is from now on. `speaks`: the sidecar knows the audit. */
export function recorded(status: StreamStatus, session: SessionRecord, means: AuditMeans, speaks: boolean, nowMs: number): StreamStatus {
  const { terms, watch, cluster } = means;
  const mode = !speaks || terms.recipients.length === 0 ? 'Off' : watch === undefined ? 'Local' : 'Shipped';
  const audit: Audit = { ...status.audit, mode, key: verifierText(means.authority()) };
  if (mode !== 'Off') {
    audit.origin = chainOrigin(cluster, session.namespace, session.spec.pod.uid);
    audit.effects = keepsIntents(means) ? 'Acknowledged' : 'Local';
    audit.recipients = terms.recipients.map((recipient) => `sha256:${hash('sha256', recipient)}`);
  } else {
    delete audit.effects;
    delete audit.recipients;
  }
  return withCondition({ ...status, audit }, { type: 'Audited', ...finding(mode, means, speaks) }, nowMs);
}

interface Finding {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

function finding(mode: Audit['mode'], { terms, watch }: AuditMeans, speaks: boolean): Finding {
  if (!speaks && terms.recipients.length > 0)
    return {
      status: 'False',
      reason: 'SidecarTooOld',
      message: 'This sidecar is of a release that records nothing. Start the pod anew, so that it gets the sidecar of this release.',
    };
  if (mode === 'Off')
    return { status: 'False', reason: 'NoRecipients', message: 'Nothing is recorded: the chart names no audit.recipients.' };
  if (watch === undefined)
    return { status: 'True', reason: 'Local', message: 'Records stay in the pod and go with it: the chart names no audit.store.' };
  if (watch.state === 'safe') return { status: 'True', reason: 'Shipped', message: 'Records are kept in the audit store.' };
  const reason = `Store${watch.state.charAt(0).toUpperCase()}${watch.state.slice(1)}`;
  return { status: 'False', reason, message: `Records stay in the pod for now. ${STORE_CURES[watch.state]}` };
}

export function knownEpoch({ audit }: StreamStatus): KnownEpoch | undefined {
  const { epoch, epochKey } = audit ?? {};
  return epoch === undefined || epochKey === undefined ? undefined : { epoch, key: epochKey };
}

export function certified(status: StreamStatus, { epoch, key }: KnownEpoch): StreamStatus {
  return { ...status, audit: { ...auditOf(status), epoch, epochKey: key } };
}

export function knownHead({ head }: StreamStatus): KnownHead | undefined {
  const sha256 = head === undefined ? undefined : parseHashText(head.hash);
  return head === undefined || sha256 === undefined || head.sequence < 1 ? undefined : { size: head.sequence, hash: sha256 };
}

export function witnessed(status: StreamStatus, { size, hash: sha256 }: KnownHead, nowMs: number): StreamStatus {
  const head = { sequence: size, hash: hashText(sha256) };
  return { ...status, head, audit: { ...auditOf(status), witnessedAt: secondTime(nowMs) } };
}

/**
 * The session is marked and goes on. Suspending it would hand the switch to whoever holds the sidecar, and take from people what they need
 * most then: to see what it does. A person revokes.
 */
export function broken(
  status: StreamStatus,
  {
    kind,
    known,
    shown,
    note = '',
  }: { readonly kind: 'fork' | 'rollback'; readonly known: KnownHead; readonly shown: KnownHead; readonly note?: string },
  nowMs: number,
): StreamStatus {
  const conflict = {
    kind: kind === 'fork' ? ('Fork' as const) : ('Rollback' as const),
    known: headText(known),
    shown: headText(shown),
    at: secondTime(nowMs),
    ...(note !== '' && note.length <= NOTE_CHARS_MAX ? { note } : {}),
  };
  const what = kind === 'fork' ? 'another hash for a record that was witnessed' : 'a shorter chain than was witnessed';
  const message = `The sidecar signed ${what}: known ${conflict.known}, shown ${conflict.shown}. Its log is no evidence any more; look at the pod, and revoke the session.`;
  const next = { type: 'AuditBroken', status: 'True', reason: conflict.kind, message } as const;
  return withCondition({ ...status, audit: { ...auditOf(status), conflict } }, next, nowMs);
}

/**
 * The status of a stream with all of the audit that stands in the session and is not in it yet, such as by a stream of another replica that
 * is about to lose the session. Without it a sidecar with two streams would have an epoch forgotten, and certified with a second key
 * (AUD-04), or its two pasts (AUD-24).
 */
export function notBehind(own: StreamStatus, seen: StreamStatus, nowMs: number): StreamStatus {
  return withSeenBreak(withSeenHead(withSeenShipped(withSeenEpoch(own, seen), seen), seen, nowMs), seen);
}

/** Of two keys of one epoch the one that was written counts. */
function withSeenEpoch(own: StreamStatus, seen: StreamStatus): StreamStatus {
  const known = knownEpoch(seen);
  return known === undefined || (knownEpoch(own)?.epoch ?? 0) > known.epoch ? own : certified(own, known);
}

function withSeenShipped(own: StreamStatus, { audit }: StreamStatus): StreamStatus {
  const { shippedSegments = 0, shippedSequence = 0, lastShippedAt } = audit ?? {};
  if (shippedSegments <= (own.audit?.shippedSegments ?? 0)) return own;
  return {
    ...own,
    audit: { ...auditOf(own), shippedSegments, shippedSequence, ...(lastShippedAt === undefined ? {} : { lastShippedAt }) },
  };
}

function withSeenHead(own: StreamStatus, seen: StreamStatus, nowMs: number): StreamStatus {
  const [known, shown] = [knownHead(seen), knownHead(own)];
  if (known === undefined || seen.head === undefined) return own;
  const relation = shown === undefined ? 'rollback' : relate(known, shown);
  if (relation === 'grown' || relation === 'same') return own;
  const { witnessedAt } = seen.audit ?? {};
  const next = { ...own, head: seen.head, audit: { ...auditOf(own), ...(witnessedAt === undefined ? {} : { witnessedAt }) } };
  return relation === 'fork' && shown !== undefined && own.audit?.conflict === undefined
    ? broken(next, { kind: 'fork', known, shown }, nowMs)
    : next;
}

function withSeenBreak(own: StreamStatus, seen: StreamStatus): StreamStatus {
  const conflict = seen.audit?.conflict;
  if (conflict === undefined) return own;
  const condition = conditionOf(seen, 'AuditBroken');
  const conditions = [
    ...(own.conditions ?? []).filter(({ type }) => type !== 'AuditBroken'),
    ...(condition === undefined ? [] : [condition]),
  ];
  return { ...own, audit: { ...auditOf(own), conflict }, conditions };
}

export function knownShipped({ audit }: StreamStatus): Shipped {
  return { segments: audit?.shippedSegments ?? 0, sequence: audit?.shippedSequence ?? 0 };
}

/** Numbers are those up to which nothing is missing; the time is also that of a segment behind a gap. */
export function shipped(status: StreamStatus, { segments, sequence }: Shipped, nowMs: number): StreamStatus {
  const audit = { ...auditOf(status), shippedSegments: segments, shippedSequence: sequence, lastShippedAt: secondTime(nowMs) };
  return { ...status, audit };
}

function auditOf({ audit }: StreamStatus): Audit {
  return audit ?? { mode: 'Off' };
}
