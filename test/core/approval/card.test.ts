/**
 * Goal: a person who reads only the card cannot be lied to by anybody but the contract's owner. Method: golden cards of the shipped examples;
 * the corpus of hostile texts in every member an agent, a pod or a hijacked sidecar can fill.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderCard } from '#core/approval/card.ts';
import type { CardFacts } from '#core/approval/card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { digestOfBytes } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { expectHonest, HOSTILE_TEXTS, type HostileText } from '../encoding/hostile-text.ts';
import { EXAMPLE_CALLS, exampleContract, factsOf } from './example-cards.ts';

const GOLDEN = new URL('../../vectors/cards/', import.meta.url);

for (const [name, make] of Object.entries(EXAMPLE_CALLS)) {
  test(`card: ${name} reads as it did`, () => {
    const [contract, facts] = make();
    const { text } = renderCard(contract, facts);
    const file = new URL(`${name}.txt`, GOLDEN);
    if (process.env.UPDATE_VECTORS === '1') {
      mkdirSync(GOLDEN, { recursive: true });
      writeFileSync(file, text);
    }
    assert.equal(text, readFileSync(file, 'utf8'));
  });

  test(`card: ${name} fits one screen, and no terminal of 80 columns breaks a line of it (APR-08)`, () => {
    const [contract, facts] = make();
    const lines = renderCard(contract, facts).text.split('\n');
    assert.ok(lines.length <= 60, `${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 78, line);
  });
}

test('card: the digest is over the bytes that are shown (APR-14)', () => {
  const [contract, facts] = deploy();
  const card = renderCard(contract, facts);
  assert.equal(card.digest, digestOfBytes('card', card.text));
});

test('card: the same bytes come of facts whose members stand in another order (the operator compares them)', () => {
  const [contract, facts] = deploy();
  const turned = Object.fromEntries(Object.entries(facts).reverse()) as unknown as CardFacts;
  const args = Object.fromEntries(Object.entries(facts.args).reverse());
  const tables = Object.fromEntries(
    Object.entries(contract.resolve).map(([argument, table]) => [
      argument,
      Object.fromEntries(Object.entries(table).map(([label, members]) => [label, Object.fromEntries(Object.entries(members).reverse())])),
    ]),
  );
  assert.equal(renderCard({ ...contract, resolve: tables }, { ...turned, args }).text, renderCard(contract, facts).text);
});

/** Where a text of a person or a machine that is not trusted can stand on a card. */
const PLACES: Readonly<Record<string, (text: string) => CardFacts>> = {
  reason: (text) => facts({ args: { reason: text } }),
  'free argument': (text) => facts({ args: { version: text } }),
  'argument of the destination': (text) => facts({ args: { service: text } }),
  'nested argument': (text) => facts({ args: { extra: { [text]: [text, { deeper: text }] } } }),
  'list argument': (text) => facts({ args: { tags: [text, 'x', text] } }),
  'session name': (text) => facts({ pod: { session: text } }),
  'ServiceAccount name': (text) => facts({ pod: { serviceAccount: text } }),
  'pod name': (text) => facts({ pod: { pod: text } }),
  image: (text) => facts({ pod: { image: text } }),
  controller: (text) => facts({ pod: { controller: text } }),
  'approver of an earlier denial': (text) => facts({ more: { denied: { atMs: 1, approver: text } } }),
  'what was read': (text) => facts({ more: { before: [{ name: text, before: text, after: text }] } }),
  'an object that was read': (text) => facts({ more: { before: [{ name: 'x', before: { [text]: text } }] } }),
  evidence: (text) =>
    facts({ more: { evidence: { action: text, items: 1, complete: false, lacks: [text, text], proof: 'Unproven', atMs: 1 } } }),
  'doubtful reads': (text) => facts({ more: { reads: [{ action: text, atMs: 1, codes: [text, text] }] } }),
  'grant range': (text) => facts({ more: { grant: { calls: 3, vary: [`/${text}`] } } }),
  'parent of an alternative': (text) => facts({ more: { alternative: { name: 'listed-only', of: text } } }),
  'contract name': (text) => facts({ more: { contract: text, namespace: text } }),
  digests: (text) => facts({ more: { revision: text, argsDigest: text, planDigest: text, operationId: text } }),
};

for (const [place, put] of Object.entries(PLACES)) {
  test(`card: no hostile text in the ${place} makes it lie (APR-06, APR-07, APR-08, APR-18)`, () => {
    for (const hostile of HOSTILE_TEXTS) expectHonestCard(put(hostile.text), hostile);
  });
}

