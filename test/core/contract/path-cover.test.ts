import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { coversPath, type Tables } from '#core/contract/path-cover.ts';
import { parseTemplate } from '#core/contract/slot.ts';
import { destinationFinder } from '#sidecar/credential/destination-rules.ts';

const SHOPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  shop: { north: '1', south: '2' },
};
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  north: { space: 'a', name: 'x' },
  south: { space: 'b', name: 'y' },
};
const TABLES: Tables = {
  labels: (argument) => Object.keys(SHOPS[argument] ?? {}),
  value: (_, label, member) => VALUES[label]?.[member],
  constant: (name) => (name === 'kind' ? 'things' : undefined),
  enumOf: (argument) => (argument === 'shop' ? ['north', 'south'] : undefined),
};

function escapes(path: string, prefixes: readonly string[]): string | undefined {
  const segments =
    path === '/'
      ? []
      : path
          .slice(1)
          .split('/')
          .map((segment) => (segment === '' ? [''] : parseTemplate(segment).template));
  return coversPath(segments, prefixes, TABLES, {});
}

const ROWS: readonly (readonly [path: string, prefixes: readonly string[], escaped: string | undefined])[] = [
  ['/v1/things', ['/'], undefined],
  ['/v1/things', ['/v1'], undefined],
  ['/v1', ['/v1/'], undefined],
  ['/v10/things', ['/v1'], '/v10'],
  ['/v1', ['/v1/things'], '/v1'],
  ['/logs-a/_pit', ['/logs-*'], undefined],
  ['/log/_pit', ['/logs-*'], '/log'],
  ['/v1/$(args.id)', ['/v1'], undefined],
  ['/v1/$(args.id)', ['/v1/*'], undefined],
  ['/v1/$(args.id)/keys', ['/v1/a/'], '/v1/$(args.id)'],
  ['/$(constants.kind)/x', ['/things/'], undefined],
  ['/$(args.shop)/x', ['/north/', '/south/'], undefined],
  ['/$(args.shop)/x', ['/north/'], '/south'],
  ['/$(resolve.shop.space)/$(resolve.shop.name)', ['/a/x', '/b/y'], undefined],
  ['/$(resolve.shop.space)/$(resolve.shop.name)', ['/a/x', '/b/x'], '/b/y'],
  ['/v1/$(args.rest...)', ['/v1/things'], '/v1/$(args.rest...)'],
  ['/v1/$(next.token)', ['/v1/t*'], '/v1/$(next.token)'],
];
for (const [path, prefixes, escaped] of ROWS) {
  test(`path cover: ${path} ${escaped === undefined ? 'stays under' : 'leaves'} ${prefixes.join(' ')}`, () => {
    assert.equal(escapes(path, prefixes), escaped);
  });
}

test('path cover: a literal path is judged as the sidecar judges the request that leaves', () => {
  const segment = fc.stringMatching(/^[ab]{1,2}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
  const prefix = fc.tuple(path, fc.constantFrom('', '/', '*')).map(([text, end]) => text + end);
  fc.assert(
    fc.property(path, fc.array(prefix, { minLength: 1, maxLength: 3 }), (text, pathPrefixes) => {
      const find = destinationFinder([{ origin: 'https://a.test', pathPrefixes }]);
      const allowed = find({ method: 'GET', origin: 'https://a.test', target: text, headers: [] }) !== undefined;
      assert.equal(escapes(text, pathPrefixes) === undefined, allowed);
    }),
    { numRuns: 1000 },
  );
});
