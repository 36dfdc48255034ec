/**
 * The defaults of the contract language, in one table: the compiler reads a contract with them filled in, and `contract explain` shows
 * them. The API server defaults nothing, so that a diff against Git stays empty.
 */

import { limits } from '#core/bounds/limits.ts';
import { isList, isObject, type JsonObject } from '#core/completeness/path.ts';
import type { JsonValue } from './compiled.ts';
import { plainText } from './plain-text.ts';
import type { SpecPath } from './spec-path.ts';

type Steps = readonly string[];

interface Default {
  /** `*` is every element of a list. The parent must be there: a block not written is off. */
  readonly at: Steps;
  readonly value: JsonValue | ((parent: JsonObject, spec: JsonObject) => JsonValue | undefined);
}

const at = (path: string, value: Default['value']): Default => ({ at: path.split('.'), value });

/** As a person writes it: `1h`, `5m`, `30s`. */
function duration(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  if (ms % 60_000 === 0) return `${ms / 60_000}m`;
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

const CONTENT_TYPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['JSON', ['application/json', 'application/problem+json']],
  ['XML', ['application/xml', 'text/xml']],
  ['NDJSON', ['application/x-ndjson', 'application/ndjson', 'application/jsonl']],
  ['Lines', ['text/plain']],
]);

const fieldPath = (field: JsonObject): JsonValue | undefined =>
  typeof field.name === 'string' ? `/${field.name.replaceAll('~', '~0').replaceAll('/', '~1')}` : undefined;

const approvalMode = (_: JsonObject, spec: JsonObject): JsonValue => {
  const absent = isObject(spec.evidence) && spec.evidence.claim === 'Absent';
  return spec.effect === 'Destructive' || absent ? 'EachCall' : 'None';
};

/** In the order they are filled in: a block before its members. */
const DEFAULTS: readonly Default[] = [
  at('resolve', {}),
  at('constants', {}),
  at('warnings', []),
  at('result', {}),
  at('result.decoder', 'JSON'),
  at('result.contentTypes', (result) => CONTENT_TYPES.get(plainText(result.decoder)) ?? []),
  at('result.outcomes', []),
  at('result.object', (result) => (result.items === undefined ? '/' : undefined)),
  at('result.absentItems', (result) => (result.items === undefined ? undefined : 'Error')),
  at('result.as', 'items'),
  at('result.id', []),
  at('result.fields.*.path', fieldPath),
  at('result.fields.*.presence', 'Required'),
  at('result.lines.unmatched', 'Keep'),
  at('completeness', {}),
  at('completeness.paging', {}),
  at('completeness.paging.mode', 'Walk'),
  at('completeness.paging.next.*.presence', 'Required'),
  at('completeness.paging.follow.paths', []),
  at('completeness.paging.counter.start', 0),
  at('completeness.paging.counter.stride', 'Returned'),
  at('completeness.paging.end.flag.presence', 'Required'),
  at('completeness.paging.remainder', 'Pages'),
  at('completeness.consistency', {}),
  at('completeness.consistency.mode', 'SinglePage'),
  at('completeness.required', []),
  at('completeness.required.*.read', 'EveryPage'),
  at('completeness.signals', []),
  at('completeness.notices', []),
  at('completeness.totals', []),
  at('completeness.totals.*.relation', 'Exact'),
  at('completeness.totals.*.counts', 'RawItems'),
  at('completeness.totals.*.read', 'EveryPage'),
  at('completeness.totals.*.constant', 'Ignored'),
  at('completeness.totals.*.onFewer', 'COMPLETENESS_UNPROVEN'),
  at('completeness.totals.*.onMore', 'COMPLETENESS_UNPROVEN'),
  at('completeness.reach.fullPage', 'Ignore'),
  at('completeness.reach.probe.drop', 'Last'),
  at('completeness.reach.narrowBy', []),
  at('completeness.cursor', {}),
  at('completeness.cursor.ttl', duration(limits.cursorTtlMsDefault)),
  at('completeness.cursor.onExpiry', 'Fail'),
  at('completeness.cursor.afterMutation', 'Keep'),
  at('completeness.job.interval', duration(limits.jobIntervalMsDefault)),
  at('completeness.job.rowsWhilePending', 'Discard'),
  at('completeness.rateLimit', {}),
  at('completeness.rateLimit.wait', 'Never'),
  at('completeness.rateLimit.waits', []),
  at('completeness.rateLimit.waits.*.unit', (wait) => (wait.fixed === undefined ? 'RetryAfter' : undefined)),
  at('completeness.rateLimit.floor', duration(limits.rateLimitFloorMsDefault)),
  at('completeness.rateLimit.ceiling', duration(limits.rateLimitCeilingMsDefault)),
  at('completeness.freshness', []),
  at('completeness.scope.exclusions', []),
  at('completeness.scope.absence', 'Never'),
  at('completeness.limits', {}),
  at('completeness.limits.pages', limits.walkPagesDefault),
  at('completeness.limits.items', limits.walkItemsDefault),
  at('completeness.limits.bytes', `${limits.walkBytesDefault / 1024 ** 2}Mi`),
  at('completeness.limits.time', duration(limits.walkTimeMsDefault)),
  at('completeness.limits.parallel', limits.walkParallelDefault),
  at('completeness.onIncomplete', 'Return'),
  at('evidence.onIncomplete', 'Refuse'),
  at('evidence.proof', 'Checked'),
  at('idempotency', {}),
  at('idempotency.mode', 'None'),
  at('approval', {}),
  at('approval.mode', approvalMode),
  // Where nobody is asked a time would only mislead; a binding that asks all the same uses this one too.
  at('approval.expiresAfter', (approval) => (approval.mode === 'None' ? undefined : duration(limits.approvalExpiresMs))),
  at('approval.calls', (approval) => (approval.mode === 'Session' ? limits.approvalCallsDefault : undefined)),
];

/** The spec with every default in its place, and the places that were filled. The given spec is not changed. */
export function fillDefaults(spec: JsonObject): { readonly spec: JsonObject; readonly filled: readonly SpecPath[] } {
  const copy = structuredClone(spec) as Record<string, JsonValue>;
  const filled: SpecPath[] = [];
  for (const entry of DEFAULTS) {
    const name = entry.at.at(-1) ?? '';
    for (const place of parentsOf(copy, entry.at.slice(0, -1))) {
      if (Object.hasOwn(place.object, name)) continue;
      const value = typeof entry.value === 'function' ? entry.value(place.object, copy) : entry.value;
      if (value === undefined) continue;
      place.object[name] = structuredClone(value);
      filled.push([...place.path, name]);
    }
  }
  return { spec: copy, filled };
}

interface Place {
  readonly object: Record<string, JsonValue>;
  readonly path: SpecPath;
}

/** Every map the steps lead to. */
function parentsOf(spec: JsonObject, steps: Steps): readonly Place[] {
  let places: { value: JsonValue | undefined; path: SpecPath }[] = [{ value: spec, path: [] }];
  for (const step of steps) {
    places = places.flatMap(({ value, path }) => {
      if (step === '*')
        return isList(value ?? null) ? (value as readonly JsonValue[]).map((item, index) => ({ value: item, path: [...path, index] })) : [];
      return isObject(value) && Object.hasOwn(value, step) ? [{ value: value[step], path: [...path, step] }] : [];
    });
  }
  return places.flatMap(({ value, path }) => (isObject(value) ? [{ object: value as Record<string, JsonValue>, path }] : []));
}