test('card: nothing a person cannot see goes by without a warning (APR-06)', () => {
  for (const { id, text, hidden } of HOSTILE_TEXTS.filter(({ hidden }) => hidden)) {
    for (const [place, put] of Object.entries(PLACES)) {
      if (['grant range', 'digests', 'contract name', 'parent of an alternative'].includes(place)) continue;
      const { doubts } = renderCard(contract(), put(text));
      // A nested text is shown as JSON, which writes controls and halves of pairs visibly.
      if (doubts.length === 0) assert.match(JSON.stringify(text), /\\/, `${id} in the ${place}: hidden ${hidden}`);
    }
  }
});

test('card: markup and text that looks like a credential are said to be that (APR-06.10, APR-06.12)', () => {
  const said = (text: string) => renderCard(contract(), facts({ args: { reason: text } })).doubts.join(' ');
  for (const text of ['</b><h1>APPROVED</h1>', '[yes](https://example.com)', 'a<U+200B>b']) assert.match(said(text), /holds markup/, text);
  for (const text of [
    'SYN-CANARY-0001',
    `ghp_${'a1'.repeat(18)}`,
    'sk_live_a1b2',
    'xoxb-1',
    `AKIA${'A1'.repeat(6)}`,
    '-----BEGIN PRIVATE KEY-----',
  ])
    assert.match(said(text), /looks like a credential/);
  assert.equal(said('Fixes the rounding of invoices (INC-1042).'), '');
  assert.equal(said('Two lines\nof a reason are nothing strange.'), '');
  assert.match(said('\u05d0\u05d1 5 -> 3'), /right-to-left/);
});

/** The corpus says of each: one line a field, code points for what cannot be seen, a warning, and the zone still reads live. */
const CORPUS: readonly (readonly [id: string, shown: string, warning: RegExp])[] = [
  ['APR-06.02', 'pay<U+200B>load', /cannot be seen/],
  ['APR-06.03', 'a<U+3164><U+3164><U+3164>b', /cannot be seen/],
  ['APR-06.04', 'a<U+2800>b', /cannot be seen/],
  ['APR-06.05', 'a<U+E0041><U+E0042>b', /cannot be seen/],
  ['APR-06.09', 'x<U+2003><U+2003><U+2003><497 more>everything else', /cannot be seen/],
  ['APR-06.10', '</b><h1>APPROVED</h1>', /holds markup/],
  ['APR-06.12', 'SYN-CANARY-0001', /looks like a credential/],
];

for (const [id, shown, warning] of CORPUS) {
  test(`card: ${id} is shown as what it is, with a warning before all fields`, () => {
    const hostile = HOSTILE_TEXTS.find((each) => each.id === id);
    assert.ok(hostile);
    const { text, doubts } = renderCard(contract(), facts({ args: { environment: 'production', reason: hostile.text } }));
    assert.ok(text.includes(`\n  agent says  unchecked: "${shown}"\n`), text);
    assert.match(text, /\n {2}argument {4}environment: production\n/);
    assert.match(doubts[0] ?? '', warning);
    assert.ok(text.indexOf('! The reason') > 0 && text.indexOf('! The reason') < text.indexOf('\n  effect'));
  });
}

test('card: the zone line still reads live, whatever the note says (APR-06, APR-07)', () => {
  for (const hostile of HOSTILE_TEXTS) {
    const lines = renderCard(
      contract(),
      facts({ args: { environment: 'production', version: hostile.text, reason: hostile.text } }),
    ).text.split('\n');
    const shown = lines.filter((line) => line.startsWith('  argument    environment: '));
    assert.deepEqual(shown, ['  argument    environment: production'], hostile.id);
  }
});

test('card: what is cut is said, and the danger behind padding is not pushed away (APR-08)', () => {
  const card = renderCard(contract(), facts({ args: { reason: `${'please '.repeat(600)}delete` } }));
  assert.match(card.text, /characters cut\)/);
  assert.match(card.doubts.join('\n'), /The reason is not shown whole: it has 4206 characters/);
  assert.ok(card.text.indexOf('environment: production') < card.text.indexOf('please please'));
  assert.ok(card.text.split('\n').length < 60);
});

