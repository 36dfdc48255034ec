/**
 * Goal: the credential of one owner rides on a socket, in a token or in an answer of another's; a value that rotates in mid-call gets
 * out. Method: a whole sidecar with two bindings for one origin, and an upstream that notes what came over which socket.
 */
import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '#core/bounds/limits.ts';
import { errorJson } from '#core/wire/status.ts';
import { type HostileStage, json, startHostileStage } from './hostile-stage.ts';

const binding = (name: string, secret: string, contracts: string) => `
apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: ${name}, namespace: attack}
spec:
  owner: ${name}
  secret: {name: ${secret}}
  contracts: [${contracts}]
  destinations: [{origin: "UPSTREAM", transport: Plaintext, addresses: [127.0.0.1/32], methods: [GET], pathPrefixes: [/v1/${name}]}]
  use: {bearer: {key: token}}`;
const reads = (name: string, credential: string) => `
apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: attack}
spec:
  action: ${name}
  summary: Read
  owner: attack
  effect: Read
  callers: [{serviceAccount: agent}]
  credentials: [${credential}]
  arguments: {type: object, additionalProperties: false, properties: {q: {type: string, maxLength: 100}}}
  http: {credential: ${credential}, method: GET, url: "UPSTREAM/v1/${credential}", query: {q: $(args.q)}}
  result: {object: /, as: it, allFields: {because: a test}}
  completeness: {limits: {time: 8s}, scope: {resource: it, visibility: all, absence: Never}}`;
const CONTRACTS = [
  binding('one', 'postern-attack', 'first'),
  binding('two', 'postern-other', 'second'),
  reads('first', 'one'),
  reads('second', 'two'),
].join('\n---');

const TOKENS = { one: 'SYN/secret+value=42~', two: 'SYN-other-0123456789' };
let stage: HostileStage;
before(async () => {
  stage = await startHostileStage(CONTRACTS, { 'postern-other/token': TOKENS.two });
});
after(() => stage[Symbol.asyncDispose]());

const bearer = (head: string) => /^authorization: Bearer (.*)$/im.exec(head)?.[1];

test('two owners: over any interleaving a socket carries one owner’s credential only', async () => {
  const bySocket = new Map<unknown, Set<string | undefined>>();
  stage.play((socket, head) => {
    const seen = bySocket.get(socket) ?? new Set();
    bySocket.set(socket, seen.add(bearer(head)));
    assert.equal(bearer(head), head.startsWith('GET /v1/one') ? TOKENS.one : TOKENS.two);
    setTimeout(() => socket.write(json('{}')), Math.random() * 4);
  });
  await Promise.all(Array.from({ length: 120 }, (_, index) => stage.call(index % 2 === 0 ? 'first' : 'second')));
  assert.equal(stage.server.requests.length, 120);
  for (const seen of bySocket.values()) assert.equal(seen.size, 1);
});

test('two owners: one’s refused credential is not tried again as the other’s', async () => {
  stage.play((socket) => socket.write('HTTP/1.1 401 U\r\nWWW-Authenticate: Bearer realm="x"\r\nContent-Length: 0\r\n\r\n'));
  assert.equal((await stage.refused('first')).reason, 'CREDENTIAL_INVALID');
  assert.equal(stage.server.requests.length, 1);
});

test('two owners: a value that rotates while its answer is under way is masked, and the next call carries the new one', async () => {
  const path = (name: string) => join(stage.directory, 'credentials', 'postern-attack', name);
  const next = 'SYN-rotated-9876543210';
  let rotated: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    rotated = resolve;
  });
  stage.play((socket, head) => {
    if (bearer(head) === next) socket.write(json(JSON.stringify({ echo: head })));
    else void answered.then(() => socket.write(json(JSON.stringify({ echo: head }))));
  });
  const old = stage.call('first');
  while (stage.server.requests.length === 0) await wait(2);
  writeFileSync(path('..new'), next);
  renameSync(path('..new'), path('token'));
  await wait(limits.credentialCheckMs + 50);
  const renewed = await stage.call('first');
  rotated();
  for (const document of [await old, renewed]) {
    assert.doesNotMatch(JSON.stringify(document), /SYN/);
    assert.match(JSON.stringify(document.data), /\[masked\]/);
  }
  assert.equal(bearer(stage.server.requests[1] ?? ''), next);
});

test('two owners: a credential that is taken away stops its calls and nobody else’s', async () => {
  stage.play((socket) => socket.write(json('{}')));
  rmSync(join(stage.directory, 'credentials', 'postern-attack', 'token'));
  await wait(limits.credentialCheckMs + 50);
  const error = await stage.refused('first');
  assert.equal(error.reason, 'VAULT_LOCKED');
  assert.doesNotMatch(JSON.stringify(errorJson(error)), /SYN|postern-attack|token/);
  await stage.call('second');
  assert.equal(stage.server.requests.length, 1);
});
