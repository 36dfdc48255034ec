import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContractSet, diffContracts, renderDiff } from '#core/contract/diff.ts';
import type { Direction } from '#core/contract/diff-rules.ts';
import { type Changes, NOW_MS, objectOf, sampleBinding, sampleContract } from './sample-objects.ts';

const PRESET = (when: string) =>
  objectOf(
    'ContractPreset',
    'shop-v1',
    `completeness: {signals: [{name: half, when: ${JSON.stringify(when)}, reason: SOURCE_UNAVAILABLE}]}\n`,
  );

function setOf(contract: Changes = {}, binding: Changes = {}, preset = PRESET('has(body.half)')): ContractSet {
  return { contracts: [sampleContract(contract)], bindings: [sampleBinding(binding)], presets: [preset] };
}

/** Each change of the sample with the direction it must have; going back must have the other. */
const CONTRACT_ROWS: readonly (readonly [path: string, changes: Changes, direction: Direction, back: Direction])[] = [
  ['spec.effect', { effect: 'Write' }, 'widened', 'narrowed'],
  ['spec.callers.other', { 'callers.1': { serviceAccount: 'other' } }, 'widened', 'narrowed'],
  ['spec.credentials.other', { 'credentials.1': 'other' }, 'widened', 'narrowed'],
  ['spec.http.url', { 'http.url': 'https://api.example.com/v1/shops/all' }, 'widened', 'widened'],
  ['spec.http.method', { 'http.method': 'HEAD' }, 'widened', 'widened'],
  ['spec.http.query.q', { 'http.query.q': '$(args.code)' }, 'widened', 'widened'],
  ['spec.http.credential', { 'http.credential': 'other' }, 'widened', 'widened'],
  ['spec.constants.kind', { 'constants.kind': 'other' }, 'widened', 'widened'],
  ['spec.resolve.shop.north.id', { 'resolve.shop.north.id': 'n2' }, 'widened', 'widened'],
  ['spec.arguments.properties.extra', { 'arguments.properties.extra': { type: 'boolean' } }, 'widened', 'narrowed'],
  ['spec.arguments.properties.shop.enum.west', { 'arguments.properties.shop.enum.2': 'west' }, 'widened', 'narrowed'],
  ['spec.arguments.properties.words.maxLength', { 'arguments.properties.words.maxLength': 60 }, 'widened', 'narrowed'],
  ['spec.arguments.properties.count.minimum', { 'arguments.properties.count.minimum': -1 }, 'widened', 'narrowed'],
  ['spec.arguments.properties.code.pattern', { 'arguments.properties.code.pattern': undefined }, 'widened', 'narrowed'],
  ['spec.arguments.required.code', { 'arguments.required': ['shop', 'day'] }, 'widened', 'narrowed'],
  ['spec.result.fields.secret', { 'result.fields.2': { name: 'secret' } }, 'widened', 'narrowed'],
  ['spec.result.where', { 'result.where': 'item.open' }, 'narrowed', 'widened'],
  ['spec.completeness.signals.partial', { 'completeness.signals': [] }, 'widened', 'narrowed'],
  ['spec.completeness.required.total', { 'completeness.required': [] }, 'widened', 'narrowed'],
  ['spec.completeness.paging.end.nextIs.NullValue', { 'completeness.paging.end.nextIs.1': 'NullValue' }, 'widened', 'narrowed'],
  [
    'spec.completeness.consistency.mode',
    { 'completeness.consistency.mode': 'Declared', 'completeness.consistency.because': 'x' },
    'widened',
    'narrowed',
  ],
  ['spec.completeness.scope.absence', { 'completeness.scope.absence': 'Never' }, 'narrowed', 'widened'],
  ['spec.completeness.limits.pages', { 'completeness.limits.pages': 20 }, 'widened', 'narrowed'],
  ['spec.completeness.limits.time', { 'completeness.limits.time': '20s' }, 'narrowed', 'widened'],
  ['spec.completeness.onIncomplete', { 'completeness.onIncomplete': 'Fail' }, 'narrowed', 'widened'],
  ['spec.approval.mode', { approval: { mode: 'EachCall' } }, 'narrowed', 'widened'],
  ['spec.evidence', { evidence: { from: 'x' } }, 'narrowed', 'widened'],
  ['spec.recheck', { recheck: { contract: 'x' } }, 'narrowed', 'widened'],
  ['spec.suspended', { suspended: { because: 'x' } }, 'narrowed', 'widened'],
  ['spec.warnings.lag.expires', { 'warnings.0.expires': '2026-09-30' }, 'widened', 'narrowed'],
  ['spec.summary', { summary: 'List all things of $(args.shop)' }, 'changed', 'changed'],
];

