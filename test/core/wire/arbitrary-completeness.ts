/** Any completeness envelope there can be, for property tests. */
import fc from 'fast-check';
import type {
  Completeness,
  Continuation,
  IncompleteReason,
  OmittedField,
  RaisedWarning,
  Scope,
  SourceState,
} from '#core/completeness/envelope.ts';
import { INCOMPLETE_REASONS, WARNING_CODES } from '#core/error/reasons.ts';

const text = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' });
/** Ours end at uint32, those of a remote at 2^53. */
const count = fc.oneof(fc.nat({ max: 1000 }), fc.integer({ min: 0, max: 0xffffffff }));
const remoteCount = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const texts = fc.array(text, { minLength: 1, maxLength: 5 });

const reason: fc.Arbitrary<IncompleteReason> = fc.record(
  {
    code: fc.constantFrom(...INCOMPLETE_REASONS),
    message: text,
    origin: fc.constantFrom('sidecar', 'upstream'),
    limit: fc.dictionary(fc.constantFrom('pages', 'items', 'bytes', 'time_ms', 'message_bytes', 'total'), remoteCount, {
      minKeys: 1,
      noNullPrototype: true,
    }),
    sources: texts,
    rule: text,
  },
  { requiredKeys: ['code', 'message', 'origin'] },
);

const continuation: fc.Arbitrary<Continuation> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('next_cursor' as const),
      cursor: text,
      expires_at: text,
      snapshot: fc.constantFrom('frozen' as const, 'moving' as const),
      invalidated_by: fc.array(text),
    },
    { requiredKeys: ['kind', 'cursor', 'snapshot', 'invalidated_by'] },
  ),
  fc.record(
    { kind: fc.constant('retry_after' as const), retry_after_ms: count, retry_at: text, cursor: text, expires_at: text },
    { requiredKeys: ['kind', 'retry_after_ms', 'retry_at'] },
  ),
  fc.record({ kind: fc.constant('narrow_query' as const), arguments: fc.array(text) }),
  fc.record({ kind: fc.constant('retry_with_deadline' as const), deadline_ms: count }),
  fc.record({ kind: fc.constant('restart' as const) }),
  fc.record({ kind: fc.constant('none' as const) }),
);

const scope: fc.Arbitrary<Scope> = fc.record(
  {
    resource: text,
    visibility: text,
    exclusions: fc.array(text),
    absence: fc.constantFrom('provable', 'never'),
    snapshot: text,
    consistency: fc.constantFrom('checked', 'declared', 'single_page', 'unproven'),
  },
  { requiredKeys: ['resource', 'visibility', 'exclusions', 'absence', 'consistency'] },
);

const source: fc.Arbitrary<SourceState> = fc.record(
  {
    name: fc.string(),
    state: fc.constantFrom('complete', 'partial', 'unavailable', 'denied', 'rate_limited', 'expired', 'not_asked'),
    returned: count,
    snapshot: text,
  },
  { requiredKeys: ['name', 'state', 'returned'] },
);

const page: fc.Arbitrary<Completeness['page']> = fc.record(
  {
    returned: count,
    requested_size: fc.integer({ min: 1, max: 1_000_000 }),
    ordering: text,
    walk: fc.record({ returned: count, calls: count, pages: count }),
    at_least: remoteCount,
    about: remoteCount,
  },
  { requiredKeys: ['returned', 'walk'] },
);

const anyCompleteness: fc.Arbitrary<Completeness> = fc.record({
  complete: fc.boolean(),
  truncated: fc.boolean(),
  incomplete_reasons: fc.array(reason, { maxLength: 4 }),
  continuation,
  scope,
  page,
  sources: fc.array(source, { maxLength: 4 }),
  budget: fc.record({ deadline_ms: count, spent_ms: count, waited_ms: count }),
});

const anyWarning: fc.Arbitrary<RaisedWarning> = fc.record(
  {
    code: fc.constantFrom(...WARNING_CODES),
    name: text,
    message: text,
    source: text,
    observed_at: text,
    observed_age_ms: remoteCount,
    fields: texts,
    detail: text,
    owner: text,
    expires_at: text,
  },
  { requiredKeys: ['code', 'message'] },
);

const anyOmittedField: fc.Arbitrary<OmittedField> = fc.record({
  path: text,
  cause: fc.constantFrom('NOT_REQUESTED', 'NOT_PERMITTED', 'SOURCE_FAILED', 'ABSENT', 'UNKNOWN'),
});

/** Ordinary prototypes: what decoding makes too. */
function plain<T>(value: T): T {
  return structuredClone(value);
}

export const completeness = anyCompleteness.map(plain);
export const warning = anyWarning.map(plain);
export const omittedField = anyOmittedField.map(plain);
