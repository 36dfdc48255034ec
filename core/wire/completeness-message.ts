/**
 * The completeness envelope between its value (core/completeness/envelope.ts) and its message
 * (proto/postern/v1/completeness.proto), field by field in both directions.
 *
 * Reading is tolerant of what a newer sidecar may add: an unknown enum value becomes the word that promises least
 * (`unproven`, `never`, `partial`), never one that promises more.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type {
  Completeness,
  Continuation,
  IncompleteReason,
  OmittedField,
  RaisedWarning,
  Scope,
  SourceState,
} from '#core/completeness/envelope.ts';
import { INCOMPLETE_REASONS, type IncompleteCode, WARNING_CODES, type WarningCode } from '#core/error/reasons.ts';
import * as pb from '#proto/postern/v1/completeness_pb.ts';
import { fromWord, numberOf, present, toCount, toUint32, toWord } from './field.ts';

const ORIGIN = { sidecar: pb.Origin.SIDECAR, upstream: pb.Origin.UPSTREAM } as const;
const SNAPSHOT = { moving: pb.Snapshot.MOVING, frozen: pb.Snapshot.FROZEN } as const;
const ABSENCE = { never: pb.Absence.NEVER, provable: pb.Absence.PROVABLE } as const;
const CONSISTENCY = {
  unproven: pb.Consistency.UNPROVEN,
  checked: pb.Consistency.CHECKED,
  declared: pb.Consistency.DECLARED,
  single_page: pb.Consistency.SINGLE_PAGE,
} as const;
const SOURCE_STATE = {
  partial: pb.SourceState_State.PARTIAL,
  complete: pb.SourceState_State.COMPLETE,
  unavailable: pb.SourceState_State.UNAVAILABLE,
  denied: pb.SourceState_State.DENIED,
  rate_limited: pb.SourceState_State.RATE_LIMITED,
  expired: pb.SourceState_State.EXPIRED,
  not_asked: pb.SourceState_State.NOT_ASKED,
} as const;
const CAUSE = {
  UNKNOWN: pb.OmittedField_Cause.UNKNOWN,
  NOT_REQUESTED: pb.OmittedField_Cause.NOT_REQUESTED,
  NOT_PERMITTED: pb.OmittedField_Cause.NOT_PERMITTED,
  SOURCE_FAILED: pb.OmittedField_Cause.SOURCE_FAILED,
  ABSENT: pb.OmittedField_Cause.ABSENT,
} as const;

export function completenessMessage(value: Completeness): pb.Completeness {
  return create(pb.CompletenessSchema, {
    complete: value.complete,
    truncated: value.truncated,
    incompleteReasons: value.incomplete_reasons.map(reasonMessage),
    continuation: continuationMessage(value.continuation),
    scope: {
      ...value.scope,
      exclusions: [...value.scope.exclusions],
      absence: toWord(ABSENCE, value.scope.absence),
      snapshot: value.scope.snapshot ?? '',
      consistency: toWord(CONSISTENCY, value.scope.consistency),
    },
    page: {
      returned: toUint32(value.page.returned),
      requestedSize: toUint32(value.page.requested_size ?? 0),
      ordering: value.page.ordering ?? '',
      walk: {
        returned: toUint32(value.page.walk.returned),
        calls: toUint32(value.page.walk.calls),
        pages: toUint32(value.page.walk.pages),
      },
      ...present({ atLeast: toCount(value.page.at_least), about: toCount(value.page.about) }),
    },
    sources: value.sources.map(sourceMessage),
    budget: {
      deadlineMs: toUint32(value.budget.deadline_ms),
      spentMs: toUint32(value.budget.spent_ms),
      waitedMs: toUint32(value.budget.waited_ms),
    },
  });
}

/** A message without continuation, scope, page or budget is read as one that promises nothing. */
export function completenessFrom(message: pb.Completeness): Completeness {
  const { page, budget } = message;
  return {
    complete: message.complete,
    truncated: message.truncated,
    incomplete_reasons: message.incompleteReasons.map(reasonFrom),
    continuation: continuationFrom(message.continuation),
    scope: scopeFrom(message.scope),
    page: {
      returned: page?.returned ?? 0,
      ...present({
        requested_size: page?.requestedSize || undefined,
        ordering: page?.ordering || undefined,
        at_least: page?.atLeast === undefined ? undefined : numberOf(page.atLeast),
        about: page?.about === undefined ? undefined : numberOf(page.about),
      }),
      walk: { returned: page?.walk?.returned ?? 0, calls: page?.walk?.calls ?? 0, pages: page?.walk?.pages ?? 0 },
    },
    sources: message.sources.map(sourceFrom),
    budget: { deadline_ms: budget?.deadlineMs ?? 0, spent_ms: budget?.spentMs ?? 0, waited_ms: budget?.waitedMs ?? 0 },
  };
}

export function warningMessage(value: RaisedWarning): pb.Warning {
  return create(pb.WarningSchema, {
    code: value.code,
    name: value.name ?? '',
    message: value.message,
    source: value.source ?? '',
    observedAt: value.observed_at ?? '',
    fields: [...(value.fields ?? [])],
    detail: value.detail ?? '',
    owner: value.owner ?? '',
    expiresAt: value.expires_at ?? '',
    ...present({ observedAgeMs: toCount(value.observed_age_ms) }),
  });
}

