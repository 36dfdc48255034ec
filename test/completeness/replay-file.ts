/** Replays every ContractTest of one file; a file that is not clean fails here. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readYaml } from '#core/contract/read-yaml.ts';
import { runContractTests } from '#sidecar/contract-test/run-contract-test.ts';
import type { TestResult } from '#sidecar/contract-test/run-test.ts';

export async function replayFile(file: string): Promise<readonly TestResult[]> {
  return await replayText(readFileSync(file, 'utf8'), file);
}

export async function replayText(text: string, file: string): Promise<readonly TestResult[]> {
  const { objects, problems } = readYaml(text, file);
  assert.deepEqual(problems, []);
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  return await runContractTests({
    contracts: ofKind('ActionContract'),
    bindings: ofKind('CredentialBinding'),
    presets: ofKind('ContractPreset'),
    tests: ofKind('ContractTest'),
  });
}
