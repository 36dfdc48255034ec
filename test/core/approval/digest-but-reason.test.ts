import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestButReason } from '#core/approval/digest-but-reason.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { exampleContract } from './example-cards.ts';

const contract = exampleContract('refund-payment');
const ARGS = { payment: 'pi_3PqLxY2eZvKYlo2C1x', amount: 1999, reason: 'twice' };

function reasonAt(...reason: string[]) {
  return { effects: { ...contract.effects, approval: { ...contract.effects.approval, reason } } };
}

test('digest but reason: is the same whatever the agent says, in whatever order, and another one for any other argument', () => {
  const { reason: _reason, ...rest } = ARGS;
  const one = digestButReason(contract, ARGS);
  assert.equal(digestButReason(contract, { reason: 'once more, please', amount: 1999, payment: ARGS.payment }), one);
  assert.equal(digestButReason(contract, rest), one, 'also where it says nothing');
  assert.notEqual(digestButReason(contract, { ...ARGS, amount: 2000 }), one);
});

test('digest but reason: a reason inside an argument takes nothing else with it', () => {
  const nested = reasonAt('note', 'why');
  const one = digestButReason(nested, { note: { why: 'a', kind: 'x' } });
  assert.equal(digestButReason(nested, { note: { why: 'b', kind: 'x' } }), one);
  assert.notEqual(digestButReason(nested, { note: { why: 'a', kind: 'y' } }), one);
});

test('digest but reason: where the contract names no reason every argument counts', () => {
  const { reason: _reason, ...approval } = contract.effects.approval;
  assert.equal(digestButReason({ effects: { ...contract.effects, approval } }, ARGS), digestOf('arguments', ARGS));
});
