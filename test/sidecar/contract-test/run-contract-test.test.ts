/**
 * Recordings against contracts, through the production path. Each test writes the contract and the recording a person
 * would write, as YAML.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileContract } from '#core/contract/compile.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { CANARY_SECRET } from '#sidecar/contract-test/canary-credential.ts';
import { readContractTest } from '#sidecar/contract-test/read-test.ts';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import { type ContractObjects, coverContracts, runContractTests } from '#sidecar/contract-test/run-contract-test.ts';
import { runCompiledTest, type TestResult } from '#sidecar/contract-test/run-test.ts';

const BINDING = `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: stock}
spec:
  owner: stock-team
  secret: {name: postern-stock}
  contracts: [list-stock]
  destinations: [{origin: "https://stock.example.test"}, {origin: "https://stock-eu.example.test"}]
  use: {bearer: {key: token}}
`;

/** `completeness` replaces the blocks below it; `more` is added to the spec. */
function contract(completeness = '', more = ''): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: list-stock}
spec:
  action: list_stock
  summary: List the stock of $(args.warehouse)
  owner: stock-team
  effect: Read
  callers: [{serviceAccount: agent}]
  credentials: [stock]
  arguments: {type: object, additionalProperties: false, required: [warehouse], properties: {warehouse: {type: string, enum: [north, south]}}}
  http:
    credential: stock
    method: GET
    url: https://stock.example.test/v1/$(args.warehouse)/items
    query: {after: "$(next.after)"}
  result:
    items: [/items]
    id: [/sku]
    outcomes: [{name: token-gone, when: "status == 410", is: CursorExpired}]
    fields: [{name: sku}, {name: note, presence: Optional}]
${more}
  completeness:
    paging: {next: [{name: after, from: [{body: /next}]}], end: {nextIs: [Absent]}}
    consistency: {mode: Declared, because: the list is sorted by its key}
    scope: {resource: items in stock, visibility: items the team may see, absence: Provable}
    signals: [{name: cut, when: "has(body.cut) && body.cut", reason: SOURCE_UNAVAILABLE}]
${completeness}
`;
}

const get = (after: string | null, body: string, more = '') =>
  `- {request: {method: GET, path: /v1/north/items, query: {after: ${after}}}, response: {status: 200, headers: {content-type: application/json}, body: ${body}${more}}}`;

/** `test` is the spec of the ContractTest without its contract and arguments. */
function recording(spec: string): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ContractTest
metadata: {name: recorded}
spec:
  contract: list-stock
  arguments: {warehouse: north}
${spec.replace(/^/gm, '  ')}
`;
}

function objects(...documents: readonly string[]): ContractObjects & { tests: readonly ResourceObject[] } {
  const read = readYaml(documents.join('---\n'), 'stock.yaml');
  assert.deepEqual(read.problems, []);
  const of = (kind: string) => read.objects.filter((object) => object.kind === kind);
  return { contracts: of('ActionContract'), bindings: of('CredentialBinding'), presets: of('ContractPreset'), tests: of('ContractTest') };
}

async function run(spec: string, completeness = '', more = ''): Promise<TestResult> {
  const [result] = await runContractTests(objects(contract(completeness, more), BINDING, recording(spec)));
  assert.ok(result);
  return result;
}

const TWO_PAGES = `exchanges:
${get('null', '{items: [{sku: a}, {sku: b}], next: c1}')}
${get('c1', '{items: [{sku: c}]}')}
`;

test('contract test: a recording that gives the expected outcome passes', async () => {
  const result = await run(
    `${TWO_PAGES}expect: {status: ok, items: 3, consistency: declared, data: {items: [{sku: a}, {sku: b}, {sku: c}]}}`,
  );
  assert.deepEqual(reportFailure(result), []);
  assert.equal(result.passed, true);
});

