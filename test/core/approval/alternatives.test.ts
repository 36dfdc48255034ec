import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alternativesOf, type LackingEvidence } from '#core/approval/alternatives.ts';
import { exampleContract } from './example-cards.ts';

const contract = exampleContract('archive-projects');
const read = exampleContract('list-inactive-projects');
const ARGS = { project_ids: [1, 2, 3, 4], inactive_since: '2025-11-30T00:00:00Z', reason: 'Nobody has pushed for a year.' };

const lacking: LackingEvidence = {
  contract,
  read,
  args: ARGS,
  readArgs: { inactive_since: '2025-11-30T00:00:00Z' },
  reasons: ['TIME_BUDGET_EXCEEDED'],
  spentMs: 20_000,
  isListed: (id) => id === 1 || id === 3,
};
const names = (given: Partial<LackingEvidence>) => alternativesOf({ ...lacking, ...given }).map(({ name }) => name);

test('alternatives: a read that ran out of time may have the time its contract allows', () => {
  const [longer] = alternativesOf(lacking);
  assert.deepEqual(longer, {
    name: 'retry-longer',
    args: ARGS,
    read: { contract: 'list-inactive-projects', args: lacking.readArgs, deadlineMs: read.completeness.limits.timeMs },
  });
});

test('alternatives: no longer read where time is not what was missing, or the limit was nearly reached', () => {
  assert.ok(!names({ reasons: ['VISIBILITY_RESTRICTED'] }).includes('retry-longer'));
  assert.ok(!names({ reasons: ['TIME_BUDGET_EXCEEDED', 'RESULT_LIMIT_REACHED'] }).includes('retry-longer'));
  assert.ok(!names({ reasons: [] }).includes('retry-longer'));
  assert.ok(!names({ spentMs: read.completeness.limits.timeMs }).includes('retry-longer'));
});

test('alternatives: the effect may be limited to what the answer lists', () => {
  const listed = alternativesOf(lacking).find(({ name }) => name === 'listed-only');
  assert.ok(listed?.name === 'listed-only');
  assert.deepEqual({ ...listed.args }, { ...ARGS, project_ids: [1, 3] });
  assert.equal(listed.leftOut, 2);
});

test('alternatives: nothing to limit where all are listed, none is, or the claim is that they are absent', () => {
  assert.ok(!names({ isListed: () => true }).includes('listed-only'));
  assert.ok(!names({ isListed: () => false }).includes('listed-only'));
  const { evidence } = contract.effects;
  assert.ok(evidence !== undefined);
  const absent = { ...contract, effects: { ...contract.effects, evidence: { ...evidence, claim: 'Absent' as const } } };
  assert.ok(!names({ contract: absent }).includes('listed-only'));
});

test('alternatives: fewer targets than the contract demands are no plan', () => {
  const schema = contract.arguments.properties.project_ids;
  assert.ok(schema?.type === 'array');
  const strict = {
    ...contract,
    arguments: { ...contract.arguments, properties: { ...contract.arguments.properties, project_ids: { ...schema, minItems: 3 } } },
  };
  assert.ok(!names({ contract: strict }).includes('listed-only'));
});

test('alternatives: one may always do nothing, and no choice adds a target or repeats a name', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 50 }),
      fc.func(fc.boolean()),
      (ids, isListed) => {
        const choices = alternativesOf({ ...lacking, args: { ...ARGS, project_ids: ids }, isListed });
        assert.equal(choices.at(-1)?.name, 'abandon');
        assert.equal(new Set(choices.map(({ name }) => name)).size, choices.length);
        for (const choice of choices) {
          if (choice.name === 'abandon') continue;
          for (const id of choice.args.project_ids as readonly number[]) assert.ok(ids.includes(id));
        }
      },
    ),
  );
});
