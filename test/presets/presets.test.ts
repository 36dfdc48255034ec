/**
 * Presets are judged by what they do to recorded answers. Two questions per preset: do its tests pass, and does every
 * single rule of it matter - is there a test that fails once the rule is gone?
 *
 * A rule without such a test is either untested or says nothing. Deletions are enumerated from the YAML, compiled and
 * replayed in this process; nothing is served.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { shippedPresets } from '#core/contract/gen/presets.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import type { Kind, ResourceObject } from '#core/contract/resource-object.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import { runContractTests } from '#sidecar/contract-test/run-contract-test.ts';
import type { TestResult } from '#sidecar/contract-test/run-test.ts';
import { type Deletion, deletionsOf } from './deletions.ts';

const PRESETS = new URL('../../presets/', import.meta.url);
const TESTS = new URL('./', import.meta.url);

/**
 * Problems that only say that the rest of a rule, or the request, cannot stand without what was deleted. Any other
 * refusal of the compiler would be an accident, and does not count as having seen the deletion.
 */
const STRUCTURAL = new Set([
  'missing-field',
  'exactly-one',
  'table-entry',
  'paging-missing',
  'paging-end',
  'paging-unused',
  'paging-conflict',
  'result-shape',
  'consistency-basis',
  'slot-unknown-name',
  'reach-empty',
]);

/** Six shapes the tests of every preset must show, as far as the service has them. */
const TESTS_MIN = 6;

/** Compiling costs about as much as replaying this many tests. */
const AT_ONCE = 3;

const names = readdirSync(PRESETS)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.slice(0, -'.yaml'.length))
  .sort();
const presets = names.map((name) => readObjects(new URL(`${name}.yaml`, PRESETS)));

test('presets: the lock, the table and the files say the same', () => {
  const locked = JSON.parse(readFileSync(new URL('digests.json', PRESETS), 'utf8')) as Record<string, string>;
  const written = presets.flat().map(({ name, spec }) => [name, digestOf('preset', { name, spec })]);
  assert.deepEqual(locked, Object.fromEntries(written), 'a released preset never changes: give the new one a new name');
  const shipped = Object.entries(shippedPresets).map(([name, { digest, spec }]) => [name, digest, digestOf('preset', { name, spec })]);
  assert.deepEqual(
    shipped,
    written.map(([name, digest]) => [name, digest, digest]),
  );
});

for (const name of names) {
  describe(`preset ${name}`, () => {
    const bench = benchOf(name);

    test(`${name}: at least ${TESTS_MIN} recorded tests pass`, async () => {
      assert.ok(bench.tests.length >= TESTS_MIN, `${bench.tests.length} tests`);
      const failed = (await bench.run(bench.preset)).filter(({ passed }) => !passed);
      assert.deepEqual(failed.map(describeFailure), []);
    });

    test(`${name}: no rule can be deleted unseen`, async (context) => {
      const unseen: string[] = [];
      for (const deletion of deletionsOf(bench.preset.spec)) {
        const caught = await bench.firstFailure(deletion);
        if (caught === undefined) unseen.push(deletion.path);
        context.diagnostic(`${deletion.path}: ${caught === undefined ? 'NOT SEEN' : caughtBy(caught)}`);
      }
      assert.deepEqual(unseen, []);
    });
  });
}

interface Bench {
  readonly preset: ResourceObject;
  readonly tests: readonly ResourceObject[];
  run(preset: ResourceObject): Promise<readonly TestResult[]>;
  firstFailure(deletion: Deletion): Promise<TestResult | undefined>;
}

function benchOf(name: string): Bench {
  const folder = new URL(`${name}/`, TESTS);
  const objects = readdirSync(folder).flatMap((file) => readObjects(new URL(file, folder)));
  const ofKind = (kind: Kind) => objects.filter((object) => object.kind === kind);
  const [preset] = presets.flat().filter((object) => object.name === name);
  assert.ok(preset !== undefined);
  const contracts = { contracts: ofKind('ActionContract'), bindings: ofKind('CredentialBinding') };
  const tests = ofKind('ContractTest');
  const others = presets.flat().filter((object) => object.name !== name);
  const withPreset = (one: ResourceObject) => ({ ...contracts, presets: [one, ...others] });
  // Tests that caught something lately are tried first, a few at a time.
  const eager = [...tests];
  return {
    preset,
    tests,
    run: (one) => runContractTests({ ...withPreset(one), tests }),
    firstFailure: async ({ spec }) => {
      for (let at = 0; at < eager.length; at += AT_ONCE) {
        const results = await runContractTests({ ...withPreset({ ...preset, spec }), tests: eager.slice(at, at + AT_ONCE) });
        const caught = results.find(({ passed, problems }) => !passed && problems.every(({ code }) => STRUCTURAL.has(code)));
        if (caught === undefined) continue;
        const [taken] = eager.splice(at + results.indexOf(caught), 1);
        if (taken !== undefined) eager.unshift(taken);
        return caught;
      }
      return undefined;
    },
  };
}

function readObjects(url: URL): readonly ResourceObject[] {
  const { objects, problems } = readYaml(readFileSync(url, 'utf8'), url.pathname.split('/').slice(-3).join('/'));
  assert.deepEqual(problems, []);
  return objects;
}

function describeFailure(result: TestResult): string {
  return [result.name, ...reportFailure(result)].join('\n');
}

function caughtBy(result: TestResult): string {
  return result.problems.length > 0 ? `compiler (${result.problems.map(({ code }) => code).join(', ')})` : `test ${result.name}`;
}
