/** Messages about the audit in the words of operator/witness, and its answers in those of the protocol. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Reason } from '#core/error/reasons.ts';
import type { EpochVerdict } from '#operator/witness/epochs.ts';
import type { AskedUpload, PermitRefusedBecause, PermitVerdict } from '#operator/witness/permits.ts';
import { AuditObject, type AuditUpload, type ConnectRequest, type ConnectResponseSchema } from '#proto/postern/control/v1/control_pb.ts';

export type Told = NonNullable<MessageInitShape<typeof ConnectResponseSchema>['message']>;
export type AuditMessage = Extract<ConnectRequest['message'], { case: 'auditEpoch' | 'auditHead' | 'auditIntent' | 'auditUpload' }>;

export function isAudit(message: ConnectRequest['message']): message is AuditMessage {
  const { case: kind } = message;
  return kind === 'auditEpoch' || kind === 'auditHead' || kind === 'auditIntent' || kind === 'auditUpload';
}

/** Numbers that are not exact here become ones nobody takes. */
export function askedUpload({ object, number, bytes, sha256, firstSequence, lastSequence, stored }: AuditUpload): AskedUpload {
  return {
    object: object === AuditObject.MANIFEST ? 'manifest' : 'segment',
    number: object === AuditObject.UNSPECIFIED ? Number.NaN : Number(number),
    bytes: Number(bytes),
    sha256,
    firstSequence: Number(firstSequence),
    lastSequence: Number(lastSequence),
    stored,
  };
}

export function certificateTold(epoch: number, verdict: EpochVerdict): Told {
  if (verdict.kind === 'certified') return { case: 'auditCertificate', value: { epoch, note: verdict.note } };
  return { case: 'auditCertificate', value: { epoch, refused: refusal(verdict.message) } };
}

/** `known`: the head that stands against it. */
export function receiptTold(size: number, note: string, refusedBecause?: string, known = ''): Told {
  const value = { size: BigInt(Number.isSafeInteger(size) ? size : 0), note, known };
  return { case: 'auditReceipt', value: refusedBecause === undefined ? value : { ...value, refused: refusal(refusedBecause) } };
}

export function keptTold(sequence: bigint, refusedBecause?: string): Told {
  return { case: 'auditIntentKept', value: { sequence, ...(refusedBecause === undefined ? {} : { refused: refusal(refusedBecause) }) } };
}

export function permitTold({ object, number }: AuditUpload, verdict: PermitVerdict, next: number): Told {
  const value = { object, number, next: BigInt(next) };
  if (verdict.kind === 'present') return { case: 'auditPermit', value: { ...value, present: true } };
  if (verdict.kind === 'refused')
    return { case: 'auditPermit', value: { ...value, refused: refusal(verdict.message, CODES[verdict.because]) } };
  const { url, headers, expiresMs } = verdict.put;
  const sent = Object.entries(headers).map(([name, text]) => ({ name, value: text }));
  return { case: 'auditPermit', value: { ...value, url, headers: sent, expiresMs: BigInt(Math.floor(expiresMs)) } };
}

const CODES: Readonly<Partial<Record<PermitRefusedBecause, Reason>>> = {
  malformed: 'INVALID_ARGUMENT',
  occupied: 'IDEMPOTENCY_CONFLICT',
};

function refusal(message: string, code: Reason = 'AUDIT_UNAVAILABLE') {
  return { code, message, operationId: '' };
}
