/** Contracts of the examples and facts of calls of them, for cards. */
import assert from 'node:assert/strict';
import type { CardFacts } from '#core/approval/card-facts.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { objectsIn } from '../contract/sample-objects.ts';

const NOW_MS = Date.parse('2026-11-30T12:00:00Z');
const objects = objectsIn('examples/contracts');

/** A contract of `examples/contracts` by metadata.name. */
export function exampleContract(name: string): CompiledContract {
  const contracts = objects.filter(({ kind }) => kind === 'ActionContract');
  const contract = contracts.find((each) => each.name === name);
  assert.ok(contract, `no example is named ${name}`);
  const bindings = objects.filter(({ kind }) => kind === 'CredentialBinding');
  const presets = withShippedPresets(objects.filter(({ kind }) => kind === 'ContractPreset'));
  const { contract: compiled, problems } = compileContract({ contract, bindings, presets, contracts, nowMs: NOW_MS });
  assert.ok(compiled, JSON.stringify(problems));
  return compiled;
}

/** Facts of a call, as a sidecar with an operator gathers them; `more` replaces what a test is about. */
export function factsOf(contract: CompiledContract, args: Readonly<Record<string, JsonValue>>, more: Partial<CardFacts> = {}): CardFacts {
  return {
    operationId: `op_${'0abc1def2ghi3jkl4mno5pqr6s'}`,
    contract: contract.name,
    namespace: contract.namespace,
    action: contract.action,
    revision: `sha256:${'5e'.repeat(32)}`,
    args,
    // Arguments that never passed the strict reader have no digest; a test of the card alone does not care.
    argsDigest: digestOf(
      'arguments',
      JSON.parse(
        JSON.stringify(args)
          .toWellFormed()
          .replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, '?'),
      ),
    ),
    planDigest: `sha256:${'91'.repeat(32)}`,
    requester: {
      kind: 'pod',
      session: 'release-bot-5c7d-0b6f6c1e',
      serviceAccount: 'release-bot',
      pod: 'release-bot-5c7d4b9f6d-x2x9q',
      image: `registry.example.com/release-bot@sha256:${'ab'.repeat(32)}`,
      controller: 'Deployment/release-bot',
    },
    askedAtMs: Date.parse('2026-11-30T14:45:00Z'),
    expiresAtMs: Date.parse('2026-11-30T14:55:00Z'),
    reads: [],
    ...more,
  };
}

/** The calls of the golden cards, by the name of their file. */
export const EXAMPLE_CALLS: Readonly<Record<string, () => readonly [CompiledContract, CardFacts]>> = {
  'scale-deployment': () => {
    const contract = exampleContract('scale-deployment');
    const args = { deployment: 'checkout-api', from: 3, replicas: 5, reason: 'p95 latency is above 800 ms since 14:20' };
    return [contract, factsOf(contract, args, { before: [{ name: 'replicas', before: 3, after: '5' }] })];
  },
  'refund-payment': () => {
    const contract = exampleContract('refund-payment');
    const args = {
      payment: 'pi_3PqLxY2eZvKYlo2C1x',
      amount: 1999,
      currency: 'eur',
      cause: 'duplicate',
      reason: 'The customer was charged twice for order 4711.\nTicket SUP-88.',
    };
    return [contract, factsOf(contract, args)];
  },
  'archive-projects': () => {
    const contract = exampleContract('archive-projects');
    const ids = Array.from({ length: 50 }, (_, index) => 1204 + index * 17);
    const args = { project_ids: ids, inactive_since: '2025-11-30T00:00:00Z', reason: 'Nobody has pushed to these for a year.' };
    return [
      contract,
      factsOf(contract, args, {
        evidence: {
          action: 'list_inactive_projects',
          items: 842,
          complete: false,
          lacks: [
            'The read stopped after 30 s with 842 projects; there may be more.',
            '3 of 50 ids are not in the answer: 1901, 1918, 1935.',
          ],
          proof: 'Checked',
          atMs: Date.parse('2026-11-30T14:41:00Z'),
        },
        reads: [
          { action: 'list_inactive_projects', atMs: Date.parse('2026-11-30T14:41:00Z'), codes: ['TIME_BUDGET_EXCEEDED', 'STALE_INDEX'] },
        ],
        choices: ['retry-longer', 'listed-only'],
      }),
    ];
  },
  'restart-service': () => {
    const contract = exampleContract('restart-service');
    const args = { host: 'web-1', service: 'api', reason: 'Workers hang after the certificate was renewed.' };
    return [contract, factsOf(contract, args, { requester: { kind: 'alone' } })];
  },
  'deploy-service': () => {
    const contract = exampleContract('deploy-service');
    const args = { service: 'api', version: '2.14.3', environment: 'production', reason: 'Fixes the rounding of invoices (INC-1042).' };
    return [contract, factsOf(contract, args, { denied: { atMs: Date.parse('2026-11-30T14:10:00Z'), approver: 'jo@example.com' } })];
  },
};
