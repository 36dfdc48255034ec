/**
 * Every argument of every example contract against the hostile corpus, over a real connection. Writes are fired too:
 * their requests are assembled by the same code, and a slot that leaks is found before effects are served.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileBinding } from '#core/contract/binding.ts';
import { compileContract } from '#core/contract/compile.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import type { Kind } from '#core/contract/resource-object.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { escapeContract } from '#sidecar/contract-test/escape.ts';

const EXAMPLES = new URL('../../examples/contracts/', import.meta.url);
const objects = readdirSync(EXAMPLES)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => readYaml(readFileSync(new URL(file, EXAMPLES), 'utf8'), file).objects);
const of = (kind: Kind) => objects.filter((object) => object.kind === kind);
const [contracts, bindings, presets] = [of('ActionContract'), of('CredentialBinding'), withShippedPresets(of('ContractPreset'))];
const compiledBindings = bindings.flatMap((object) => compileBinding(object).binding ?? []);

for (const object of contracts) {
  const { contract } = compileContract({ contract: object, bindings, presets, contracts, nowMs: 0 });
  if (contract?.target.kind !== 'http') continue;
  test(`escape: nothing leaves its slot in ${contract.name}`, async () => {
    const report = await escapeContract({ contract, bindings: compiledBindings, runs: 40, seed: 11 });
    assert.deepEqual(report.findings, []);
    assert.deepEqual(report.unreached, [], 'the plain call must reach every request, or nothing is proved');
    assert.ok(report.contained > 0);
  });
}