export function warningFrom(message: pb.Warning): RaisedWarning {
  return {
    code: known(WARNING_CODES, message.code, 'UPSTREAM_NOTICE'),
    message: message.message,
    ...present({
      name: message.name || undefined,
      source: message.source || undefined,
      observed_at: message.observedAt || undefined,
      observed_age_ms: message.observedAgeMs === undefined ? undefined : numberOf(message.observedAgeMs),
      fields: message.fields.length > 0 ? message.fields : undefined,
      detail: message.detail || undefined,
      owner: message.owner || undefined,
      expires_at: message.expiresAt || undefined,
    }),
  };
}

export function omittedFieldMessage(value: OmittedField): pb.OmittedField {
  return create(pb.OmittedFieldSchema, { path: value.path, cause: toWord(CAUSE, value.cause) });
}

export function omittedFieldFrom(message: pb.OmittedField): OmittedField {
  return { path: message.path, cause: fromWord(CAUSE, message.cause) };
}

function reasonMessage(value: IncompleteReason): MessageInitShape<typeof pb.IncompleteReasonSchema> {
  const limit: Record<string, bigint> = {};
  for (const [name, number] of Object.entries(value.limit ?? {})) limit[name] = toCount(number);
  return {
    code: value.code,
    message: value.message,
    origin: toWord(ORIGIN, value.origin),
    limit,
    sources: [...(value.sources ?? [])],
    rule: value.rule ?? '',
  };
}

function reasonFrom(message: pb.IncompleteReason): IncompleteReason {
  const limit = Object.entries(message.limit).map(([name, value]) => [name, numberOf(value)] as const);
  return {
    code: known(INCOMPLETE_REASONS, message.code, 'COMPLETENESS_UNPROVEN'),
    message: message.message,
    origin: fromWord(ORIGIN, message.origin),
    ...present({
      limit: limit.length > 0 ? Object.fromEntries(limit) : undefined,
      sources: message.sources.length > 0 ? message.sources : undefined,
      rule: message.rule || undefined,
    }),
  };
}

function continuationMessage(value: Continuation): MessageInitShape<typeof pb.ContinuationSchema> {
  switch (value.kind) {
    case 'next_cursor':
      return {
        kind: {
          case: 'nextCursor',
          value: {
            cursor: value.cursor,
            expiresAt: value.expires_at ?? '',
            snapshot: toWord(SNAPSHOT, value.snapshot),
            invalidatedBy: [...value.invalidated_by],
          },
        },
      };
    case 'retry_after':
      return {
        kind: {
          case: 'retryAfter',
          value: {
            retryAfterMs: toUint32(value.retry_after_ms),
            retryAt: value.retry_at,
            cursor: value.cursor ?? '',
            expiresAt: value.expires_at ?? '',
          },
        },
      };
    case 'narrow_query':
      return { kind: { case: 'narrowQuery', value: { arguments: [...value.arguments] } } };
    case 'retry_with_deadline':
      return { kind: { case: 'retryWithDeadline', value: { deadlineMs: toUint32(value.deadline_ms) } } };
    case 'restart':
      return { kind: { case: 'restart', value: {} } };
    case 'none':
      return { kind: { case: 'none', value: {} } };
  }
}

function continuationFrom(message: pb.Continuation | undefined): Continuation {
  const kind = message?.kind;
  switch (kind?.case) {
    case 'nextCursor': {
      const { cursor, expiresAt, snapshot, invalidatedBy } = kind.value;
      return {
        kind: 'next_cursor',
        cursor,
        snapshot: fromWord(SNAPSHOT, snapshot),
        invalidated_by: invalidatedBy,
        ...present({ expires_at: expiresAt || undefined }),
      };
    }
    case 'retryAfter': {
      const { retryAfterMs, retryAt, cursor, expiresAt } = kind.value;
      return {
        kind: 'retry_after',
        retry_after_ms: retryAfterMs,
        retry_at: retryAt,
        ...present({ cursor: cursor || undefined, expires_at: expiresAt || undefined }),
      };
    }
    case 'narrowQuery':
      return { kind: 'narrow_query', arguments: kind.value.arguments };
    case 'retryWithDeadline':
      return { kind: 'retry_with_deadline', deadline_ms: kind.value.deadlineMs };
    case 'restart':
      return { kind: 'restart' };
    default:
      return { kind: 'none' };
  }
}

function scopeFrom(message: pb.Scope | undefined): Scope {
  return {
    resource: message?.resource ?? '',
    visibility: message?.visibility ?? '',
    exclusions: message?.exclusions ?? [],
    absence: fromWord(ABSENCE, message?.absence),
    ...present({ snapshot: message?.snapshot || undefined }),
    consistency: fromWord(CONSISTENCY, message?.consistency),
  };
}

function sourceMessage(value: SourceState): MessageInitShape<typeof pb.SourceStateSchema> {
  return { name: value.name, state: toWord(SOURCE_STATE, value.state), returned: toUint32(value.returned), snapshot: value.snapshot ?? '' };
}

function sourceFrom(message: pb.SourceState): SourceState {
  return {
    name: message.name,
    state: fromWord(SOURCE_STATE, message.state),
    returned: message.returned,
    ...present({ snapshot: message.snapshot || undefined }),
  };
}

function known<Code extends IncompleteCode | WarningCode>(codes: readonly Code[], code: string, otherwise: Code): Code {
  return codes.find((each) => each === code) ?? otherwise;
}
