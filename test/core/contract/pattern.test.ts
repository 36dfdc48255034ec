import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern, groupsOf, isPatternFault } from '#core/contract/pattern.ts';

function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  assert.ok(!isPatternFault(compiled), `${pattern} has a fault`);
  return compiled.matches(text);
}

test('pattern: the whole text must match, and a final line break is text', () => {
  assert.equal(matches('^[0-9]+$', '12'), true);
  assert.equal(matches('^[0-9]+$', '12\n'), false);
  assert.equal(matches('^[0-9]+$', 'a\n12'), false);
  assert.equal(matches('^(a|b)$', 'b'), true);
  assert.equal(matches('^a.b$', 'a\nb'), false);
});

test('pattern: kebab names and escaped ends are fine', () => {
  assert.equal(matches('^[a-z]+(?:-[a-z]+)*$', 'a-b-c'), true);
  assert.equal(matches('^\\$[0-9]{1,3}\\$$', '$12$'), true);
  assert.equal(matches('^[)$|]+$', ')|$'), true);
  assert.equal(matches('^(?:ab*)+$', 'abbab'), true);
});

const FAULTS: readonly (readonly [pattern: string, code: string])[] = [
  ['[0-9]+', 'schema-pattern-unanchored'],
  ['^[0-9]+', 'schema-pattern-unanchored'],
  ['^a\\$', 'schema-pattern-unanchored'],
  ['^a|b$', 'schema-pattern-unanchored'],
  ['^(a+)+$', 'schema-pattern-nested'],
  ['^([a-z]*)*$', 'schema-pattern-nested'],
  ['^((?:a+))*$', 'schema-pattern-nested'],
  ['^(?:(x+)){2,}$', 'schema-pattern-nested'],
  ['^(a)\\1$', 'schema-pattern'],
  ['^(?=a)a$', 'schema-pattern'],
  ['^(?i)a$', 'schema-pattern'],
  ['^(?m:a)$', 'schema-pattern'],
  ['^(a$', 'schema-pattern'],
  [`^${'a'.repeat(600)}$`, 'out-of-range'],
];
for (const [pattern, code] of FAULTS) {
  test(`pattern: ${pattern.slice(0, 30)} is ${code}`, () => {
    const compiled = compilePattern(pattern);
    assert.ok(isPatternFault(compiled));
    assert.equal(compiled.code, code);
  });
}

test('pattern: a text made to be slow is answered', () => {
  assert.equal(matches('^(?:a|a)*b?c$', 'a'.repeat(20_000)), false);
});

test('pattern: named groups of a line pattern are its members', () => {
  assert.deepEqual(groupsOf('^(?<time>[^ ]+) (?P<message>.*)$'), ['time', 'message']);
  assert.equal(groupsOf('(a'), undefined);
});