test('card: every line is of one of five forms, whatever the facts hold', () => {
  fc.assert(
    fc.property(anyFacts(), (given) => {
      const card = renderOrRefuse(given);
      if (card === undefined) return;
      const [, ...lines] = card.text.slice(0, -1).split('\n');
      for (const line of lines) assert.match(line, /^(?: {2}\| .*|! .*|!|| {2}[a-z][a-z ]{0,10} .*| {14}\S.*)$/u);
      assert.ok(Buffer.byteLength(card.text) <= limits.cardBytesMax);
      assert.equal(renderCard(contract(), given).text, card.text);
    }),
  );
});

test('card: a call too large to be shown is refused, not shortened beyond reading', () => {
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`field_${index}`, 'x'.repeat(100)]));
  assert.throws(
    () => renderCard(contract(), facts({ args: many })),
    (thrown) => thrown instanceof PosternError && thrown.reason === 'LIMIT_EXCEEDED',
  );
});

test('card: lists every target up to the limit, counts the rest and digests all', () => {
  const archive = exampleContract('archive-projects');
  const card = (count: number) =>
    renderCard(
      archive,
      factsOf(archive, { project_ids: Array.from({ length: count }, (_, index) => index + 1), inactive_since: 'x', reason: 'y' }),
    );
  const hundred = card(limits.cardTargetsMax);
  assert.match(hundred.text.replaceAll(/\n {14}/g, ' '), / 98, 99, 100\n/);
  assert.equal(
    hundred.doubts.some((doubt) => doubt.includes('not listed')),
    false,
  );
  const more = card(limits.cardTargetsMax + 1);
  assert.match(more.doubts.join('\n'), /1 of 101 targets are not listed; the digest covers all/);
  assert.notEqual(digestLine(hundred.text), digestLine(more.text));
});

test('card: one yes for several calls says how many, until when and what may differ', () => {
  const { text } = renderCard(contract(), facts({ more: { grant: { calls: 20, vary: ['/reason'] } } }));
  assert.match(
    text.replaceAll(/\n {14}/g, ' '),
    /covers +up to 20 calls until 2026-11-30 14:55:00 UTC, with any reason; every other argument as shown/,
  );
});

test('card: evidence that is asked for and not there is a warning', () => {
  const archive = exampleContract('archive-projects');
  const { doubts } = renderCard(archive, factsOf(archive, { project_ids: [1], inactive_since: 'x', reason: 'y' }));
  assert.deepEqual(doubts, ['The contract asks for evidence from list-inactive-projects, and none was shown.']);
});

function digestLine(text: string): string {
  return /all of them (\S+)/.exec(text)?.[1] ?? '';
}

function contract() {
  return deploy()[0];
}

function deploy() {
  const make = EXAMPLE_CALLS['deploy-service'];
  assert.ok(make);
  return make();
}

interface Replaced {
  readonly args?: Readonly<Record<string, JsonValue>>;
  readonly pod?: Partial<Extract<CardFacts['requester'], { kind: 'pod' }>>;
  readonly more?: Partial<CardFacts>;
}

function facts({ args = {}, pod = {}, more = {} }: Replaced): CardFacts {
  const base = factsOf(contract(), {
    service: 'api',
    version: '2.14.3',
    environment: 'production',
    reason: 'Because it is needed.',
    ...args,
  });
  return { ...base, requester: { ...base.requester, ...pod } as CardFacts['requester'], ...more };
}

function expectHonestCard(given: CardFacts, hostile: HostileText): void {
  const { text, doubts } = renderCard(contract(), given);
  expectHonest(text, hostile);
  for (const doubt of doubts) expectHonest(doubt, hostile);
  for (const line of text.split('\n')) {
    assert.ok(!line.startsWith(`  ${hostile.text.trim()}`) || hostile.text.trim() === '', hostile.id);
  }
}

function renderOrRefuse(given: CardFacts) {
  try {
    return renderCard(contract(), given);
  } catch (thrown) {
    assert.ok(thrown instanceof PosternError && thrown.reason === 'LIMIT_EXCEEDED', String(thrown));
    return undefined;
  }
}

function anyFacts(): fc.Arbitrary<CardFacts> {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom(...HOSTILE_TEXTS.map((each) => each.text)));
  return fc
    .record({ args: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text))), name: text, time: fc.double() })
    .map(({ args, name, time }) =>
      facts({
        // Arguments have been JSON: no half of a surrogate pair.
        args: JSON.parse(JSON.stringify(args).replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, 'x')),
        pod: { pod: name, controller: name },
        more: { askedAtMs: time, reads: [{ action: name, atMs: time, codes: [name] }], before: [{ name, before: 1, after: name }] },
      }),
    );
}
