import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { admitContract } from '#operator/contract/admit.ts';
import { type BindingObject, bindingObject, type ContractObject, clusterOf, contractObject, exampleObjects } from './records.ts';

const NOW_MS = Date.parse('2026-12-01T00:00:00Z');

test('contract admission: a contract before its binding is let in, with a word of what is missing', () => {
  const verdict = admitContract(contractObject(), null, clusterOf([]), NOW_MS);
  assert.equal(verdict.allowed, true, verdict.message);
  assert.ok(
    verdict.warnings.some((warning) => warning.includes('binding stock is not there')),
    verdict.warnings.join('\n'),
  );
});

test('contract admission: what is wrong by itself is refused with path, rule and cure, every problem at once', () => {
  const object = contractObject({
    arguments: { type: 'object', properties: {} },
    http: { credential: 'other', method: 'GET', url: 'ftp://x' },
  });
  const { allowed, message } = admitContract(object, null, clusterOf([]), NOW_MS);
  assert.equal(allowed, false);
  const lines = message.split('\n');
  assert.ok(lines.length >= 3, message);
  for (const line of lines) assert.match(line, /^spec[.\w[\]-]*: [a-z-]+: .+\. .+\.$/);
  assert.ok(lines.some((line) => line.startsWith('spec.http.credential: binding-unlisted: ')));
});

test('contract admission: what does not fit the binding of today is a warning, because the binding may change too', () => {
  const verdict = admitContract(contractObject(), null, clusterOf([bindingObject({ contracts: ['others'] })]), NOW_MS);
  assert.equal(verdict.allowed, true);
  assert.ok(verdict.warnings.some((warning) => warning.includes('binding-not-granted')));
});

test('contract admission: an update that leaves the spec as it is passes, whatever the spec says', () => {
  const broken = contractObject({ credentials: [], http: {} });
  const again = { ...broken, metadata: { ...broken.metadata, labels: { team: 'x' } } };
  assert.equal(admitContract(broken, null, clusterOf([]), NOW_MS).allowed, false);
  assert.deepEqual(admitContract(again, broken, clusterOf([]), NOW_MS), { allowed: true, message: '', warnings: [] });
});

test('contract admission: message and warnings are bounded, and say how much is left out', () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, { type: 'string' }]));
  const warnings = Array.from({ length: 40 }, (_, index) => ({
    name: `w${index}`,
    code: 'STALE_INDEX',
    owner: 'stock-team',
    expires: '2027-01-01',
    message: 'x'.repeat(200),
  }));
  const refused = admitContract(
    contractObject({ arguments: { type: 'object', additionalProperties: false, properties } }),
    null,
    clusterOf([]),
    NOW_MS,
  );
  assert.equal(refused.allowed, false);
  assert.ok(refused.message.length <= limits.admissionMessageCharsMax, String(refused.message.length));
  assert.match(refused.message, /and \d+ more; "postern contract lint" shows all$/);
  const warned = admitContract(contractObject({ warnings }), null, clusterOf([]), NOW_MS);
  assert.equal(warned.allowed, true, warned.message);
  assert.equal(warned.warnings.length, limits.admissionWarningsMax);
  for (const warning of warned.warnings) assert.ok([...warning].length <= limits.admissionWarningCharsMax);
});

test('contract admission: a spec that is too large is refused before it is compiled', () => {
  const { allowed, message } = admitContract(contractObject({ summary: 'x'.repeat(limits.specBytesMax) }), null, clusterOf([]), NOW_MS);
  assert.equal(allowed, false);
  assert.match(message, /^spec: it has \d+ bytes of JSON, and \d+ are allowed\. /);
});

test('contract admission: hidden characters of a spec do not reach the message', () => {
  const { message } = admitContract(contractObject({ action: 'list\u202estock' }), null, clusterOf([]), NOW_MS);
  assert.match(message, /<U\+202E>/);
  assert.doesNotMatch(message, /\u202e/u);
});

const EXAMPLES = readdirSync('examples/contracts').flatMap((file) => exampleObjects(`examples/contracts/${file}`));

test('contract admission: every example is let in, alone and with all others there', () => {
  const contracts = EXAMPLES.filter((object): object is ContractObject => object.kind === 'ActionContract');
  assert.equal(contracts.length, 20);
  for (const cluster of [clusterOf([]), clusterOf(EXAMPLES as (ContractObject | BindingObject)[])]) {
    for (const contract of contracts) {
      const { allowed, message } = admitContract(contract, null, cluster, NOW_MS);
      assert.equal(allowed, true, `${contract.metadata.name}: ${message}`);
    }
  }
});
