/**
 * Goal: a credential is attached only once the destination is final, and goes nowhere else (promise P1). Method: servers that
 * only keep bytes stand where a hostile upstream points to; what they saw is compared, not what the sidecar says it did.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { HttpTarget, RequestTemplate } from '#core/contract/compiled.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { Remotes } from '#sidecar/execute/open-remotes.ts';
import { type Capture, jsonAnswer, startCapture } from './capture.ts';
import { type Stage, startStage } from './stage.ts';

const TOKEN = 'ordering-token-0123456789';
const PASSWORD = 'ordering-password-0123456789';

/** Places a hostile upstream may name; `EVIL` is the address of a server that must see nothing. */
const LINKS = [
  'http://EVIL/rows?sort=id&page=2',
  '//EVIL/rows?sort=id&page=2',
  'http://HERE@EVIL/rows?sort=id&page=2',
  'http://HERE.evil.example/rows?sort=id&page=2',
  'https://HERE/rows?sort=id&page=2',
  'http:\\\\EVIL\\rows?sort=id&page=2',
  '/\\EVIL/rows?sort=id&page=2',
  '/\t/EVIL/rows?sort=id&page=2',
  '/secrets?sort=id&page=2',
  '/rows/../secrets?sort=id&page=2',
  '/rows%2f..%2fsecrets?sort=id&page=2',
  '/rows?sort=id&page=2&all=true',
  '/rows?sort=name&page=2',
  '/rows?page=2',
  '/rows?sort=id&page=2#x',
  'ftp://HERE/rows?sort=id&page=2',
];

let good: Capture;
let evil: Capture;
let stage: Stage;
let link = 0;

before(async () => {
  evil = await startCapture();
  good = await startCapture((request) => {
    const path = request.split(' ')[1] ?? '';
    if (path.startsWith('/moved'))
      return `HTTP/1.1 ${path.slice(-3)} Moved\r\nlocation: http://127.0.0.1:${evil.port}/\r\ncontent-length: 0\r\n\r\n`;
    if (path.startsWith('/rows')) return jsonAnswer({ items: [{ id: 1 }], next: place(LINKS[link] ?? '') });
    return jsonAnswer({ id: 1 });
  });
  stage = await startStage({
    contracts: contracts(),
    upstreamPort: good.port,
    credentials: {
      'postern-flow/token': TOKEN,
      'postern-flow/password': PASSWORD,
      'postern-flow/user': 'somebody',
    },
  });
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await good?.[Symbol.asyncDispose]();
  await evil?.[Symbol.asyncDispose]();
});

function place(text: string): string {
  return text.replaceAll('EVIL', `127.0.0.1:${evil.port}`).replaceAll('HERE', `127.0.0.1:${good.port}`);
}

function contracts(): string {
  const tls = `https://127.0.0.1:${evil.port}`;
  return [
    binding(
      'reader',
      '{bearer: {key: token}}',
      'moved, follow, read-bearer',
      'origin: "UPSTREAM", transport: Plaintext, pathPrefixes: [/moved/, /rows, /one]',
    ),
    binding('keyed', '{header: {name: x-api-key, prefix: "Key ", key: token}}', 'read-keyed', 'origin: "UPSTREAM", transport: Plaintext'),
    binding('basic', '{basic: {usernameKey: user, passwordKey: password}}', 'read-basic', 'origin: "UPSTREAM", transport: Plaintext'),
    binding('distrusting', '{bearer: {key: token}}', 'read-distrusting', `origin: "${tls}"`),
    binding('elsewhere', '{bearer: {key: token}}', 'read-elsewhere', `origin: "https://localhost:${evil.port}"`, '10.0.0.0/8'),
    one(
      'moved',
      'reader',
      'UPSTREAM/moved/$(args.status)',
      ', required: [status], properties: {status: {type: string, enum: ["301", "302", "303", "307", "308"]}}',
    ),
    one('read-bearer', 'reader', 'UPSTREAM/one'),
    one('read-keyed', 'keyed', 'UPSTREAM/one'),
    one('read-basic', 'basic', 'UPSTREAM/one'),
    one('read-distrusting', 'distrusting', `${tls}/one`),
    one('read-elsewhere', 'elsewhere', `https://localhost:${evil.port}/one`),
    `${head('follow', 'reader')}
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: "UPSTREAM/rows", query: {sort: id}}
  result: {items: [/items], as: rows, id: [/id], fields: [{name: id}]}
  completeness:
    paging: {follow: {from: [{body: /next}], vary: [page]}, end: {nextIs: [NullValue]}}
    consistency: {mode: Declared, because: a test}
    limits: {pages: 5, items: 100, time: 10s}
    scope: {resource: rows, visibility: all, absence: Never}`,
  ].join('\n---\n');
}

function binding(name: string, use: string, granted: string, destination: string, addresses = '127.0.0.1/32'): string {
  return `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: ${name}, namespace: flow}
spec:
  owner: flow
  secret: {name: postern-flow}
  contracts: [${granted}]
  destinations: [{${destination}, methods: [GET], addresses: [${addresses}]}]
  use: ${use}`;
}

