import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANSWER_VARIABLES, compileRule, ITEM_VARIABLES, type Rule, type RuleInput } from '#core/completeness/rule.ts';
import type { JsonValue } from '#core/contract/compiled.ts';

function rule(text: string): Rule {
  const compiled = compileRule(text, ITEM_VARIABLES);
  if (compiled.kind === 'problem') throw new Error(`${text}: ${compiled.message} at ${compiled.at}`);
  return compiled.rule;
}

function value(text: string, input: RuleInput = {}): JsonValue {
  const result = rule(text).evaluate(input);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

function problem(text: string): { message: string; at: number } {
  const compiled = compileRule(text, ANSWER_VARIABLES);
  if (compiled.kind !== 'problem') throw new Error(`${text} compiled`);
  return compiled;
}

describe('rule', () => {
  it('rule: reads status, headers, body, args, sent, page and now', () => {
    const input: RuleInput = {
      status: 429,
      headers: { 'retry-after': '3' },
      body: { n: 2, list: [{ a: 1 }, { a: 2 }] },
      args: { until: '2026-01-01T00:00:00Z' },
      sent: { method: 'GET', path: '/x', query: { q: 'v' }, headers: {}, body: null },
      page: { index: 1, items: 2 },
      nowMs: Date.parse('2026-01-02T00:00:00Z'),
    };
    assert.equal(value("status == 429 && 'retry-after' in headers && headers['retry-after'] == '3'", input), true);
    assert.equal(value('status / 100 == 4', input), true);
    assert.equal(value('body.n > 1 && body.list.exists(x, x.a == 2) && size(body.list) == 2', input), true);
    assert.equal(value("timestamp(args.until) <= now - duration('10m')", input), true);
    assert.equal(value("sent.query['q'] == 'v' && sent.method == 'GET'", input), true);
    assert.equal(value('page.index == 1 && page.items == body.n', input), true);
    assert.deepEqual(value('body.list.map(x, x.a)', input), [1, 2]);
    assert.deepEqual({ ...(value("{'a': body.n}", input) as object) }, { a: 2 });
  });

  it('rule: a missing member is an error, never false', () => {
    const result = rule('body.gone == 1').evaluate({ body: {} });
    assert.equal(result.ok, false);
    assert.equal(rule('body.x == 1').evaluate({}).ok, false);
    assert.equal(rule("headers['x'] == '1'").evaluate({ headers: Object.create(null) }).ok, false);
  });

  it('rule: has and in say whether a member is there, also when it is null', () => {
    assert.equal(value('has(body.a)', { body: { a: null } }), true);
    assert.equal(value("'a' in body", { body: { a: null } }), true);
    assert.equal(value('has(body.b)', { body: { a: null } }), false);
    assert.equal(value("'b' in body", { body: { a: null } }), false);
    assert.equal(value('body.a == null', { body: { a: null } }), true);
  });

  it('rule: objects without a prototype and members named like those of Object are read as data', () => {
    const body: Record<string, JsonValue> = Object.create(null);
    Object.assign(body, { constructor: 'x' });
    body.inner = Object.assign(Object.create(null), { toString: 1 });
    assert.equal(value("body.constructor == 'x' && body.inner.toString == 1", { body }), true);
    assert.equal(value('has(body.hasOwnProperty)', { body: {} }), false);
    assert.equal(value('body.constructor == 1 || true', { body: {} }), true);
  });

  it('rule: equality of nested values does not depend on how they are held', () => {
    assert.equal(value("body.a == {'x': [1, 2]}", { body: { a: { x: [1, 2] } } }), true);
    assert.equal(value('body.a == body.b', { body: { a: [{ x: null }], b: [{ x: null }] } }), true);
    assert.equal(value('body.a == body.b', { body: { a: { x: 1 }, b: { y: 1 } } }), false);
    assert.equal(value("size(body) == 2 && body.all(k, k in ['a', 'b'])", { body: { a: 1, b: 2 } }), true);
  });

  it('rule: matches is RE2 and its pattern is a literal of that language', () => {
    assert.equal(value("body.t.matches('(Throttling|Slow)$')", { body: { t: 'com#Throttling' } }), true);
    assert.match(problem("body.t.matches('(?=x)')").message, /RE2/);
    assert.match(problem('body.t.matches(body.p)').message, /literal/);
    assert.equal(value("body.t.matches('^(a+)+$')", { body: { t: `${'a'.repeat(5000)}b` } }), false);
  });

  it('rule: problems carry their place', () => {
    assert.deepEqual(problem("status == 1 && 'a"), { kind: 'problem', message: 'this is not an expression of CEL', at: 12 });
    assert.equal(problem('status == 1 && bodi.x').at, 15);
    assert.match(problem('status == 1 && bodi.x').message, /no variable "bodi"/);
    assert.match(problem('nope(status)').message, /no function "nope"/);
    assert.match(problem('google.protobuf.Timestamp{seconds: 1} == now').message, /message types/);
    assert.match(problem('body.all(a, body.all(b, body.all(c, body.all(d, true))))').message, /nest at most 3/);
    assert.match(problem('x'.repeat(5000)).message, /longer/);
    assert.equal(problem('item.x').at, 0);
    assert.equal(problem(`${'('.repeat(4000)}`).message, 'this is not an expression of CEL');
  });

  it('rule: an evaluation above the cost limit is an error, always at the same cost', () => {
    const list = Array.from({ length: 2000 }, (_, index) => index);
    const costly = rule('body.all(a, body.all(b, a + b >= 0.0))');
    const result = costly.evaluate({ body: list });
    assert.deepEqual(result, { ok: false, error: 'it costs more than one expression may', tooCostly: true });
    assert.deepEqual(rule('body.exists(a, a == 1999.0) || body.all(a, body.all(b, true))').evaluate({ body: list }).ok, true);
    assert.equal(rule('true || body.all(a, body.all(b, true))').evaluate({ body: list }).ok, true);
    const text = 'x'.repeat(1_000_000);
    assert.equal(rule("body.l.all(i, !body.t.contains('y'))").evaluate({ body: { l: list, t: text } }).ok, false);
    assert.equal(rule('body.map(a, a)').evaluate({ body: list }).ok, true);
    assert.equal(rule('body.map(a, a)').evaluate({ body: Array.from({ length: 50_000 }, () => 1) }).ok, false);
  });

  it('rule: a value JSON has not is an error', () => {
    assert.equal(rule("timestamp('2026-01-01T00:00:00Z')").evaluate({}).ok, false);
    assert.equal(value('int(1) + 2'), 3);
  });
});
