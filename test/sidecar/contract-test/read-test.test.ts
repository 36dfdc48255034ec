import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#core/contract/compiled.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { readContractTest } from '#sidecar/contract-test/read-test.ts';

function read(yaml: string) {
  const { objects, problems } = readYaml(yaml, 'walk.test.yaml');
  assert.deepEqual(problems, []);
  return readContractTest(objects[0]!);
}

function problemsOf(yaml: string): readonly string[] {
  return read(yaml).problems.map(({ path, code }) => `${path}: ${code}`);
}

const HEAD = 'apiVersion: postern.dev/v1alpha1\nkind: ContractTest\nmetadata: {name: walk}\n';
const minimal = (spec: string) => `${HEAD}spec:\n  contract: list-open-issues\n${spec}`;
const oneExchange = (response: string) =>
  minimal(`  exchanges:\n  - request: {method: GET, path: /issues}\n    response: ${response}\n  expect: {status: ok}\n`);

function bodyOf(response: string): string {
  const answer = read(oneExchange(response)).test?.calls[0]?.exchanges[0]?.answer;
  assert.equal(answer?.kind, 'response');
  return new TextDecoder().decode(answer.body);
}

test('contract test: every default of the format is filled in', () => {
  const { test: read_ } = read(oneExchange('{status: 200}'));
  assert.equal(read_?.nowMs, Date.parse('2026-01-01T00:00:00Z'));
  assert.equal(read_?.onePage, false);
  assert.equal(read_?.deadlineMs, undefined);
  assert.deepEqual({ ...read_?.arguments }, {});
  assert.deepEqual(read_?.calls[0]?.expect, { status: 'ok', reasons: [], warnings: [], continuation: 'none', unconsumed: 0 });
});

test('contract test: a misspelled field names its path and the nearest one', () => {
  const { problems } = read(minimal('  exchanges: []\n  expect: {status: ok, warning: [STALE_INDEX]}\n'));
  assert.deepEqual(
    problems.map(({ object, path, code, nearest }) => [object.line, path, code, nearest]),
    [[7, 'spec.expect.warning', 'unknown-field', 'warnings']],
  );
});

test('contract test: all problems are told at once, each with its path', () => {
  const yaml = `${HEAD}spec:
  deadline: twenty seconds
  now: yesterday
  onePage: 1
  exchanges:
  - request: {method: GET, path: "issues?state=open"}
    response: {status: 42, body: {}, text: "", fault: broken}
    failure: unreachable
  expect: {status: partial, reasons: [MORE_PAGES]}
`;
  assert.deepEqual(problemsOf(yaml), [
    'spec.contract: missing-field',
    'spec.deadline: wrong-duration',
    'spec.now: wrong-time',
    'spec.onePage: wrong-type',
    'spec.exchanges[0]: one-of',
    'spec.exchanges[0].request.path: wrong-path',
    'spec.expect.reasons[0]: not-a-choice',
    'spec.expect.reasons: missing-field',
  ]);
});

test('contract test: an expectation nothing can meet is a problem', () => {
  const expecting = (expect: string) => problemsOf(minimal(`  exchanges: []\n  expect: ${expect}\n`));
  assert.deepEqual(expecting('{status: error}'), ['spec.expect.code: missing-field']);
  assert.deepEqual(expecting('{status: ok, code: REMOTE_DENIED}'), ['spec.expect.code: contradiction']);
  assert.deepEqual(expecting('{status: ok, reasons: [SOURCE_UNAVAILABLE]}'), ['spec.expect.reasons: contradiction']);
  assert.deepEqual(expecting('{status: error, code: REMOTE_DENIED, items: 0}'), ['spec.expect: contradiction']);
});

test('contract test: resume needs a cursor to go on with', () => {
  const resume = '  resume: {exchanges: [], expect: {status: ok}}\n';
  assert.deepEqual(problemsOf(minimal(`  exchanges: []\n  expect: {status: ok}\n${resume}`)), ['spec.resume: no-cursor']);
  const more = '{status: partial, reasons: [MORE_PAGES_AVAILABLE], continuation: next_cursor}';
  assert.equal(read(minimal(`  exchanges: []\n  expect: ${more}\n${resume}`)).test?.calls.length, 2);
});

test('contract test: directives expand, counting where they are told to', () => {
  const json = 'headers: {content-type: application/json}';
  assert.equal(
    bodyOf(`{${json}, body: {items: {$repeat: 2, from: 9, item: {"id-{n}": "row-{n}"}}}}`),
    '{"items":[{"id-9":"row-9"},{"id-10":"row-10"}]}',
  );
  assert.equal(bodyOf(`{${json}, body: {$repeat: 2, item: {id: {$number: "{n}"}}}}`), '[{"id":1},{"id":2}]');
  assert.equal(bodyOf(`{${json}, body: {$concat: [{$repeat: 1, item: a}, [b]]}}`), '["a","b"]');
  assert.equal(bodyOf('{headers: {content-type: text/plain}, body: {$lines: {$repeat: 2, item: "row{n}"}}}'), 'row1\nrow2');
  assert.equal(
    bodyOf('{headers: {content-type: application/xml}, body: {$concat: ["<a>", {$repeat: 2, item: "<b/>"}, "</a>"]}}'),
    '<a><b/><b/></a>',
  );
});

test('contract test: a member that only looks like a directive is data', () => {
  const json = 'headers: {content-type: application/json}';
  assert.equal(bodyOf(`{${json}, body: {$skipToken: s1, $top: 5}}`), '{"$skipToken":"s1","$top":5}');
  assert.equal(bodyOf(`{${json}, body: {$repeat: 2, unit: week}}`), '{"$repeat":2,"unit":"week"}');
});

test('contract test: a repeat of repeats stops at the limit', () => {
  const nested = '{$repeat: 10000, item: {$repeat: 10000, item: x}}';
  assert.deepEqual(
    problemsOf(oneExchange(`{body: ${nested}}`))
      .at(0)
      ?.split(': ')
      .at(-1),
    'directive',
  );
});

test('contract test: a text is raw under another type than JSON, and JSON text under JSON', () => {
  assert.equal(bodyOf('{headers: {content-type: application/problem+json}, body: gone}'), '"gone"');
  assert.equal(bodyOf('{headers: {Content-Type: text/html}, body: gone}'), 'gone');
  assert.equal(bodyOf('{headers: {content-type: application/json}, text: "{\\"n\\": 9007199254740993}"}'), '{"n": 9007199254740993}');
});

test('contract test: something of the wrong shape is a problem, not a crash', () => {
  for (const spec of [{}, { exchanges: null }, { exchanges: [null, 3] }, { expect: [] }, { arguments: 'x', resume: 1 }] as JsonValue[]) {
    const object = { kind: 'ContractTest', name: 'odd', namespace: 'default', spec: spec as Record<string, JsonValue> } as const;
    assert.notEqual(readContractTest(object).problems.length, 0);
  }
});
