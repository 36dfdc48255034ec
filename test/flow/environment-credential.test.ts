/**
 * Goal: one contract, a credential for each environment, and each owner's own word: where it may go, by which method, whether a person is
 * asked. Method: a whole sidecar, two remotes that note whose token they see, and two Secrets.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { compileContract } from '#core/contract/compile.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { ApprovalsStage } from './approvals-stage.ts';
import { sendJson, startUpstream, type Upstream } from './stage.ts';

const TOKENS = { staging: 'staging-token-0123456789', production: 'production-token-0123456789' } as const;

const binding = (name: keyof typeof TOKENS, place: string, more = '') => `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: ${name}, namespace: flow}
spec:
  owner: ${name}-team
  secret: {name: postern-${name}}
  contracts: [restart, show]
  destinations: [{origin: "${place}", transport: Plaintext, addresses: [127.0.0.1/32], methods: [GET, POST], pathPrefixes: [/${name}/]}]
  use: {bearer: {key: token}}
  ${more}`;

const contract = (name: string, rest: string, tables = TABLES) => `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: flow}
spec:
  action: ${name}
  owner: flow
  callers: [{serviceAccount: agent}]
  credentials: [staging, production]
  arguments: {type: object, additionalProperties: false, required: [environment], properties: {environment: {type: string, enum: [staging, production]}}}
  resolve: {environment: ${tables}}
${rest}`;

const TABLES = '{staging: {path: staging, credential: staging}, production: {path: production, credential: production}}';

const RESTART = `  summary: Restart $(args.environment)
  effect: Write
  http: {credential: $(resolve.environment.credential), method: POST, url: "UPSTREAM/$(resolve.environment.path)/restart"}
  result: {object: /, as: run, fields: [{name: seen}]}
  idempotency: {mode: Natural}
  approval: {mode: None}`;
const SHOW = `  summary: Show $(args.environment)
  effect: Read
  http: {credential: $(resolve.environment.credential), method: GET, url: "UPSTREAM/$(resolve.environment.path)/state"}
  result: {object: /, as: state, fields: [{name: seen}]}
  completeness: {scope: {resource: one state, visibility: all, absence: Never}}`;

const file = (place: string) =>
  [
    binding('staging', place),
    binding('production', place, 'approval: EachUse'),
    contract('restart', RESTART.replaceAll('UPSTREAM', place)),
    contract('show', SHOW.replaceAll('UPSTREAM', place)),
  ].join('\n---\n');

let upstream: Upstream;
let stage: ApprovalsStage;
before(async () => {
  upstream = await startUpstream(({ headers }, response) => sendJson(response, 200, { seen: String(headers.authorization).slice(7, 17) }));
  stage = await ApprovalsStage.start(file('UPSTREAM'), upstream.port);
  for (const [name, token] of Object.entries(TOKENS)) {
    const folder = join(stage.directory, 'credentials', `postern-${name}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'token'), token);
  }
});
after(async () => {
  await upstream[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.requests.length = 0;
});

const seen = () => upstream.requests.map(({ method, url, headers }) => `${method} ${url} ${headers.authorization}`);

test('credential per environment: each environment is read with its own credential', async () => {
  await stage.call('show', { environment: 'staging' });
  await stage.call('show', { environment: 'production' });
  assert.deepEqual(seen(), [`GET /staging/state Bearer ${TOKENS.staging}`, `GET /production/state Bearer ${TOKENS.production}`]);
});

test("credential per environment: EachUse of production's owner asks a person for production, and nobody for staging", async () => {
  await stage.call('restart', { environment: 'staging' });
  assert.deepEqual(seen(), [`POST /staging/restart Bearer ${TOKENS.staging}`]);
  const waiting = await stage.asked('restart', { environment: 'production' });
  assert.equal(upstream.requests.length, 1);
  assert.match(waiting.card, /Restart production/);
  assert.deepEqual(await stage.waiting(), [waiting.name]);
  await stage.approve(waiting);
  await stage.call('restart', { environment: 'production' }, { operationId: waiting.operationId });
  assert.deepEqual(seen().slice(1), [`POST /production/restart Bearer ${TOKENS.production}`]);
  // The yes was for one use: the next call is a question of its own.
  assert.notEqual((await stage.asked('restart', { environment: 'production' })).operationId, waiting.operationId);
  assert.equal(upstream.requests.length, 2);
});

test('credential per environment: many calls at once never carry the other credential', async () => {
  const environments = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'staging' : 'production'));
  await Promise.all(environments.map((environment) => stage.call('show', { environment })));
  for (const { url, headers } of upstream.requests) {
    const environment = url.startsWith('/staging/') ? 'staging' : 'production';
    assert.equal(headers.authorization, `Bearer ${TOKENS[environment]}`);
  }
  assert.equal(upstream.requests.length, 40);
});

test('credential per environment: one environment without its Secret keeps the other working', async () => {
  const path = join(stage.directory, 'credentials', 'postern-staging', 'token');
  writeFileSync(path, 'short');
  let error = await stage.refused('show', { environment: 'staging' }).catch(() => undefined);
  while (error === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    error = await stage.refused('show', { environment: 'staging' }).catch(() => undefined);
  }
  assert.equal(error.reason, 'CREDENTIAL_INVALID');
  await stage.call('show', { environment: 'production' });
  writeFileSync(path, TOKENS.staging);
});

/** As the operator and the sidecar compile it; the revision, or the problems. */
function compiled(text: string): { readonly revision?: string; readonly problems: readonly string[] } {
  const objects = parseAllDocuments(text).map((document): ResourceObject => {
    const { kind, metadata, spec } = document.toJS();
    return { kind, name: metadata.name, namespace: metadata.namespace, spec };
  });
  const found = objects.find(({ name }) => name === 'show') ?? assert.fail();
  const bindings = objects.filter(({ kind }) => kind === 'CredentialBinding');
  const result = compileContract({ contract: found, bindings, presets: [], contracts: [], nowMs: 0 });
  return {
    ...(result.contract === undefined ? {} : { revision: result.contract.revision }),
    problems: result.problems.filter(({ severity }) => severity !== 'warning').map(({ code, path }) => `${code} ${path}`),
  };
}

const PLACE = 'http://127.0.0.1:8080';
const parts = (change: (text: string, index: number) => string) => file(PLACE).split('\n---\n').map(change).join('\n---\n');

test('credential per environment: the revision speaks for both bindings', () => {
  const { revision, problems } = compiled(file(PLACE));
  assert.deepEqual(problems, []);
  for (const changed of [0, 1]) {
    const other = compiled(parts((text, index) => (index === changed ? text.replace('-team', '-people') : text)));
    assert.notEqual(other.revision, undefined);
    assert.notEqual(other.revision, revision, `binding ${changed}`);
  }
});

test('P1: a path or method that only the other environment may have does not compile', () => {
  const swapped = (text: string) => text.replace(TABLES, TABLES.replace('path: staging', 'path: production'));
  assert.deepEqual(compiled(parts(swapped)).problems, ['binding-destination spec.http.url']);
  const posts = (text: string, index: number) => (index === 1 ? text.replace('[GET, POST]', '[POST]') : text);
  assert.deepEqual(compiled(parts(posts)).problems, ['binding-destination spec.http.method']);
});

test('P1: an environment whose label names no listed binding does not compile', () => {
  const unknown = (text: string) => text.replace(TABLES, TABLES.replace('credential: production', 'credential: elsewhere'));
  assert.ok(compiled(parts(unknown)).problems.some((problem) => problem.startsWith('binding-unlisted')));
});
