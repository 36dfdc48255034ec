/** Recordings of effects, through the production path. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml } from '#core/contract/read-yaml.ts';
import { runContractTests } from '#sidecar/contract-test/run-contract-test.ts';
import type { TestResult } from '#sidecar/contract-test/run-test.ts';

const BINDING = `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: stock}
spec:
  owner: stock-team
  secret: {name: postern-stock}
  contracts: [move-stock]
  destinations: [{origin: "https://stock.example.test"}]
  use: {bearer: {key: token}}
---
`;
const APP = BINDING.replace('{bearer: {key: token}}', '{githubApp: {appIdKey: a, installationIdKey: i, privateKeyKey: k}}').replace(
  'destinations: [',
  'destinations: [{origin: "https://api.github.com"}, ',
);
const CERTIFICATE = BINDING.replace('{bearer: {key: token}}', '{clientCertificate: {certificateKey: c, privateKeyKey: k}}');

function contract({ each = '' } = {}): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: move-stock}
spec:
  action: move_stock
  summary: Move $(args.skus)
  owner: stock-team
  effect: Write
  callers: [{serviceAccount: agent}]
  credentials: [stock]
  arguments:
    type: object
    additionalProperties: false
    required: [skus, to]
    properties:
      skus: {type: array, minItems: 1, maxItems: 5, uniqueItems: true, items: {type: string, maxLength: 20}}
      to: {type: string, enum: [north, south]}
  http:
    credential: stock
    method: POST
    url: https://stock.example.test/v1/${each === '' ? 'moves' : 'moves/$(each)'}
    body: {json: {${each === '' ? 'skus: $(args.skus), ' : ''}to: $(args.to)}}
  result:
    object: /
    as: move
    fields: [{name: id}]
    outcomes: [{name: taken, when: "status == 409", is: Rejected}]
  idempotency: {mode: Key, header: idempotency-key, ttl: 24h}
  approval: {mode: EachCall}
${each}
---
`;
}
const EACH = (onFailure: string) => `  forEach: {argument: /skus, order: Sequential, onFailure: ${onFailure}}`;

const post = (path: string, answer: string, request = '') => `
  - request: {method: POST, path: ${path}${request}}
    ${answer}`;
const ok = (id: number) => `response: {status: 201, headers: {content-type: application/json}, body: {id: ${id}}}`;

async function run(contractText: string, exchanges: string, expect: string, skus = '[a, b]', binding = BINDING): Promise<TestResult> {
  const text = `${binding}${contractText}apiVersion: postern.dev/v1alpha1
kind: ContractTest
metadata: {name: one}
spec:
  contract: move-stock
  arguments: {skus: ${skus}, to: north}
  exchanges:${exchanges}
  expect: ${expect}
`;
  const { objects, problems } = readYaml(text, 'f.yaml');
  assert.deepEqual(problems, []);
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const [result] = await runContractTests({
    contracts: ofKind('ActionContract'),
    bindings: ofKind('CredentialBinding'),
    presets: [],
    tests: ofKind('ContractTest'),
  });
  assert.ok(result !== undefined);
  return result;
}

async function passes(...given: Parameters<typeof run>): Promise<void> {
  const { passed, differences, problems, calls } = await run(...given);
  assert.ok(passed, JSON.stringify({ differences, problems, calls }, null, 1));
}

test('replay effect: a write is sent once, with its key, and answers one object', async () => {
  const exchanges = post(
    '/v1/moves',
    ok(7),
    ', headers: {idempotency-key: op_contracttest00000000000000}, body: {skus: [a, b], to: north}',
  );
  await passes(contract(), exchanges, '{status: ok, items: 1, data: {move: {id: 7}}}');
});

test('replay effect: a refusal is its error, a lost reply is OUTCOME_UNKNOWN, a request that never left is neither', async () => {
  const json = 'headers: {content-type: application/json}, body: {}';
  await passes(contract(), post('/v1/moves', `response: {status: 409, ${json}}`), '{status: error, code: REMOTE_REJECTED}');
  await passes(contract(), post('/v1/moves', `response: {status: 503, ${json}}`), '{status: error, code: OUTCOME_UNKNOWN}');
  await passes(contract(), post('/v1/moves', 'failure: timedOut'), '{status: error, code: OUTCOME_UNKNOWN}');
  await passes(contract(), post('/v1/moves', 'failure: unreachable'), '{status: error, code: REMOTE_UNAVAILABLE}');
});

test('replay effect: a cut answer is done, and not all of it', async () => {
  const cut = 'response: {status: 201, headers: {content-type: application/json}, text: "{", fault: cut}';
  await passes(contract(), post('/v1/moves', cut), '{status: partial, reasons: [COMPLETENESS_UNPROVEN], data: {move: null}}');
});

test('replay effect: forEach sends one request an element, and stops where the contract says', async () => {
  const first = post('/v1/moves/a', ok(1), ', headers: {idempotency-key: op_contracttest00000000000000-0}');
  const second = post('/v1/moves/b', ok(2), ', headers: {idempotency-key: op_contracttest00000000000000-1}');
  await passes(contract({ each: EACH('Stop') }), first + second, '{status: ok, items: 2, data: {move: [{id: 1}, {id: 2}]}}');
  const refused = post('/v1/moves/a', 'response: {status: 409, headers: {content-type: application/json}, body: {}}');
  await passes(contract({ each: EACH('Stop') }), refused + second, '{status: error, code: REMOTE_REJECTED, unconsumed: 1}');
  await passes(contract({ each: EACH('Continue') }), refused + second, '{status: error, code: REMOTE_REJECTED}');
  const lost = post('/v1/moves/a', 'failure: timedOut');
  await passes(contract({ each: EACH('Continue') }), lost + second, '{status: error, code: OUTCOME_UNKNOWN}');
  await passes(contract({ each: EACH('Stop') }), lost + second, '{status: error, code: OUTCOME_UNKNOWN, unconsumed: 1}');
});

test('replay effect: a value that does not fit its place sends nothing at all', async () => {
  const nothing = ' []';
  await passes(contract({ each: EACH('Continue') }), nothing, '{status: error, code: INVALID_ARGUMENT}', '[a, "b/c"]');
});

test('replay effect: a contract is tested the same, whatever its credential is made of', async () => {
  for (const binding of [APP, CERTIFICATE]) await passes(contract(), post('/v1/moves', ok(7)), '{status: ok, items: 1}', '[a, b]', binding);
});
