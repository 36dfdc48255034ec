/**
 * Goal: a credential is used that was not granted, or towards a place of another one: by the requests beside the main one, by
 * sources, by labels, by another namespace, by two objects of one name. Method: compile, and look at what was let pass.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { compileBinding } from '#core/contract/binding.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { compileBundle } from '#sidecar/compile-bundle.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { type Around, type Changes, compileSample, objectOf, sampleBinding, sampleContract } from '#test/core/contract/sample-objects.ts';

const errors = (changes: Changes, around?: Around) =>
  compileSample(changes, around)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ code, path }) => `${code} ${path}`);

const ELSEWHERE = ['https://evil.test/v1/shops/x', 'https://api.example.com/admin', 'https://api.example.com/v1/shopsX/a'];

for (const name of ['open', 'next', 'close'] as const) {
  test(`aimed binding: http.${name} at another place is outside of the binding`, () => {
    for (const url of ELSEWHERE) {
      const request: JsonValue = { method: 'GET', url, ...(name === 'open' ? { values: { handle: '/h' } } : {}) };
      assert.ok(errors({ [`http.${name}`]: request }).includes(`binding-destination spec.http.${name}.url`), url);
    }
    const request: JsonValue = {
      method: 'DELETE',
      url: 'https://api.example.com/v1/shops/x',
      ...(name === 'open' ? { values: { h: '/h' } } : {}),
    };
    assert.ok(errors({ [`http.${name}`]: request }).includes(`binding-destination spec.http.${name}.method`));
  });
}

test('aimed binding: a source of another origin is outside of the binding, for each of the requests', () => {
  const sources = (source: JsonValue): Changes => ({
    'completeness.sources': { list: [source] },
    'http.close': { method: 'GET', url: 'https://api.example.com/v1/shops/close' },
  });
  for (const origin of ['https://evil.test', 'https://api.example.com:444', 'https://api.example.com.evil.test']) {
    const found = errors(sources({ name: 'a', origin, values: {} }));
    assert.ok(found.includes('binding-destination spec.http.url'), `${origin}: ${found}`);
    assert.ok(found.includes('binding-destination spec.http.close.url'), origin);
  }
  for (const origin of [
    'https://u:p@api.example.com',
    'https://api.example.com.',
    'https://127.1',
    'https://api.example.com/x',
    '$(args.code)',
  ])
    assert.ok(
      errors(sources({ name: 'a', origin, values: {} })).some((found) => found.startsWith('source-origin')),
      origin,
    );
});

test('aimed binding: a source’s own credential must be listed, granted and for that place', () => {
  const source = (credential: string): Changes => ({
    'completeness.sources': { list: [{ name: 'a', credential, values: {} }] },
    credentials: ['api-reader', credential],
  });
  const other = (changes: Changes) => ({ ...sampleBinding(changes), name: 'other' });
  const bindings = (changes: Changes) => ({ bindings: [sampleBinding(), other(changes)] });
  assert.ok(
    errors({ ...source('other'), credentials: ['api-reader'] }, bindings({})).some((found) => found.startsWith('binding-unlisted')),
  );
  assert.ok(errors(source('other'), bindings({ contracts: ['another'] })).some((found) => found.startsWith('binding-not-granted')));
  const elsewhere = bindings({ 'destinations.0.origin': 'https://evil.test' });
  assert.ok(errors(source('other'), elsewhere).includes('binding-destination spec.http.url'));
});

test('aimed binding: each label’s credential is judged with the path of that label', () => {
  const changes: Changes = {
    'http.credential': '$(resolve.shop.cred)',
    'resolve.shop': { north: { id: 'n1', cred: 'north' }, south: { id: 's1', cred: 'south' } },
    credentials: ['north', 'south'],
  };
  const only = (name: string, prefix: string) => ({ ...sampleBinding({ 'destinations.0.pathPrefixes': [prefix] }), name });
  assert.deepEqual(errors(changes, { bindings: [only('north', '/v1/shops/n1'), only('south', '/v1/shops/s1')] }), []);
  assert.deepEqual(errors(changes, { bindings: [only('north', '/v1/shops/n1'), only('south', '/v1/shops/n1')] }), [
    'binding-destination spec.http.url',
  ]);
  for (const cred of ['$(args.code)', '$(constants.kind)', 'api-$(resolve.shop.id)', '$(next.after)'])
    assert.ok(errors({ 'http.credential': cred }).length > 0, cred);
});

test('aimed binding: values of resolve and constants never become two segments, dots or a line', () => {
  for (const evil of ['a/b', '..', '.', '../admin', 'a\\b', '%2e%2e', '%2f', '..;x', 'a;b', 'a\nb', 'a\u0000', '', 'a\u2028b', '\ud800']) {
    for (const changes of [
      { 'resolve.shop.north.id': evil },
      { 'constants.kind': evil, 'http.url': 'https://api.example.com/v1/shops/$(constants.kind)' },
      {
        'completeness.sources': { list: [{ name: 'a', values: { id: evil } }] },
        'http.url': 'https://api.example.com/v1/shops/$(source.id)',
      },
    ])
      assert.ok(errors(changes).length > 0, `${JSON.stringify(evil)} in ${Object.keys(changes)[0]}`);
  }
});

test('aimed binding: a followed path leaves no prefix', () => {
  const follow = (paths: readonly string[]): Changes => ({
    'completeness.paging': { follow: { from: [{ body: '/next' }], paths, vary: ['after'] }, end: { nextIs: ['Absent'] } },
  });
  for (const path of ['/v1/*/x', '/*/shops/x', '/', '/v2/shops/', '/v1/', '/v1/shopsX/a', '/admin'])
    assert.ok(errors(follow([path])).length > 0, path);
});

test('aimed binding: a token goes to an origin the binding names, over TLS, and to nothing hidden in its URL', () => {
  const codes = (tokenUrl: string) =>
    compileBinding(
      sampleBinding({ use: { oauth2ClientCredentials: { tokenUrl, clientIdKey: 'id', clientSecretKey: 'secret' } } }),
    ).problems.map(({ code }) => code);
  for (const url of [
    'https://evil.test/token',
    'http://api.example.com/token',
    'https://api.example.com@evil.test/token',
    'https://u:p@api.example.com/token',
    'https://api.example.com\\@evil.test/token',
    'https://api.example.com./token',
    'https://api.example.com:444/token',
    'https://api.example.com/token?x=1',
    'https://api.example.com/token#x',
    'https://api.example.com/$(args.code)',
    'https://api.example.com/to\nken',
    'https:/api.example.com/token',
    '//api.example.com/token',
  ])
    assert.ok(codes(url).length > 0, url);
  assert.deepEqual(codes('https://api.example.com/token'), []);
});

test('aimed binding: a binding of another namespace is not there, and none is used by a grant of the same name', () => {
  const foreign: ResourceObject = { ...sampleBinding(), namespace: 'owner' };
  assert.equal(compileSample({}, { bindings: [foreign] }).contract?.notReady, 'The binding api-reader is not there.');
  const granted = [sampleBinding({ contracts: ['other'] }), foreign];
  assert.ok(errors({}, { bindings: granted }).includes('binding-not-granted spec.credentials[0]'));
});

function bundleOf(objects: readonly ResourceObject[]): readonly string[] {
  const { problems } = compileBundle(objects, {
    store: new CredentialStore({ directory: '/nowhere', clock: systemClock }),
    destinations: new Destinations({ allowLoopback: false }),
    clock: systemClock,
    onAnomaly: () => undefined,
  });
  return problems.filter(({ severity }) => severity === 'error').map(({ code, object }) => `${code} ${object.kind}`);
}

test('aimed binding: two objects of one name are refused, since the one judged might not be the one used', () => {
  const warnings: Changes = { warnings: [], 'completeness.notices': [], 'completeness.freshness': [] };
  const contract = sampleContract(warnings);
  assert.deepEqual(bundleOf([contract, sampleBinding()]), []);
  const wide = sampleBinding({ 'destinations.0': { origin: 'https://evil.test' } });
  assert.ok(bundleOf([contract, sampleBinding(), wide]).includes('object-duplicate CredentialBinding'));
  const elsewhere = { ...contract, namespace: 'elsewhere' };
  assert.deepEqual(bundleOf([contract, sampleBinding(), elsewhere]), ['object-duplicate ActionContract']);
  const preset = objectOf('ContractPreset', 'own-v1', '{}');
  assert.ok(
    bundleOf([contract, sampleBinding(), preset, { ...preset, namespace: 'elsewhere' }]).includes('object-duplicate ContractPreset'),
  );
});
