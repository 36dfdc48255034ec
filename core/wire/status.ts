/**
 * PosternError <-> google.rpc.Status, the form of errors on the wire (https://google.aip.dev/193).
 *
 * - ErrorInfo: reason, domain `postern.dev`, metadata `retryable` and the error's own short facts.
 * - RequestInfo: request id. BadRequest: one violation per broken argument rule. RetryInfo: a wait.
 * - postern.v1.ErrorDetail: completeness and the way on.
 *
 * The whole stands in one response trailer, and common clients refuse metadata over 8 KiB (failure: the call ends as
 * INTERNAL without any detail). So what does not fit is left out from the least needed on: the card, which GetOperation
 * gives too, then facts of the completeness; ErrorInfo never.
 */
import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { type Any, anyPack, anyUnpack } from '@bufbuild/protobuf/wkt';
import { limits } from '#core/bounds/limits.ts';
import type { Completeness } from '#core/completeness/envelope.ts';
import { type FieldViolation, type OperationFacts, PosternError } from '#core/error/postern-error.ts';
import { REASONS, type Reason } from '#core/error/reasons.ts';
import * as rpc from '#proto/google/rpc/error_details_pb.ts';
import { StatusSchema } from '#proto/google/rpc/status_pb.ts';
import { type ErrorDetail, ErrorDetailSchema } from '#proto/postern/v1/completeness_pb.ts';
import { completenessFrom, completenessMessage } from './completeness-message.ts';
import { present } from './field.ts';

export const ERROR_DOMAIN = 'postern.dev';
export const DETAILS_TRAILER = 'grpc-status-details-bin';

export interface WireStatus {
  /** gRPC status code. */
  readonly code: number;
  /** Our own sentence, well-formed text. */
  readonly message: string;
  /** Value of `grpc-status-details-bin`: a google.rpc.Status, at most limits.errorDetailsBytesMax. */
  readonly details: Uint8Array;
}

/** The status of an error. Only reason, message, fields, details and completeness leave; `cause` never does. */
export function statusOf(error: PosternError): WireStatus {
  const { grpc: code } = REASONS[error.reason];
  const message = cut(error.message.toWellFormed(), limits.errorMessageCharsMax);
  const variants = [detailOf(error, 'all'), detailOf(error, 'without card'), detailOf(error, 'short'), undefined];
  for (const detail of variants) {
    const details = packed(code, message, error, detail);
    if (details.length <= limits.errorDetailsBytesMax) return { code, message, details };
  }
  return { code, message, details: packed(code, message, error, undefined, 'reason only') };
}

/** The error of a status as a client meets it; a status without our ErrorInfo is mapped by its code. */
export function errorFromStatus(code: number, message: string, details: Uint8Array | undefined): PosternError {
  const parts = details === undefined ? [] : unpacked(details);
  const info = find(parts, rpc.ErrorInfoSchema);
  const reason = info?.domain === ERROR_DOMAIN && Object.hasOwn(REASONS, info.reason) ? (info.reason as Reason) : reasonOfCode(code);
  const retry = find(parts, rpc.RetryInfoSchema)?.retryDelay;
  const requestId = find(parts, rpc.RequestInfoSchema)?.requestId;
  const { retryable: _, operation_id: operationId, ...facts } = info?.metadata ?? {};
  const detail = find(parts, ErrorDetailSchema);
  const completeness = detail?.completeness;
  const operation = detail === undefined ? undefined : operationFrom(detail);
  return new PosternError(reason, message, {
    fields: fieldsOf(find(parts, rpc.BadRequestSchema)),
    details: facts,
    ...(requestId ? { requestId } : {}),
    ...(operationId === undefined ? {} : { operationId }),
    ...(retry === undefined ? {} : { retryAfterMs: Number(retry.seconds) * 1000 + Math.round(retry.nanos / 1e6) }),
    ...(completeness === undefined ? {} : { completeness: completenessFrom(completeness) }),
    ...(operation === undefined ? {} : { operation }),
  });
}

/** `{ok: false, error: {...}}`, for whoever shows an error as JSON. */
export function errorJson(error: PosternError): { readonly ok: false; readonly error: Readonly<Record<string, unknown>> } {
  return {
    ok: false,
    error: {
      code: error.reason,
      message: error.message,
      retryable: error.retryable,
      request_id: error.requestId ?? '',
      ...(error.operationId === undefined ? {} : { operation_id: error.operationId }),
      ...(error.retryAfterMs === undefined ? {} : { retry_after_ms: error.retryAfterMs }),
      ...(error.fields.length === 0 ? {} : { fields: error.fields }),
      ...(Object.keys(error.details).length === 0 ? {} : { details: error.details }),
      ...(error.completeness === undefined ? {} : { completeness: error.completeness }),
      ...(error.operation === undefined ? {} : operationJson(error.operation)),
    },
  };
}