const BINDING_ROWS: readonly (readonly [path: string, changes: Changes, direction: Direction, back: Direction])[] = [
  ['spec.contracts.other', { 'contracts.1': 'other' }, 'widened', 'narrowed'],
  ['spec.destinations["https://b.example.com"]', { 'destinations.1': { origin: 'https://b.example.com' } }, 'widened', 'narrowed'],
  ['spec.destinations["https://api.example.com"].methods.PUT', { 'destinations.0.methods.2': 'PUT' }, 'widened', 'narrowed'],
  ['spec.destinations["https://api.example.com"].methods', { 'destinations.0.methods': undefined }, 'widened', 'narrowed'],
  ['spec.destinations["https://api.example.com"].pathPrefixes', { 'destinations.0.pathPrefixes': undefined }, 'widened', 'narrowed'],
  ['spec.destinations["https://api.example.com"].addresses', { 'destinations.0.addresses': ['10.0.0.0/8'] }, 'widened', 'narrowed'],
  ['spec.destinations["https://api.example.com"].ca', { 'destinations.0.ca': { key: 'ca.crt' } }, 'widened', 'widened'],
  ['spec.secret.name', { 'secret.name': 'postern-other' }, 'widened', 'widened'],
  ['spec.use.bearer.key', { 'use.bearer.key': 'other' }, 'widened', 'widened'],
  ['spec.suspended', { suspended: { because: 'x' } }, 'narrowed', 'widened'],
];

function directionOf(before: ContractSet, after: ContractSet, path: string): Direction | undefined {
  const { changes } = diffContracts(before, after, NOW_MS);
  return changes.find((change) => change.path === path)?.direction;
}

for (const [path, changes, direction, back] of CONTRACT_ROWS) {
  test(`diff: ${path} of a contract is ${direction}, and going back is ${back}`, () => {
    assert.equal(directionOf(setOf(), setOf(changes), path), direction);
    assert.equal(directionOf(setOf(changes), setOf(), path), back);
  });
}

for (const [path, changes, direction, back] of BINDING_ROWS) {
  test(`diff: ${path} of a binding is ${direction}, and going back is ${back}`, () => {
    assert.equal(directionOf(setOf(), setOf({}, changes), path), direction);
    assert.equal(directionOf(setOf({}, changes), setOf(), path), back);
  });
}

test('diff: equal sets have no difference and void nothing', () => {
  const diff = diffContracts(setOf(), setOf(), NOW_MS);
  assert.deepEqual(diff, { changes: [], voided: [], problems: [] });
  assert.equal(renderDiff(diff), 'No difference in what the contracts allow.');
});

test('diff: a change of a binding or a preset voids what the contracts on it gave', () => {
  const contract = { 'completeness.preset': 'shop-v1' };
  const changedBinding = diffContracts(setOf(), setOf({}, { 'use.bearer.key': 'other' }), NOW_MS);
  assert.deepEqual(
    changedBinding.voided.map(({ action }) => action),
    ['list_things'],
  );
  const changedPreset = diffContracts(setOf(contract), setOf(contract, {}, PRESET('false')), NOW_MS);
  assert.deepEqual(
    changedPreset.voided.map(({ action }) => action),
    ['list_things'],
  );
  assert.deepEqual(
    changedPreset.changes.map(({ path, direction }) => [path, direction]),
    [['spec.completeness.signals.half.when', 'widened']],
  );
  assert.match(
    renderDiff(changedPreset),
    /^WIDENED {3}ActionContract\/list-things {2}spec\.completeness\.signals\.half\.when: .*\nvoid {6}list_things: /,
  );
});

test('diff: a new action widens, one that is gone narrows and voids', () => {
  const empty: ContractSet = { contracts: [], bindings: [], presets: [] };
  assert.deepEqual(
    diffContracts(empty, setOf(), NOW_MS).changes.map(({ direction }) => direction),
    ['widened', 'widened'],
  );
  const gone = diffContracts(setOf(), empty, NOW_MS);
  assert.deepEqual(
    gone.changes.map(({ direction }) => direction),
    ['narrowed', 'narrowed'],
  );
  assert.equal(gone.voided[0]?.after, undefined);
});
