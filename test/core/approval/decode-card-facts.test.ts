import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderCard } from '#core/approval/card.ts';
import type { CardFacts } from '#core/approval/card-facts.ts';
import { decodeCardFacts, encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { EXAMPLE_CALLS, exampleContract, factsOf } from './example-cards.ts';

const FULL = full();

test('card facts: both ends have the same facts, and so the same card (APR-14)', () => {
  for (const make of Object.values(EXAMPLE_CALLS)) {
    const [contract, facts] = make();
    assert.equal(renderCard(contract, decodeCardFacts(encodeCardFacts(facts))).text, renderCard(contract, facts).text);
  }
  assert.equal(canonicalJson(decodeCardFacts(encodeCardFacts(FULL)) as unknown as JsonValue), canonicalJson(FULL as unknown as JsonValue));
});

test('card facts: whatever the bytes are, they are facts or one kind of error', () => {
  const decode = (bytes: Uint8Array) => {
    try {
      decodeCardFacts(bytes);
    } catch (thrown) {
      assert.ok(thrown instanceof PosternError && thrown.reason === 'INVALID_ARGUMENT', String(thrown));
    }
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), decode));
  fc.assert(fc.property(fc.json(), (text) => decode(new TextEncoder().encode(text))));
});

test('card facts: facts changed in one place are refused or are what they say, and never throw anything else', () => {
  const paths = placesOf(FULL as unknown as JsonValue);
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.oneof(fc.jsonValue(), fc.constantFrom(-1, 1e300, '', [], {})), (path, value) => {
      const changed = replaced(FULL as unknown as JsonValue, path, JSON.parse(JSON.stringify(value)));
      const decoded = decodedOrRefused(changed);
      if (decoded === undefined) return;
      renderOrLimit(decoded);
    }),
    { numRuns: 500 },
  );
});

test('card facts: no member is taken that a card does not know, at any depth but in arguments and what was read', () => {
  for (const path of objectsOf(FULL as unknown as JsonValue)) {
    const open = path[0] === 'args' || (path[0] === 'before' && path[2] === 'before');
    const changed = replaced(FULL as unknown as JsonValue, [...path, 'unheard_of'], 'x');
    if (open) assert.ok(decodedOrRefused(changed) !== undefined, path.join('/'));
    else assert.equal(ruleOf(changed), 'unknown_member', path.join('/'));
  }
});

test('card facts: no member that a card needs may be missing', () => {
  const optional = ['before', 'evidence', 'grant', 'alternative', 'choices', 'denied'];
  for (const name of Object.keys(FULL)) {
    const { [name]: _, ...rest } = FULL as unknown as Record<string, JsonValue>;
    if (optional.includes(name)) assert.ok(decodedOrRefused(rest) !== undefined, name);
    else assert.equal(ruleOf(rest), 'required', name);
  }
});

const REFUSED: readonly (readonly [string, string, string])[] = [
  ['a duplicate key', '{"reads": [], "reads": []}', 'duplicate_key'],
  ['a prototype', '{"__proto__": {}}', 'forbidden_key'],
  ['a list', '[]', 'not_an_object'],
  ['text after the end', '{} {}', 'trailing_data'],
  ['deep arguments', `{"args": ${'['.repeat(40)}${']'.repeat(40)}}`, 'too_deep'],
  ['more bytes than a card can need', `{"args": {"x": "${'a'.repeat(limits.cardFactsBytesMax)}"}}`, 'too_large'],
];

for (const [what, text, rule] of REFUSED) {
  test(`card facts: refuses ${what}`, () => {
    assert.equal(ruleOfBytes(new TextEncoder().encode(text)), rule);
  });
}

test('card facts: the error never quotes what the sender wrote', () => {
  for (const text of ['{"SECRET": 1}', '{"args": {"SECRET": 1e999}}', '{"operationId": "SECRET", "SECRET": 1}']) {
    assert.throws(
      () => decodeCardFacts(new TextEncoder().encode(text)),
      (thrown) => thrown instanceof PosternError && !JSON.stringify([thrown.message, thrown.fields, thrown.details]).includes('SECRET'),
    );
  }
});

