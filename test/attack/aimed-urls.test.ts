/**
 * Goal: a contract whose author is not the credential's owner makes the credential go somewhere else (promise P1).
 * Method: every way to write another place into a URL, against a binding of one origin and one folder; then URLs put together
 * at random, judged by Node's own parser, which the compiler's rules know nothing of.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RequestTemplate } from '#core/contract/compiled.ts';
import { compileSample, sampleBinding } from '#test/core/contract/sample-objects.ts';

const binding = sampleBinding({
  'destinations.0': { origin: 'https://api.example.com', methods: ['GET'], pathPrefixes: ['/v1/foo', '/v1/bar*', '/v2/*'] },
});
const errorsOf = (url: string) =>
  compileSample({ 'http.url': url }, { bindings: [binding] })
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);

const E = 'https://evil.test';
const AIMED: readonly (readonly [url: string, code: string])[] = [
  // another host, or what some parser takes for one
  [`${E}/v1/foo`, 'binding-destination'],
  ['https://api.example.com@evil.test/v1/foo', 'url-userinfo'],
  ['https://api.example.com:443@evil.test/v1/foo', 'url-userinfo'],
  ['https://evil.test@api.example.com/v1/foo', 'url-userinfo'],
  ['https://evil.test\\@api.example.com/v1/foo', 'url-userinfo'],
  ['https://api.example.com\\.evil.test/v1/foo', 'url-host-not-canonical'],
  ['https://evil.test\\.api.example.com/v1/foo', 'url-host-not-canonical'],
  ['https:\\\\evil.test/v1/foo', 'url-scheme'],
  ['https:/api.example.com/v1/foo', 'url-scheme'],
  ['https:api.example.com/v1/foo', 'url-scheme'],
  ['//api.example.com/v1/foo', 'url-scheme'],
  ['/v1/foo', 'url-scheme'],
  [' https://api.example.com/v1/foo', 'url-scheme'],
  ['https://api.example.com /v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com\t.evil.test/v1/foo', 'url-host-not-canonical'],
  ['https://api.exam\nple.com/v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com./v1/foo', 'url-host-trailing-dot'],
  ['https://API.example.com/v1/foo', 'url-host-not-canonical'],
  ['https://\u0430pi.example.com/v1/foo', 'url-host-not-canonical'],
  ['https://xn--pi-6kc.example.com/v1/foo', 'binding-destination'],
  ['https://api\u3002example\u3002com/v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com\u00ad/v1/foo', 'url-host-not-canonical'],
  ['https://api.ex%61mple.com/v1/foo', 'url-host-zone'],
  ['https://$(resolve.shop.host)/v1/foo', 'url-host-slot'],
  ['https://api.$(args.code).com/v1/foo', 'url-host-slot'],
  ['https://$(args.code):443/v1/foo', 'url-host-slot'],
  // addresses in other clothes
  ['https://127.1/v1/foo', 'url-host-not-canonical'],
  ['https://0x7f000001/v1/foo', 'url-host-not-canonical'],
  ['https://0177.0.0.1/v1/foo', 'url-host-not-canonical'],
  ['https://2130706433/v1/foo', 'url-host-not-canonical'],
  ['https://169.254.169.254/v1/foo', 'url-host-forbidden'],
  ['https://[::ffff:a9fe:a9fe]/v1/foo', 'url-host-forbidden'],
  ['https://[::ffff:169.254.169.254]/v1/foo', 'url-host-not-canonical'],
  ['https://[fe80::1%25eth0]/v1/foo', 'url-host-zone'],
  ['https://[::]/v1/foo', 'url-host-forbidden'],
  ['https://[64:ff9b::a9fe:a9fe]/v1/foo', 'url-host-forbidden'],
  ['https://8.8.8.8/v1/foo', 'binding-destination'],
  // ports and schemes
  ['https://api.example.com:8443/v1/foo', 'binding-destination'],
  ['https://api.example.com:443/v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com:0443/v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com:/v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com:0/v1/foo', 'binding-destination'],
  ['https://api.example.com:65536/v1/foo', 'url-host-not-canonical'],
  ['https://api.example.com:443:443/v1/foo', 'url-host-not-canonical'],
  ['http://api.example.com/v1/foo', 'url-plaintext'],
  ['ssh://api.example.com:22/v1/foo', 'url-scheme'],
  ['file:///v1/foo', 'url-scheme'],
  // paths beside the prefixes
  ['https://api.example.com/v1/foobar', 'binding-destination'],
  ['https://api.example.com/v1/fo', 'binding-destination'],
  ['https://api.example.com/v1/Foo', 'binding-destination'],
  ['https://api.example.com/v1', 'binding-destination'],
  ['https://api.example.com/', 'binding-destination'],
  ['https://api.example.com/v1/ba', 'binding-destination'],
  ['https://api.example.com/v2', 'binding-destination'],
  ['https://api.example.com/x/v1/foo', 'binding-destination'],
  ['https://api.example.com//v1/foo', 'url-empty-segment'],
  ['https://api.example.com/v1//foo', 'url-empty-segment'],
  ['https://api.example.com/v1/foo/../admin', 'url-dot-segment'],
  ['https://api.example.com/v1/foo/./x', 'url-dot-segment'],
  ['https://api.example.com/v1/foo/..;/admin', 'url-dot-segment'],
  ['https://api.example.com/v1/foo/.;x/admin', 'url-dot-segment'],
  ['https://api.example.com/v1/foo/%2e%2e/admin', 'url-dot-segment'],
  ['https://api.example.com/v1/foo/%2E./admin', 'url-dot-segment'],
  ['https://api.example.com/v1/foo%2f..%2fadmin', 'url-character'],
  ['https://api.example.com/v1/foo\\..\\admin', 'url-character'],
  ['https://api.example.com/v1/foo\t', 'url-character'],
  ['https://api.example.com/v1/foo\u2028', 'url-character'],
  ['https://api.example.com/v1/foo\uff0f\uff0e\uff0e', 'url-character'],
  ['https://api.example.com/v1/foo?x=1', 'url-query'],
  ['https://api.example.com?/v1/foo', 'url-query'],
  ['https://api.example.com/v1/foo#x', 'url-fragment'],
  ['https://api.example.com#/v1/foo', 'url-fragment'],
  // slots in the place of what the binding fixes
  ['https://api.example.com/$(args.code)/foo', 'binding-destination'],
  ['https://api.example.com/v1/$(args.code)', 'binding-destination'],
  ['https://api.example.com/v1/$(args.shop)', 'binding-destination'],
  ['https://api.example.com/v1/$(resolve.shop.id)', 'binding-destination'],
  ['https://api.example.com/v1/$(constants.kind)', 'binding-destination'],
  ['https://api.example.com/v1/$(next.after)', 'binding-destination'],
  ['https://api.example.com/v1/bar$(args.code)', 'url-partial-segment'],
  ['https://api.example.com/v1/$(args.words...)', 'binding-destination'],
  ['https://api.example.com/$(args.code)', 'url-whole-path-slot'],
  ['https://api.example.com$(args.code)/v1/foo', 'url-host-slot'],
];

for (const [url, code] of AIMED) {
  test(`aimed url: ${JSON.stringify(url)} is refused (${code})`, () => {
    const codes = errorsOf(url);
    assert.ok(codes.includes(code as never), codes.join(', ') || 'it compiles');
  });
}

test('aimed url: a password in any kind of URL is not repeated', () => {
  for (const url of ['https://u:s3cret@api.example.com/v1', 'ftp://u:s3cret@h/x', 'u:s3cret@h', 'https://u:s3cret@h.:1/']) {
    const { problems } = compileSample({ 'http.url': url }, { bindings: [binding] });
    assert.ok(problems.length > 0);
    assert.doesNotMatch(JSON.stringify(problems.map(({ message, cure }) => [message, cure])), /s3cret/, url);
  }
});

for (const url of ['/v1/foo', '/v1/foo/', '/v1/foo/$(args.code)', '/v1/bar', '/v1/barn/x', '/v2/$(args.code)/x', '/v2/a']) {
  test(`aimed url: ${url} is inside and compiles`, () => {
    assert.deepEqual(errorsOf(`https://api.example.com${url}`), []);
  });
}

const piece = fc.constantFrom(
  ...['https:', 'http:', '//', '/', '\\', '@', ':', '.', '..', '%2e', '%2f', '%00', ';', '?', '#', '443', '80', ' ', '\t', '\n', '*', '~'],
  ...[
    'api.example.com',
    'evil.test',
    'v1',
    'v2',
    'foo',
    'bar',
    'foobar',
    'FOO',
    'x',
    '\uff0f',
    '\u3002',
    '\u00ad',
    '[::1]',
    '127.1',
    '$(',
    '$$(',
  ],
);
const tail = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''));
const anyUrl = fc.oneof(
  fc.array(piece, { maxLength: 10 }).map((parts) => parts.join('')),
  tail.map((rest) => `https://api.example.com${rest}`),
  tail.map((rest) => `https://api.example.com/v1/foo${rest}`),
  tail.map((rest) => `https://api.example.com/v2/${rest}`),
);

test('aimed url: whatever compiles is read by another parser as the origin and a path of the binding', () => {
  let compiled = 0;
  fc.assert(
    fc.property(anyUrl, (written) => {
      const { contract } = compileSample({ 'http.url': written }, { bindings: [binding] });
      if (contract === undefined) return;
      compiled += 1;
      assert.equal(contract.target.kind, 'http');
      const { request } = contract.target as { readonly request: RequestTemplate };
      const url = new URL(written);
      assert.equal(url.origin, 'https://api.example.com');
      assert.equal(request.origin, url.origin);
      assert.equal(url.username + url.password + url.search + url.hash, '');
      assert.match(url.pathname, /^\/(?:v1\/foo(?:\/.*)?|v1\/bar.*|v2\/.*)$/);
      // A server that decodes once more reads the same folders.
      assert.ok(!decodeURIComponent(url.pathname).split('/').includes('..'));
    }),
    { numRuns: 500 },
  );
  assert.ok(compiled > 10, String(compiled));
});
