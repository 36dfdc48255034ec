/**
 * Any string through the encoders, seen from the receiving side: WHATWG URL, URLSearchParams and JSON.parse are the oracles.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assemble } from '#core/contract/assemble.ts';
import type { JsonValue, RequestTemplate, Slot } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';

function slot(text: string): Slot {
  const [, root, path, spread, format] = /^\$\(([a-z]+)\.?([^|)]*?)(\.\.\.)?(?:\|(\w+))?\)$/i.exec(text) ?? assert.fail(text);
  return { root, path: path === '' ? [] : path!.split('.'), text, ...(format && { format }), ...(spread && { spread: true }) } as Slot;
}

function values(some: Partial<SlotValues>): SlotValues {
  return { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {}, ...some };
}

function template(some: Partial<RequestTemplate>): RequestTemplate {
  return {
    method: 'GET',
    origin: 'https://api.test',
    segments: [['v1'], ['boxes'], [slot('$(args.item)')], ['keys']],
    query: [],
    headers: [],
    ...some,
  };
}

const item = (value: JsonValue) => assemble(template({}), values({ args: { item: value } })).outbound.target;
const find = (q: JsonValue) =>
  assemble(template({ segments: [['find']], query: [['q', [slot('$(args.q)')]]] }), values({ args: { q } })).outbound.target;

describe('encode: properties', () => {
  const anyText = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.stringMatching(/^[.%/\\;?#&=+a2eEfF]{0,8}$/));

  test('encode: any string in a query slot arrives as exactly one parameter with that value, or is refused', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let target: string;
        try {
          target = find(text);
        } catch (error) {
          assert(error instanceof PosternError && error.reason === 'INVALID_ARGUMENT');
          return;
        }
        assert.deepEqual([...new URL(`https://api.test${target}`).searchParams], [['q', text]]);
      }),
      { numRuns: 1000 },
    );
  });

  test('encode: no string in a path slot changes host, segment count or fixed segments, even decoded once more', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let target: string;
        try {
          target = item(text);
        } catch (error) {
          assert(error instanceof PosternError && error.reason === 'INVALID_ARGUMENT');
          return;
        }
        const url = new URL(`https://api.test${target}`);
        const parts = url.pathname.split('/');
        assert.equal(url.host + url.search + url.hash, 'api.test');
        assert.deepEqual([parts.length, parts[1], parts[2], parts[4]], [5, 'v1', 'boxes', 'keys']);
        assert.equal(decodeURIComponent(parts[3]!), text);
        assert(!/[\\/]/.test(decodeURIComponent(decodeURIComponent(parts[3]!))));
      }),
      { numRuns: 1000 },
    );
  });

  test('encode: any string in a form field and a JSON member reads back unchanged, or is refused', () => {
    const form = (v: string) =>
      assemble(
        template({
          segments: [['x']],
          body: { kind: 'form', contentType: 'application/x-www-form-urlencoded', fields: [['f', [slot('$(args.v)')]]] },
        }),
        values({ args: { v } }),
      );
    const json = (v: string) =>
      assemble(
        template({
          segments: [['x']],
          body: {
            kind: 'json',
            contentType: 'application/json',
            json: { kind: 'object', members: [['f', { kind: 'slot', slot: slot('$(args.v)') }]] },
          },
        }),
        values({ args: { v } }),
      );
    fc.assert(
      fc.property(anyText, (text) => {
        if (text.isWellFormed()) assert.deepEqual(JSON.parse(Buffer.from(json(text).outbound.body!).toString()), { f: text });
        let body: Uint8Array;
        try {
          body = form(text).outbound.body!;
        } catch (error) {
          assert(error instanceof PosternError && error.reason === 'INVALID_ARGUMENT');
          return;
        }
        assert.deepEqual([...new URLSearchParams(Buffer.from(body).toString())], [['f', text]]);
      }),
      { numRuns: 500 },
    );
  });
});
