import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#core/contract/compiled.ts';
import { type ContractSet, diffContracts, renderDiff } from '#core/contract/diff.ts';
import { type Direction, judgeBindingChange, judgeContractChange } from '#core/contract/diff-rules.ts';
import { actionContractSpecSchema } from '#core/resource/gen/action-contract-schema.ts';
import { credentialBindingSpecSchema } from '#core/resource/gen/credential-binding-schema.ts';
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
  ['spec.result.outcomes.absent', { 'result.outcomes': [{ name: 'absent', when: 'status == 404', is: 'Empty' }] }, 'widened', 'widened'],
  ['spec.result.order', { 'result.order': undefined }, 'widened', 'narrowed'],
  ['spec.result.items["/all"]', { 'result.items': ['/all'] }, 'widened', 'widened'],
  ['spec.completeness.required.total.anyOf["#1"]', { 'completeness.required.0.anyOf.1': { body: '/n' } }, 'widened', 'narrowed'],
  ['spec.completeness.notices.lag.when', { 'completeness.notices.0.when': 'has(body.lag)' }, 'widened', 'narrowed'],
  ['spec.completeness.totals.total.when', { 'completeness.totals.0.when': 'has(body.total)' }, 'widened', 'narrowed'],
  ['spec.completeness.totals.total.relationFrom', { 'completeness.totals.0.relationFrom': { body: '/how' } }, 'widened', 'widened'],
  ['spec.completeness.paging.end.pageIs', { 'completeness.paging.end.pageIs': ['Empty'] }, 'widened', 'narrowed'],
  ['spec.completeness.paging.end.total', { 'completeness.paging.end.total': 'total' }, 'widened', 'widened'],
  ['spec.completeness.sources', { 'completeness.sources': { list: [{ name: 'eu' }] } }, 'widened', 'widened'],
  ['spec.completeness.signals.partial.then', { 'completeness.signals.0.then': 'Restart' }, 'changed', 'changed'],
  ['spec.warnings.lag.code', { 'warnings.0.code': 'UPSTREAM_NOTICE' }, 'widened', 'widened'],
  ['spec.arguments.properties.note.x-postern-text.lines', { 'arguments.properties.note.x-postern-text.lines': 9 }, 'widened', 'widened'],
  [
    'spec.arguments.properties.note.x-postern-text.mentions',
    { 'arguments.properties.note.x-postern-text.mentions': 'refuse' },
    'widened',
    'widened',
  ],
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
  ['spec.destinations["https://api.example.com"].addresses', { 'destinations.0.addresses': ['10.0.0.0/8'] }, 'widened', 'widened'],
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

test('diff: a table entry that ignores a code widens, also as a new entry', () => {
  const entry = { match: 'lagging', ignore: 'says nothing about this list' };
  const table = (entries: readonly JsonValue[]) => ({
    'completeness.signals.1': { name: 'codes', table: { values: 'body.codes', entries, otherwise: 'COMPLETENESS_UNPROVEN' } },
  });
  const path = 'spec.completeness.signals.codes.table.entries["#0"]';
  assert.equal(directionOf(setOf(table([])), setOf(table([entry])), path), 'widened');
});

test('diff: an argument named like a keyword is judged as an argument', () => {
  const before = { 'arguments.properties.enum': { type: 'string', maxLength: 9, pattern: '^[a-z]{1,8}$' } };
  const after = { 'arguments.properties.enum': { type: 'string', maxLength: 9 } };
  assert.equal(directionOf(setOf(before), setOf(after), 'spec.arguments.properties.enum.pattern'), 'widened');
  assert.equal(directionOf(setOf(after), setOf(before), 'spec.arguments.properties.enum.pattern'), 'narrowed');
});

/** Every place of a schema; entries of lists and maps stand as `*`. What names an entry cannot differ within it. */
function fieldsOf(root: unknown, schema: unknown, path: readonly string[]): readonly (readonly string[])[] {
  const at = (of: unknown, ...names: readonly string[]): unknown =>
    names.reduce<unknown>((held, name) => (typeof held === 'object' && held !== null ? Reflect.get(held, name) : undefined), of);
  const ref = at(schema, '$ref');
  if (typeof ref === 'string') return fieldsOf(root, at(root, ...ref.split('/').slice(1)), path);
  const properties = at(schema, 'properties') ?? {};
  const named = Object.keys(properties)
    .filter((name) => path.at(-1) !== '*' || !['name', 'serviceAccount', 'origin', 'evidenceArgument'].includes(name))
    .flatMap((name) => fieldsOf(root, at(properties, name), [...path, name]));
  const many = [at(schema, 'items'), at(schema, 'additionalProperties')]
    .filter((held) => typeof held === 'object')
    .flatMap((held) => fieldsOf(root, held, [...path, '*']));
  return named.length + many.length === 0 ? [path] : [...named, ...many];
}

for (const [kind, schema, judge] of [
  ['ActionContract', actionContractSpecSchema, judgeContractChange],
  ['CredentialBinding', credentialBindingSpecSchema, judgeBindingChange],
] as const) {
  test(`diff: every field of ${kind} has a rule`, () => {
    const fields = fieldsOf(schema, schema, []);
    assert.ok(fields.length > 20);
    for (const path of fields) {
      if (path[0] === 'arguments') continue;
      assert.notEqual(judge({ path, before: 'a', after: 'b' }).says, 'a field without a rule', path.join('.'));
    }
  });
}
