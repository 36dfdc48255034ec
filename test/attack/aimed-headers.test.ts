/**
 * Goal: a contract sets what frames a message, overrides the checked method or path, carries a credential of its own, or
 * bears a line end into the header block. Method: each name in each spelling, in the contract and in its preset.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileBinding } from '#core/contract/binding.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { type Around, compileSample, objectOf, sampleBinding } from '#test/core/contract/sample-objects.ts';

const codesOf = (changes: Readonly<Record<string, JsonValue>>, around?: Around) =>
  compileSample(changes, around)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);

const RESERVED = [
  ...['Host', 'HOST', 'hOsT', 'Content-Length', 'content_length', 'Transfer-Encoding', 'Transfer_Encoding', 'Connection', 'TE', 'Trailer'],
  ...[
    'Upgrade',
    'Expect',
    'Keep-Alive',
    'Authorization',
    'AUTHORIZATION',
    'Proxy-Authorization',
    'proxy_authorization',
    'Cookie',
    'cookie2',
  ],
  ...['Range', 'If-Range', 'Content-Type', 'content_type', 'Accept-Encoding', 'Content-Encoding', 'Forwarded', 'Via', 'HTTP2-Settings'],
  ...['X-HTTP-Method-Override', 'x_http_method_override', 'X-HTTP-Method', 'X-Method-Override', 'X-Method', 'X-Original-URL'],
  ...['X-Original-URI', 'X-Original-Host', 'X-Rewrite-URL', 'X-Envoy-Original-Path', 'X-Http-Host-Override', 'X-Host', 'X-Real-IP'],
  ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Prefix', 'x_forwarded_user', 'X-Amz-Date', 'X-Amz-Security-Token'],
];
for (const name of RESERVED) {
  test(`aimed header: ${name} is not the contract's to set, nor its preset's`, () => {
    assert.ok(codesOf({ 'http.headers': { [name]: 'x' } }).includes('header-reserved'));
    const preset = objectOf('ContractPreset', 'evil-v1', '{}', { 'http.headers': { [name]: 'x' } });
    assert.ok(codesOf({ 'completeness.preset': 'evil-v1' }, { presets: [preset] }).includes('header-reserved'));
  });
}

test('aimed header: names that are no tokens are refused', () => {
  for (const name of [
    'X-A\r\nX-B',
    'X A',
    'X:A',
    '',
    ' X',
    'X\t',
    'X-\u00e9',
    'X-\u0430',
    'X\u0000',
    '$(args.code)',
    'X-$(args.code)',
    '(x)',
    '"x"',
  ])
    assert.ok(codesOf({ 'http.headers': { [name]: 'x' } }).includes('header-name'), JSON.stringify(name));
});

test('aimed header: two spellings of one name are two values of it', () => {
  assert.ok(codesOf({ 'http.headers': { 'X-Tenant': 'a', 'x-tenant': 'b' } }).includes('duplicate-name'));
});

const CONTROLS = ['\r\nX-Evil: 1', '\n', '\r', '\u0000', '\u0085', '\u010a', '\u2028', '\u00e9', '\u007f', '\t'];
test('aimed header: no value with a control or beyond ASCII compiles, however it comes there', () => {
  for (const control of CONTROLS) {
    const evil = `a${control}b`;
    assert.ok(codesOf({ 'http.headers': { 'x-a': evil } }).includes('header-value'), `literal ${JSON.stringify(evil)}`);
    for (const changes of [
      { 'constants.kind': evil, 'http.headers': { 'x-a': '$(constants.kind)' } },
      { 'constants.kind': evil, 'http.headers': { 'x-a': 'v $(constants.kind)' } },
      { 'resolve.shop.north.id': evil, 'http.headers': { 'x-a': '$(resolve.shop.id)' } },
    ]) {
      assert.ok(codesOf(changes).includes('slot-value'), JSON.stringify(changes));
    }
  }
});

test('aimed header: white space at an end is not there for one parser and there for another', () => {
  for (const value of [' a', 'a ', ' ']) assert.ok(codesOf({ 'http.headers': { 'x-a': value } }).includes('header-value'));
});

test('aimed header: the header of the credential is not the contract’s to set', () => {
  const bindings = [sampleBinding({ use: { header: { name: 'x-api-key', key: 'token' } } })];
  for (const name of ['x-api-key', 'X-API-KEY', 'x-Api-Key', 'X_Api_Key'])
    assert.ok(codesOf({ 'http.headers': { [name]: 'mine' } }, { bindings }).includes('header-credential'), name);
  const preset = objectOf('ContractPreset', 'evil-v1', '{}', { 'http.headers': { 'x-api-key': 'x' } });
  assert.ok(codesOf({ 'completeness.preset': 'evil-v1' }, { bindings, presets: [preset] }).includes('header-credential'));
});

test('aimed header: a binding names no header that frames a message, and no prefix with a line end', () => {
  const codes = (use: JsonValue) => compileBinding(sampleBinding({ use })).problems.map(({ code }) => code);
  for (const name of ['Host', 'content-length', 'Transfer_Encoding', 'connection', 'x-http-method-override', 'proxy-authorization'])
    assert.ok(codes({ header: { name, key: 'token' } }).includes('header-reserved'), name);
  for (const name of ['a b', 'a\r\nb', 'a:', 'é']) assert.ok(codes({ header: { name, key: 'token' } }).includes('header-name'), name);
  for (const prefix of ['Token\r\n', '\nToken', 'To\u0000ken', 'Token\u010a', '\tToken'])
    assert.ok(codes({ header: { name: 'x-key', key: 'token', prefix } }).includes('header-value'), JSON.stringify(prefix));
  assert.deepEqual(codes({ header: { name: 'x-key', key: 'token', prefix: 'Token ' } }), []);
  for (const key of ['../token', 'a/b', '..', '', 'a\u0000', '/etc/passwd'])
    assert.ok(codes({ bearer: { key } }).length > 0, JSON.stringify(key));
});

test('aimed preset: where a call goes and with what is never a preset’s to say', () => {
  for (const [path, value] of [
    ['http.url', 'https://evil.test/v1'],
    ['http.credential', 'other'],
    ['http.method', 'DELETE'],
    ['http.open', { method: 'GET', url: 'https://evil.test/', values: { a: '/a' } }],
    ['http.next', { method: 'GET', url: 'https://evil.test/' }],
    ['http.close', { method: 'GET', url: 'https://evil.test/' }],
    ['credentials', ['other']],
    ['callers', [{ serviceAccount: 'everybody' }]],
    ['effect', 'Write'],
    ['resolve', { shop: { north: { id: 'evil' } } }],
    ['constants', { kind: 'evil' }],
    ['arguments', { type: 'object' }],
  ] as const) {
    const preset = objectOf('ContractPreset', 'evil-v1', '{}', { [path]: value });
    const { contract, problems } = compileSample({ 'completeness.preset': 'evil-v1' }, { presets: [preset] });
    assert.equal(contract, undefined, path);
    assert.ok(
      problems.some(({ code, object }) => code === 'preset-field' && object.name === 'evil-v1'),
      path,
    );
  }
});