function operationJson({ approval, card, cardDigest, expiresAt, targets }: OperationFacts): Readonly<Record<string, unknown>> {
  return present({ approval, card, card_digest: cardDigest, expires_at: expiresAt, targets });
}

function packed(
  code: number,
  message: string,
  error: PosternError,
  detail: MessageInitShape<typeof ErrorDetailSchema> | undefined,
  extent: 'all' | 'reason only' = 'all',
): Uint8Array {
  const facts = extent === 'all' ? error.details : {};
  const metadata: Record<string, string> = { ...facts, retryable: String(error.retryable) };
  if (error.operationId !== undefined) metadata.operation_id = error.operationId;
  const parts = [anyPack(rpc.ErrorInfoSchema, create(rpc.ErrorInfoSchema, { reason: error.reason, domain: ERROR_DOMAIN, metadata }))];
  if (error.requestId !== undefined)
    parts.push(anyPack(rpc.RequestInfoSchema, create(rpc.RequestInfoSchema, { requestId: error.requestId })));
  if (error.fields.length > 0 && extent === 'all') parts.push(anyPack(rpc.BadRequestSchema, badRequest(error.fields)));
  if (error.retryAfterMs !== undefined) parts.push(anyPack(rpc.RetryInfoSchema, retryInfo(error.retryAfterMs)));
  if (detail !== undefined) parts.push(anyPack(ErrorDetailSchema, create(ErrorDetailSchema, detail)));
  return toBinary(StatusSchema, create(StatusSchema, { code, message, details: parts }));
}

/** `short` keeps the verdict and the way on and drops lists that grow with the contract. */
function detailOf(error: PosternError, extent: 'all' | 'without card' | 'short'): MessageInitShape<typeof ErrorDetailSchema> | undefined {
  const { operation } = error;
  const whole = isCompleteness(error.completeness) ? error.completeness : undefined;
  if (whole === undefined && operation === undefined) return undefined;
  const short = extent === 'short' && whole !== undefined ? { ...whole, sources: [], scope: { ...whole.scope, exclusions: [] } } : whole;
  return {
    operationId: error.operationId ?? '',
    ...present({
      completeness: short === undefined ? undefined : completenessMessage(short),
      approval: operation?.approval,
      card: extent === 'all' ? operation?.card : undefined,
      cardDigest: operation?.cardDigest,
      expiresAt: operation?.expiresAt,
      targets: operation?.targets,
    }),
  };
}

function operationFrom({ approval, card, cardDigest, expiresAt, targets }: ErrorDetail): OperationFacts | undefined {
  const facts: OperationFacts = present({
    approval: approval || undefined,
    card: card || undefined,
    cardDigest: cardDigest || undefined,
    expiresAt: expiresAt || undefined,
    targets:
      targets === undefined
        ? undefined
        : { done: targets.done, refused: targets.refused, untouched: targets.untouched, unknown: targets.unknown },
  });
  return Object.keys(facts).length === 0 ? undefined : facts;
}

/** `completeness` of an error is `unknown` because core/error imports nothing; only ours are ever put there. */
function isCompleteness(value: unknown): value is Completeness {
  return typeof value === 'object' && value !== null && 'incomplete_reasons' in value && 'continuation' in value && 'scope' in value;
}

function badRequest(fields: readonly FieldViolation[]): rpc.BadRequest {
  const fieldViolations = fields.slice(0, limits.errorFieldsMax).map(({ path, rule, message }) => ({
    field: path,
    reason: rule.toUpperCase(),
    description: cut(message.toWellFormed(), limits.errorMessageCharsMax),
  }));
  return create(rpc.BadRequestSchema, { fieldViolations });
}

function fieldsOf(message: rpc.BadRequest | undefined): FieldViolation[] {
  return (message?.fieldViolations ?? []).map(({ field, reason, description }) => ({
    path: field,
    rule: reason.toLowerCase(),
    message: description,
  }));
}

function retryInfo(delayMs: number): rpc.RetryInfo {
  const whole = Math.max(0, Math.ceil(delayMs));
  return create(rpc.RetryInfoSchema, { retryDelay: { seconds: BigInt(Math.floor(whole / 1000)), nanos: (whole % 1000) * 1_000_000 } });
}

function unpacked(details: Uint8Array): Any[] {
  try {
    return fromBinary(StatusSchema, details).details;
  } catch {
    // Details are a courtesy; the code and the message already say what happened.
    return [];
  }
}

function find<Desc extends DescMessage>(parts: readonly Any[], schema: Desc): MessageShape<Desc> | undefined {
  const part = parts.find(({ typeUrl }) => typeUrl.endsWith(`/${schema.typeName}`));
  return part === undefined ? undefined : anyUnpack(part, schema);
}

const REASON_OF_CODE: Readonly<Record<number, Reason>> = {
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  8: 'LIMIT_EXCEEDED',
};

function reasonOfCode(code: number): Reason {
  return REASON_OF_CODE[code] ?? 'INTERNAL';
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}