test('contract test: every member of the expectation can fail it', async () => {
  const failing = async (expect: string) => (await run(`${TWO_PAGES}expect: ${expect}`)).differences.map(({ at }) => at);
  assert.deepEqual(await failing('{status: partial, reasons: [SOURCE_UNAVAILABLE], continuation: next_cursor}'), [
    'status',
    'reasons',
    'continuation',
  ]);
  assert.deepEqual(await failing('{status: ok, items: 2}'), ['items']);
  assert.deepEqual(await failing('{status: ok, warnings: [STALE_INDEX]}'), ['warnings']);
  assert.deepEqual(await failing('{status: ok, consistency: checked}'), ['consistency']);
  assert.deepEqual(await failing('{status: ok, omitted: [{path: /note, cause: NOT_PERMITTED}]}'), ['omitted']);
  assert.deepEqual(await failing('{status: ok, sources: [us]}'), ['sources']);
  assert.deepEqual(await failing('{status: ok, retryAfter: 3s}'), ['retryAfter']);
  assert.deepEqual(await failing('{status: ok, data: {items: [{sku: a}, {sku: x}]}}'), ['data/items (length)', 'data/items/1/sku']);
});

test('contract test: a request nobody recorded fails with the nearest exchange', async () => {
  const result = await run(`exchanges:\n${get('null', '{items: [], next: c2}')}\n${get('c1', '{items: []}')}\nexpect: {status: ok}`);
  assert.equal(result.passed, false);
  const report = reportFailure(result).join('\n');
  assert.match(report, /a request no exchange fits: \{"method":"GET".*"after":"c2"/);
  assert.match(report, /nearest: exchanges\[1\]\n {4}query.after: expected "c1", got "c2"/);
});

test('contract test: an exchange nothing asked for fails, unless it is allowed to be left over', async () => {
  const spec = `exchanges:\n${get('null', '{items: []}')}\n${get('c1', '{items: []}')}\n`;
  const result = await run(`${spec}expect: {status: ok}`);
  assert.deepEqual(reportFailure(result), ['exchanges nothing asked for: exchanges[1]']);
  assert.equal(result.passed, false);
  assert.equal((await run(`${spec}expect: {status: ok, unconsumed: 1}`)).passed, true);
});

test('contract test: resume goes on with the cursor the call before returned', async () => {
  const spec = `onePage: true
exchanges:
${get('null', '{items: [{sku: a}], next: c1, cut: true}')}
expect: {status: partial, reasons: [MORE_PAGES_AVAILABLE, SOURCE_UNAVAILABLE], continuation: next_cursor, items: 1}
resume:
  exchanges:
${get('c1', '{items: [{sku: b}]}').replace(/^/gm, '  ')}
  expect: {status: partial, reasons: [SOURCE_UNAVAILABLE], continuation: retry_with_deadline, items: 1}
`;
  const result = await run(spec);
  assert.deepEqual(
    result.calls.map(({ outcome }) => outcome.completeness?.page.walk.returned),
    [1, 2],
  );
  // What the first page lacked is still lacking on the last.
  assert.deepEqual(
    result.calls[1]?.outcome.completeness?.incomplete_reasons.map(({ code }) => code),
    ['SOURCE_UNAVAILABLE'],
  );
});

test('contract test: a cursor expires on the clock of the recording', async () => {
  const spec = `onePage: true
exchanges:
${get('null', '{items: [{sku: a}], next: c1}')}
expect: {status: partial, reasons: [MORE_PAGES_AVAILABLE], continuation: next_cursor}
resume: {after: 11m, exchanges: [], expect: {status: error, code: CURSOR_EXPIRED}}
`;
  const result = await run(spec, '    cursor: {ttl: 10m}');
  assert.equal(result.calls[1]?.outcome.code, 'CURSOR_EXPIRED');
});

test('contract test: an answer slower than the deadline ends in the deadline', async () => {
  const spec = `deadline: 5s
exchanges:
${get('null', '{items: [{sku: a}], next: c1}', ', after: 4s')}
${get('c1', '{items: [{sku: b}]}', ', after: 4s')}
expect: {status: partial, reasons: [TIME_BUDGET_EXCEEDED, MORE_PAGES_AVAILABLE], continuation: next_cursor, items: 1}
`;
  assert.deepEqual(reportFailure(await run(spec)), []);
});

test('contract test: cut, unframed and missing answers are told apart from empty ones', async () => {
  const one = (response: string, expect: string) =>
    run(`exchanges:\n- {request: {method: GET, path: /v1/north/items}, ${response}}\nexpect: ${expect}`);
  const json = 'headers: {content-type: application/json}';
  assert.deepEqual(reportFailure(await one(`response: {${json}, body: {items: []}}`, '{status: ok, items: 0}')), []);
  const protocol = '{status: error, code: REMOTE_PROTOCOL, reasons: [COMPLETENESS_UNPROVEN]}';
  assert.deepEqual(reportFailure(await one(`response: {${json}, text: '{"items": [', fault: cut}`, protocol)), []);
  assert.deepEqual(reportFailure(await one(`response: {${json}, text: '[1'}`, protocol)), []);
  const unreachable = '{status: error, code: REMOTE_UNAVAILABLE, reasons: [SOURCE_UNAVAILABLE], continuation: retry_with_deadline}';
  const result = await one('failure: unreachable', unreachable);
  assert.equal(result.outcome?.code, 'REMOTE_UNAVAILABLE');
});

test('contract test: the canary reaches no output, and an echo of it is masked and said', async () => {
  const spec = `exchanges:\n${get('null', `{items: [{sku: a, note: "Bearer ${CANARY_SECRET}"}]}`)}\nexpect: {status: ok, warnings: [CREDENTIAL_REFLECTED], items: 1}`;
  const result = await run(spec);
  assert.ok(!JSON.stringify(result).includes(CANARY_SECRET));
  assert.deepEqual(reportFailure(result), []);
});

test('contract test: a canary that gets through fails the test, and the result does not carry it on', async () => {
  const { contracts, bindings, presets, tests } = objects(contract(), BINDING, recording(`${TWO_PAGES}expect: {status: ok, items: 3}`));
  const compiled = compileContract({ contract: contracts[0]!, bindings, presets, contracts, nowMs: 0 }).contract!;
  const read = readContractTest(tests[0]!).test!;
  // A remote that masks nothing, as if the last net were torn.
  const result = await runCompiledTest(compiled, read, () => () => ({
    ask: async () => ({
      sent: { method: 'GET', path: '/', query: {}, headers: {}, body: null },
      reply: {
        kind: 'reply',
        status: 200,
        headers: {},
        body: { items: [{ sku: CANARY_SECRET }] },
        bytes: 1,
        normalized: [],
        reflected: false,
        receivedAtMs: 0,
      },
    }),
  }));
  assert.equal(result.passed, false);
  assert.deepEqual(
    result.differences.map(({ at }) => at),
    ['credential'],
  );
  assert.ok(!JSON.stringify(result).includes(CANARY_SECRET));
});

test('contract test: arguments are checked as the agent’s are', async () => {
  const [result] = await runContractTests(
    objects(
      contract(),
      BINDING,
      recording('exchanges: []\nexpect: {status: error, code: INVALID_ARGUMENT}').replace('warehouse: north', 'warehouse: west'),
    ),
  );
  assert.deepEqual(reportFailure(result!), []);
  assert.deepEqual(result?.outcome?.fields, ['/warehouse: enum']);
});

test('contract test: a contract that may not be called answers so, and nothing is sent', async () => {
  const suspended = await run(
    'exchanges: []\nexpect: {status: error, code: SESSION_SUSPENDED}',
    '',
    '  suspended: {because: the warehouse moves}',
  );
  assert.deepEqual(reportFailure(suspended), []);
  const [unbound] = await runContractTests(
    objects(contract(), recording('exchanges: []\nexpect: {status: error, code: CONTRACT_NOT_READY}')),
  );
  assert.deepEqual(reportFailure(unbound!), []);
});

test('contract test: a contract that does not compile, or is not there, is a failed test that says why', async () => {
  const spec = 'exchanges: []\nexpect: {status: ok}';
  const [broken] = await runContractTests(objects(contract().replace('$(next.after)', '$(next.afer)'), BINDING, recording(spec)));
  assert.equal(broken?.passed, false);
  assert.deepEqual(
    broken?.problems.map(({ path, severity }) => [path, severity]),
    [
      ['spec.http.query.after', 'error'],
      ['spec.completeness.paging.next[0]', 'error'],
    ],
  );
  const [lost] = await runContractTests(
    objects(contract(), BINDING, recording(spec).replace('contract: list-stock', 'contract: list-stocks')),
  );
  assert.deepEqual(
    lost?.problems.map(({ code, nearest }) => [code, nearest]),
    [['contract-unknown', 'list-stock']],
  );
  assert.match(reportFailure(lost!).join(), /Write list-stock/);
});

test('contract test: sources of different origins are told apart by their origin', async () => {
  const sources = `    sources: {list: [{name: us, values: {}}, {name: eu, values: {}, origin: "https://stock-eu.example.test"}]}`;
  const from = (origin: string, sku: string) =>
    get('null', `{items: [{sku: ${sku}}]}`).replace('method: GET', `method: GET, origin: "${origin}"`);
  const result = await run(
    `exchanges:\n${from('https://stock-eu.example.test', 'e')}\n${from('https://stock.example.test', 'u')}\nexpect: {status: ok, items: 2, data: {items: [{sku: u}, {sku: e}]}}`,
    sources,
  );
  assert.deepEqual(reportFailure(result), []);
});

test('coverage: a rule is needed when a test fails without it, and the test is named', async () => {
  const walk = `${TWO_PAGES}expect: {status: ok, items: 3}`;
  const states = async (...tests: readonly string[]) => {
    const [covered] = await coverContracts(
      objects(contract(), BINDING, ...tests.map((spec, index) => recording(spec).replace('name: recorded', `name: recorded-${index}`))),
    );
    return Object.fromEntries(
      (covered?.rules ?? []).map(({ kind, name, state, test: by }) => [`${kind} ${name}`, by === undefined ? state : `${state} by ${by}`]),
    );
  };
  assert.deepEqual(await states(walk), {
    'outcome token-gone': 'unused',
    'next after': 'needed by recorded-0',
    'end nextIs Absent': 'needed by recorded-0',
    'signal cut': 'unused',
  });
  // The list is over, and the reason would be the same with the signal gone: nothing depends on it.
  const both = `exchanges:\n${get('null', '{items: [], cut: true}')}\nexpect: {status: partial, reasons: [SOURCE_UNAVAILABLE], continuation: retry_with_deadline}`;
  const expired = `exchanges:\n- {request: {method: GET, path: /v1/north/items}, response: {status: 410, headers: {content-type: application/json}, body: {}}}\nexpect: {status: error, code: CURSOR_EXPIRED, reasons: [CURSOR_EXPIRED], continuation: restart}`;
  const all = await states(walk, both, expired);
  assert.equal(all['signal cut'], 'needed by recorded-1');
  assert.equal(all['outcome token-gone'], 'needed by recorded-2');
});

test('coverage: a rule that matches without making a difference is told apart from one nothing meets', async () => {
  const twice = contract().replace(
    'signals: [',
    'signals: [{name: also-cut, when: "has(body.cut) && body.cut", reason: SOURCE_UNAVAILABLE}, ',
  );
  const spec = `exchanges:\n${get('null', '{items: [], cut: true}')}\nexpect: {status: partial, reasons: [SOURCE_UNAVAILABLE], continuation: retry_with_deadline}`;
  const [covered] = await coverContracts(objects(twice, BINDING, recording(spec)));
  const signals = covered?.rules.filter(({ kind }) => kind === 'signal').map(({ name, state }) => [name, state]);
  assert.deepEqual(signals, [
    ['also-cut', 'matched'],
    ['cut', 'matched'],
  ]);
});

test('coverage: a test that fails anyway covers nothing', async () => {
  const [covered] = await coverContracts(objects(contract(), BINDING, recording(`${TWO_PAGES}expect: {status: ok, items: 99}`)));
  assert.deepEqual(new Set(covered?.rules.map(({ state }) => state)), new Set(['unused']));
});
