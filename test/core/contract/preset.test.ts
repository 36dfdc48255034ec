import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergePresets } from '#core/contract/preset.ts';
import { showPath } from '#core/contract/spec-path.ts';
import { type Changes, compiledSample, objectOf, sampleContract } from './sample-objects.ts';

const BASE = objectOf(
  'ContractPreset',
  'base-v1',
  'http: {headers: {x-a: base, x-b: base}}\nresult: {outcomes: [{name: gone, when: "status == 1", is: Denied}, {name: slow, when: "status == 503", is: RateLimited}]}\ncompleteness: {rateLimit: {ceiling: 5m}, cursor: {ttl: 1m}}\n',
);
const PRESET = objectOf(
  'ContractPreset',
  'shop-v1',
  [
    'base: base-v1',
    'http: {headers: {X-B: preset}, query: {limit: "5", size: "9"}, body: {json: {a: 1}}}',
    'result: {outcomes: [{name: quota, when: "status == 403", is: RateLimited}], items: [/data], object: /, fields: [{name: preset_only}]}',
    'completeness:',
    '  paging: {next: [{name: after, from: [{body: /n}]}, {name: page, from: [{body: /p}]}], end: {nextIs: [Absent]}}',
    '  consistency: {mode: Keyset, when: "page.index == 0"}',
    '  signals: [{name: partial, when: "false", reason: SOURCE_UNAVAILABLE}, {name: half, when: "body.half", reason: SOURCE_UNAVAILABLE}]',
    '  cursor: {ttl: 5m, onExpiry: Fail}',
    '',
  ].join('\n'),
);

function merge(changes: Changes = {}) {
  return mergePresets(sampleContract({ 'completeness.preset': 'shop-v1', ...changes }), [BASE, PRESET]);
}

type Loose = { [name: string]: Loose } & readonly Loose[];
const at = (spec: unknown, path: string): unknown =>
  path.split('.').reduce<Loose | undefined>((value, step) => value?.[step], spec as Loose);
const names = (list: unknown): unknown[] => (list as readonly { name: string }[]).map(({ name }) => name);

test('preset: headers and query merge by key, without regard to the case of a header', () => {
  const { spec } = merge();
  assert.deepEqual({ ...(at(spec, 'http.headers') as object) }, { accept: 'application/json', 'X-B': 'preset', 'x-a': 'base' });
  assert.equal(at(spec, 'http.query.limit'), '$(limits.pageSize)');
  assert.equal(at(spec, 'http.query.size'), '9');
});

test('preset: named lists merge by name, the entries of the contract first', () => {
  const { spec } = merge();
  assert.deepEqual(names(at(spec, 'result.outcomes')), ['gone', 'quota', 'slow']);
  assert.equal(at(spec, 'result.outcomes.0.is'), 'CursorExpired');
  assert.deepEqual(names(at(spec, 'completeness.signals')), ['partial', 'half']);
  assert.equal(at(spec, 'completeness.signals.0.when'), 'has(body.partial)');
});

test('preset: a block the contract mentions replaces the preset block whole', () => {
  const { spec } = merge({ 'completeness.consistency': { mode: 'SinglePage' } });
  assert.deepEqual(at(spec, 'completeness.consistency'), { mode: 'SinglePage' });
  assert.deepEqual({ ...(at(spec, 'completeness.cursor') as object) }, { ttl: '5m', onExpiry: 'Fail' });
  assert.deepEqual(names(at(spec, 'completeness.paging.next')), ['after']);
});

test('preset: what may leave is what the contract lists, and one shape excludes the other', () => {
  const { spec } = merge();
  assert.deepEqual(names(at(spec, 'result.fields')), ['id', 'title']);
  assert.deepEqual(at(spec, 'result.items'), ['/items']);
  assert.equal(at(spec, 'result.object'), undefined);
});

test('preset: a rule is dropped by name and with a reason, also a part of next', () => {
  const without = [
    { list: 'signals', name: 'half', because: 'never sent here' },
    { list: 'outcomes', name: 'slow', because: 'never sent here' },
    { list: 'next', name: 'page', because: 'small lists only' },
  ];
  const { spec, report } = merge({ 'completeness.without': without, 'completeness.paging': undefined });
  assert.deepEqual(names(at(spec, 'completeness.signals')), ['partial']);
  assert.deepEqual(names(at(spec, 'result.outcomes')), ['gone', 'quota']);
  assert.deepEqual(names(at(spec, 'completeness.paging.next')), ['after']);
  assert.deepEqual(
    report.problems.map(({ code, severity }) => [code, severity]),
    Array.from({ length: 4 }, () => ['preset-weakened', 'warning']),
  );
});

test('preset: a signal of the same name replaces the preset rule, and that is said', () => {
  const { report } = merge();
  assert.deepEqual(
    report.problems.map(({ code, path }) => [code, path]),
    [['preset-weakened', 'spec.completeness.signals[0]']],
  );
});

test('preset: the place every line was written at is kept', () => {
  const merged = merge();
  const placeOf = (...path: (string | number)[]) => {
    const { name, path: written } = merged.written(['spec', ...path]);
    return `${name} ${showPath(written)}`;
  };
  assert.equal(placeOf('result', 'outcomes', 0, 'when'), 'list-things spec.result.outcomes[0].when');
  assert.equal(placeOf('result', 'outcomes', 1, 'when'), 'shop-v1 spec.result.outcomes[0].when');
  assert.equal(placeOf('result', 'outcomes', 2, 'when'), 'base-v1 spec.result.outcomes[1].when');
  assert.equal(placeOf('http', 'headers', 'x-a'), 'base-v1 spec.http.headers.x-a');
  assert.equal(placeOf('completeness', 'cursor', 'ttl'), 'shop-v1 spec.completeness.cursor.ttl');
  assert.equal(placeOf('completeness', 'rateLimit', 'waits'), 'list-things spec.completeness.rateLimit.waits');
});

test('preset: its digest stands in the compiled contract and changes with its text', () => {
  const read = (preset: string) =>
    compiledSample({ 'completeness.preset': 'shop-v1' }, { presets: [objectOf('ContractPreset', 'shop-v1', preset)] });
  const first = read('completeness: {cursor: {ttl: 5m}}\n');
  const second = read('completeness: {cursor: {ttl: 6m}}\n');
  assert.match(first.presets[0]?.digest ?? '', /^sha256:[0-9a-f]{64}$/);
  assert.notEqual(first.presets[0]?.digest, second.presets[0]?.digest);
  assert.notEqual(first.revision, second.revision);
  // A preset was approved as a whole, so a change of a part the contract overrides counts as well.
  assert.notEqual(
    read('completeness: {consistency: {mode: Keyset}}\n').revision,
    read('completeness: {consistency: {mode: SinglePage}}\n').revision,
  );
});
