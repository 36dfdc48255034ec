import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { passGate } from '#sidecar/call/gate.ts';
import { compiledSample } from '#test/core/contract/sample-objects.ts';

function planOf(contract: CompiledContract): Parameters<typeof passGate>[0] {
  const remote = () => ({ ask: () => Promise.reject(new Error('not asked')) });
  return { served: { contract, remote }, args: {}, argsDigest: 'sha256:0', requestId: 'req_1', operationId: 'op_1', onePage: false };
}

test('gate: an HTTP read without approval passes', () => {
  assert.equal(passGate(planOf(compiledSample())).plan.served.contract.action, 'list_things');
});

test('gate: what changes the world or needs a person does not pass, whatever the compiler said of its readiness', () => {
  const { notReady: _notReady, ...approved } = compiledSample({ approval: { mode: 'EachCall' } });
  const sample = compiledSample();
  for (const contract of [approved, { ...sample, effect: 'Write' as const }, { ...sample, effect: 'Destructive' as const }]) {
    assert.throws(() => passGate(planOf(contract)), { reason: 'CONTRACT_NOT_READY' });
  }
});