function head(name: string, credential: string): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: flow}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: Read
  owner: flow
  effect: Read
  callers: [{serviceAccount: agent}]
  credentials: [${credential}]`;
}

function one(name: string, credential: string, url: string, properties = ', properties: {}'): string {
  return `${head(name, credential)}
  arguments: {type: object, additionalProperties: false${properties}}
  http: {credential: ${credential}, method: GET, url: "${url}"}
  result: {object: /, as: row, fields: [{name: id}]}
  completeness: {limits: {time: 10s}, scope: {resource: one, visibility: all, absence: Never}}`;
}

test('ordering: a redirect is refused, and where it points to sees no connection', async () => {
  for (const status of ['301', '302', '303', '307', '308'])
    assert.equal((await stage.refused('moved', { status })).reason, 'REDIRECT_REFUSED', status);
  assert.equal(evil.connections, 0);
});

test('ordering: a link to another origin, path or question is not followed, by no spelling', async () => {
  for (link = 0; link < LINKS.length; link += 1) {
    const before = good.text().length;
    const answer = await stage.call('follow');
    const sent = good.text().slice(before);
    assert.equal(sent.match(/^GET /gm)?.length, 1, `${LINKS[link]}:\n${sent}`);
    assert.equal(answer.completeness.complete, false);
    assert.deepEqual(answer.data, { rows: [{ id: 1 }] });
    assert.equal(answer.completeness.continuation.kind, 'none');
  }
  assert.equal(evil.connections, 0);
  // None of them was refused for another reason than the one it is here for.
  link = LINKS.push('/rows?sort=id&page=2') - 1;
  const before = good.text().length;
  await stage.call('follow');
  assert.deepEqual(
    good
      .text()
      .slice(before)
      .match(/^GET .*(?= HTTP)/gm)
      ?.slice(0, 2),
    ['GET /rows?sort=id', 'GET /rows?sort=id&page=2'],
  );
});

test('ordering: a credential goes out exactly once, in its own header, whole', async () => {
  const pair = Buffer.from(`somebody:${PASSWORD}`).toString('base64');
  for (const [action, header, secret] of [
    ['read_bearer', `authorization: Bearer ${TOKEN}`, TOKEN],
    ['read_keyed', `x-api-key: Key ${TOKEN}`, TOKEN],
    ['read_basic', `authorization: Basic ${pair}`, pair],
  ] as const) {
    const before = good.text().length;
    await stage.call(action);
    const sent = good.text().slice(before);
    assert.equal(sent.split(secret).length, 2, sent);
    assert.deepEqual(
      sent.split('\r\n').filter((line) => line.includes(secret)),
      [header],
    );
    assert.match(sent, new RegExp(`^GET /one HTTP/1\\.1\r\nhost: 127\\.0\\.0\\.1:${good.port}\r\n`, 'i'));
    assert.equal(sent.endsWith('\r\n\r\n'), true);
  }
});

test('ordering: a name that resolves outside the range of its binding is not dialled', async () => {
  assert.equal((await stage.refused('read_elsewhere')).reason, 'EGRESS_DENIED');
  assert.equal(evil.connections, 0);
});

test('ordering: before the other side has proved who it is, it gets no byte of the request', async () => {
  const error = await stage.refused('read_distrusting', {}, { deadlineMs: 1500 });
  assert.notEqual(error.reason, 'INTERNAL');
  assert.equal(evil.connections, 1);
  // A TLS record, not a request.
  assert.equal(evil.text().charCodeAt(0), 0x16);
  assert.doesNotMatch(evil.text(), /GET|authorization|ordering-token/i);
});

test('ordering: a path outside the prefixes of the binding does not compile, and a forged contract gets no credential', async () => {
  const yaml = contracts().replaceAll(/\bUPSTREAM\b/g, `http://127.0.0.1:${good.port}`);
  const { objects, problems } = readYaml(yaml, 'contracts.yaml');
  assert.deepEqual(problems, []);
  const bindings = objects.filter(({ kind }) => kind === 'CredentialBinding');
  const contract = objects.find(({ name }) => name === 'read-bearer');
  const binding = bindings.find(({ name }) => name === 'reader');
  assert(contract !== undefined && binding !== undefined);
  const compile = (spec: typeof contract.spec) =>
    compileContract({ contract: { ...contract, spec }, bindings, presets: [], contracts: [], nowMs: Date.now() });
  const { http } = contract.spec;
  assert(typeof http === 'object' && http !== null && !Array.isArray(http));
  const outside = compile({ ...contract.spec, http: { ...http, url: `http://127.0.0.1:${good.port}/onebyone` } });
  assert.deepEqual(
    outside.problems.map(({ code, path }) => ({ code, path })),
    [{ code: 'binding-destination', path: 'spec.http.url' }],
  );

  const compiled = compile(contract.spec).contract;
  const reader = compileBinding(binding).binding;
  assert(compiled?.target.kind === 'http' && reader !== undefined);
  const remotes = new Remotes([reader], {
    store: new CredentialStore({ directory: `${stage.directory}/credentials`, clock: systemClock }),
    destinations: new Destinations({ allowLoopback: true }),
    clock: systemClock,
    onAnomaly: () => assert.fail('no caller was here'),
  });
  const { request } = compiled.target;
  const forge = async (forged: Partial<RequestTemplate>) => {
    const target: HttpTarget = { kind: 'http', credential: ['reader'], request: { ...request, ...forged } };
    const values = { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} };
    const remote = remotes.of(compiled, target)({}, undefined);
    await remote.ask(target.request, values, { signal: AbortSignal.timeout(2000), bodyBytesMax: 1000 });
  };
  const seen = good.text().length;
  for (const forged of [
    { segments: [['onebyone']] },
    { segments: [['secrets']] },
    { method: 'DELETE' },
    { origin: `http://127.0.0.1:${evil.port}` },
    { origin: `https://127.0.0.1:${good.port}` },
  ])
    await assert.rejects(forge(forged), { reason: 'EGRESS_DENIED' });
  assert.equal(good.text().length, seen);
  assert.equal(evil.connections, 1);
  await forge({});
  assert(good.text().length > seen);
});
