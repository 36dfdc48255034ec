import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainContract, renderExplanation } from '#core/contract/explain.ts';
import { type Changes, NOW_MS, objectOf, sampleBinding, sampleContract } from './sample-objects.ts';

const BASE = objectOf(
  'ContractPreset',
  'base-v1',
  'http: {headers: {accept: text/plain, x-base: b}}\nresult: {outcomes: [{name: slow, when: "status == 503", is: RateLimited}]}\n',
);
const PRESET = objectOf(
  'ContractPreset',
  'shop-v1',
  'base: base-v1\nhttp: {query: {size: "$(limits.pageSize)", limit: "1"}}\ncompleteness: {signals: [{name: half, when: "body.half", reason: SOURCE_UNAVAILABLE}], cursor: {ttl: 5m}}\n',
);

function explain(changes: Changes = {}) {
  return explainContract({
    contract: sampleContract({ 'completeness.preset': 'shop-v1', ...changes }),
    bindings: [sampleBinding()],
    presets: [BASE, PRESET],
    contracts: [],
    nowMs: NOW_MS,
  });
}

function lineOf(text: string, part: string): string {
  return text.split('\n').find((line) => line.includes(part)) ?? `no line has ${part}`;
}

test('explain: every line has its origin and the line it is written in', () => {
  const text = renderExplanation(explain());
  assert.match(lineOf(text, 'owner: shop-team'), /# contract:\d+$/);
  assert.match(lineOf(text, 'size:'), /# preset shop-v1:\d+$/);
  assert.match(lineOf(text, 'x-base: b'), /# preset base-v1:\d+$/);
  assert.match(lineOf(text, 'name: slow'), /# preset base-v1:\d+$/);
  assert.match(lineOf(text, 'onIncomplete: Return'), /# default$/);
  assert.match(lineOf(text, 'parallel: 4'), /# default$/);
  assert.match(text, /^# preset shop-v1 is shop-v1\.yaml$/m);
});

test('explain: what the contract says wins over the preset', () => {
  const text = renderExplanation(explain());
  assert.match(lineOf(text, 'accept:'), /accept: "?application\/json"? +# contract/);
  assert.match(lineOf(text, 'limit:'), /\$\(limits\.pageSize\)" +# contract/);
});

test('explain: the revision, the best answer and the presets stand above the lines', () => {
  const explanation = explain();
  const text = renderExplanation(explanation);
  assert.match(text, /^# list_things: best answer Complete, ready\n# revision sha256:[0-9a-f]{64}\n# preset shop-v1 sha256:/);
  assert.equal(explanation.contract?.presets.length, 2);
});

test('explain: a contract with errors is shown merged all the same', () => {
  const explanation = explain({ 'http.method': 'GRAB' });
  assert.equal(explanation.contract, undefined);
  assert.ok(explanation.problems.some(({ code }) => code === 'method-fixed'));
  assert.match(renderExplanation(explanation), /^# list-things: has errors/);
  assert.match(renderExplanation(explanation), /method: GRAB/);
});
