/** Who may write bindings and contracts, on a real API server with RBAC. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { limits } from '#core/bounds/limits.ts';
import { DESTINATIONS_MAX } from '#operator/guard/grant-policies.ts';
import { unavailable } from '#test/servers/build.ts';
import {
  allow,
  DRY,
  expectAllowed,
  expectRefused,
  type GuardedCluster,
  type Person,
  person,
  startGuardedCluster,
} from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
const owner = person('owner');
const author = person('author');
const bindings = '/apis/postern.dev/v1alpha1/namespaces/agents/credentialbindings';
const contracts = '/apis/postern.dev/v1alpha1/namespaces/agents/actioncontracts';

// biome-ignore lint/suspicious/noExplicitAny: tests break it
function binding(name: string, secret = 'postern-github', via: readonly string[] = []): any {
  const hops = via.map((hop, index) => ({ origin: `https://h${index}.example.com`, via: hop }));
  const destinations = [{ origin: 'https://api.example.com' }, ...hops];
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'CredentialBinding',
    metadata: { name },
    spec: { owner: 'team', secret: { name: secret }, contracts: [], destinations, use: { bearer: { key: 'token' } } },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests break it
function contract(name: string, credentials: readonly string[]): any {
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'ActionContract',
    metadata: { name },
    spec: {
      action: name.replaceAll('-', '_'),
      summary: 'List',
      owner: 'team',
      effect: 'Read',
      callers: [{ serviceAccount: 'bot' }],
      credentials,
      arguments: { type: 'object', additionalProperties: false, properties: {} },
      http: { credential: credentials[0] ?? 'none', method: 'GET', url: 'https://api.example.com/x' },
      result: { items: ['/'], as: 'items', fields: [{ name: 'a' }] },
      completeness: { scope: { resource: 'x', visibility: 'y', absence: 'Never' } },
    },
  };
}

before(async () => {
  if (skip) return;
  cluster = await startGuardedCluster();
  const writes = (resource: string) => ({
    apiGroups: ['postern.dev'],
    resources: [resource],
    verbs: ['create', 'update', 'patch', 'delete', 'get'],
  });
  await allow(cluster.call, 'agents', owner, writes('credentialbindings'), {
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get'],
    resourceNames: ['postern-github'],
  });
  const uses = { apiGroups: ['postern.dev'], resources: ['credentialbindings'], verbs: ['use'] };
  await allow(cluster.call, 'agents', owner, { ...uses, resourceNames: Array.from({ length: 9 }, (_, index) => `hop-${index}`) });
  await allow(cluster.call, 'agents', author, writes('actioncontracts'), {
    ...uses,
    resourceNames: Array.from({ length: 8 }, (_, index) => `b-${index}`),
  });
});
after(async () => cluster?.[Symbol.asyncDispose]());

const create = (path: string, object: object, as: Person) => cluster.call('POST', path + DRY, object, { as });

test('bindings: are written by somebody who may read the Secret', { skip }, async () => {
  expectAllowed(await create(bindings, binding('github'), owner));
  expectRefused(await create(bindings, binding('other', 'postern-other'), owner), /you may not read the Secret postern-other/);
});

test('bindings: need use on every hop, at most eight', { skip }, async () => {
  const hops = (count: number) => Array.from({ length: count }, (_, index) => `hop-${index}`);
  expectAllowed(await create(bindings, binding('github', 'postern-github', hops(8)), owner));
  expectAllowed(await create(bindings, binding('github', 'postern-github', [...hops(8), 'hop-0', 'hop-7']), owner));
  expectRefused(await create(bindings, binding('github', 'postern-github', hops(9)), owner), /at most 8 bindings/);
  for (const position of [0, 1, 4, 7]) {
    const list = hops(8);
    list[position] = 'bastion';
    expectRefused(await create(bindings, binding('github', 'postern-github', list), owner), /you may not use every one of .*bastion/);
  }
});

test('contracts: need use on each binding they list, at most eight', { skip }, async () => {
  const names = Array.from({ length: 8 }, (_, index) => `b-${index}`);
  expectAllowed(await create(contracts, contract('list-all', names), author));
  for (const position of [0, 3, 7]) {
    const list = [...names];
    list[position] = 'foreign';
    expectRefused(
      await create(contracts, contract('list-all', list), author),
      /you may not use every one of .*foreign.*; ask the owner of the binding for the verb use/,
    );
  }
});

test('contracts and bindings: the limits stated here are those of the CRDs', () => {
  const crd = (name: string) =>
    parse(readFileSync(join(import.meta.dirname, `../../../crds/postern.dev_${name}s.yaml`), 'utf8')).spec.versions[0].schema
      .openAPIV3Schema;
  assert.equal(crd('credentialbinding').properties.spec.properties.destinations.maxItems, DESTINATIONS_MAX);
  assert.equal(crd('actioncontract').properties.spec.properties.credentials.maxItems, limits.contractCredentialsMax);
});

test('contracts and bindings: an update is judged when it changes more than the brake', { skip }, async () => {
  for (const [path, object, as] of [
    [bindings, binding('held', 'postern-other'), owner],
    [contracts, contract('held', ['foreign']), author],
  ] as const) {
    expectAllowed(await cluster.call('POST', path, object));
    const patch = (body: object) => cluster.call('PATCH', `${path}/held`, body, { as });
    expectAllowed(await patch({ metadata: { labels: { team: 'x' }, finalizers: ['example.com/hold'] } }));
    expectAllowed(await patch({ metadata: { finalizers: null } }));
    expectAllowed(await patch({ spec: { suspended: { because: 'leaked' } } }));
    expectAllowed(await patch({ spec: { suspended: { because: 'leaked on 3 May' } } }));
    expectRefused(await patch({ spec: { suspended: null } }), /you may not/);
    expectRefused(await patch({ spec: { owner: 'me' } }), /you may not/);
    expectAllowed(await cluster.call('DELETE', `${path}/held`, undefined, { as }));
  }
});

test('bindings: announcing a new value needs no right to read it, naming another Secret does', { skip }, async () => {
  expectAllowed(await cluster.call('POST', bindings, binding('rotated', 'postern-other')));
  const patch = (body: object) => cluster.call('PATCH', `${bindings}/rotated`, body, { as: owner });
  expectAllowed(await patch({ spec: { secret: { revision: '2' } } }));
  expectAllowed(await patch({ spec: { secret: { revision: null } } }));
  expectRefused(await patch({ spec: { secret: { revision: '3', name: 'postern-third' } } }), /you may not read the Secret postern-third/);
  expectRefused(await patch({ spec: { secret: { revision: '3' }, owner: 'me' } }), /you may not read the Secret postern-other/);
});