test('card facts: bounds are those of the limits', () => {
  const longList = (count: number) => Array.from({ length: count }, () => ({ action: 'a', atMs: 1, codes: [] }));
  assert.ok(decodedOrRefused({ ...json(FULL), reads: longList(limits.cardReadsMax) }) !== undefined);
  assert.equal(ruleOf({ ...json(FULL), reads: longList(limits.cardReadsMax + 1) }), 'too_many');
  assert.equal(ruleOf({ ...json(FULL), operationId: 'x'.repeat(limits.cardNameCharsMax + 1) }), 'too_long');
  const vary = Array.from({ length: limits.cardFieldsMax + 1 }, (_, index) => `/a${index}`);
  assert.ok(decodedOrRefused({ ...json(FULL), grant: { calls: 1, vary: vary.slice(1) } }) !== undefined);
  assert.equal(ruleOf({ ...json(FULL), grant: { calls: 1, vary } }), 'too_many');
  assert.equal(ruleOf({ ...json(FULL), grant: { calls: 1, vary: ['x'.repeat(limits.cardSentenceCharsMax + 1)] } }), 'too_long');
  assert.equal(ruleOf({ ...json(FULL), askedAtMs: 8.64e15 + 2 }), 'format');
  assert.equal(ruleOf({ ...json(FULL), planDigest: `sha256:${'A'.repeat(64)}` }), 'format');
});

test('card facts: facts too large for the other end are not sent', () => {
  const contract = exampleContract('deploy-service');
  assert.throws(
    () => encodeCardFacts(factsOf(contract, { reason: 'x'.repeat(limits.cardFactsBytesMax) })),
    (thrown) => thrown instanceof PosternError && thrown.reason === 'LIMIT_EXCEEDED',
  );
});

function full(): CardFacts {
  const contract = exampleContract('archive-projects');
  return factsOf(
    contract,
    { project_ids: [1, 2], nested: { deep: ['x'] } },
    {
      before: [{ name: 'state', before: { a: [1] }, after: 'b' }],
      evidence: { action: 'list', items: 2, complete: false, lacks: ['one'], proof: 'Declared', atMs: 5 },
      reads: [{ action: 'list', atMs: 6, codes: ['STALE_INDEX'] }],
      grant: { calls: 3, vary: ['/reason'] },
      alternative: { name: 'listed-only', of: 'op_x' },
      choices: ['listed-only'],
      denied: { atMs: 7, approver: 'jo' },
    },
  );
}

function json(facts: CardFacts): Record<string, JsonValue> {
  return facts as unknown as Record<string, JsonValue>;
}

function bytesOf(value: JsonValue): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function decodedOrRefused(value: JsonValue): CardFacts | undefined {
  try {
    return decodeCardFacts(bytesOf(value));
  } catch (thrown) {
    assert.ok(thrown instanceof PosternError && thrown.reason === 'INVALID_ARGUMENT', String(thrown));
    return undefined;
  }
}

function ruleOf(value: JsonValue): string | undefined {
  return ruleOfBytes(bytesOf(value));
}

function ruleOfBytes(bytes: Uint8Array): string | undefined {
  try {
    decodeCardFacts(bytes);
    return undefined;
  } catch (thrown) {
    assert.ok(thrown instanceof PosternError && thrown.reason === 'INVALID_ARGUMENT', String(thrown));
    return thrown.fields[0]?.rule;
  }
}

function renderOrLimit(facts: CardFacts): void {
  try {
    renderCard(exampleContract('archive-projects'), facts);
  } catch (thrown) {
    assert.ok(thrown instanceof PosternError && thrown.reason === 'LIMIT_EXCEEDED', String(thrown));
  }
}

type Place = readonly (string | number)[];

function placesOf(value: JsonValue, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, Array.isArray(value) ? Number(name) : name]))];
}

function objectsOf(value: JsonValue, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([name, member]) => objectsOf(member, [...at, Array.isArray(value) ? Number(name) : name]));
  return Array.isArray(value) ? below : [at, ...below];
}

function replaced(value: JsonValue, [name, ...rest]: Place, by: JsonValue): JsonValue {
  if (name === undefined) return by;
  if (Array.isArray(value)) return value.map((element: JsonValue, index) => (index === name ? replaced(element, rest, by) : element));
  const object = value as Readonly<Record<string, JsonValue>>;
  return { ...object, [name]: replaced(object[name] ?? null, rest, by) };
}
