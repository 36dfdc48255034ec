import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { operationDocument, planDocument } from '#core/wire/operation-document.ts';
import { stepDocument } from '#core/wire/step-document.ts';
import {
  Approval_State,
  Effect,
  Operation_State,
  OperationSchema,
  PrepareResponseSchema,
  Step_State,
  StepSchema,
} from '#proto/postern/v1/action_pb.ts';

const ID = 'op_0abc1def2ghi3jkl4mno5pqr6s';

test('operation document: what is not known is absent, never empty', () => {
  const operation = create(OperationSchema, {
    operationId: ID,
    action: 'a',
    state: Operation_State.RUNNING,
    startedAt: '2026-11-30T14:45:00Z',
  });
  assert.deepEqual(operationDocument(operation), {
    operation_id: ID,
    request_id: '',
    action: 'a',
    state: 'running',
    started_at: '2026-11-30T14:45:00Z',
  });
});

test('operation document: an effect tells its approval, each target and who found out', () => {
  const operation = create(OperationSchema, {
    operationId: ID,
    effect: Effect.DESTRUCTIVE,
    state: Operation_State.UNKNOWN,
    approval: { state: Approval_State.USED, name: 'op-x' },
    error: { code: 'OUTCOME_UNKNOWN', message: 'm' },
    steps: [{ index: 0, elementJson: '7', state: Step_State.DONE }],
    resolution: { done: true, resolvedAt: '2026-11-30T15:00:00Z', by: 'person' },
  });
  const document = operationDocument(operation);
  assert.equal(document.state, 'unknown');
  assert.equal(document.effect, 'destructive');
  assert.deepEqual(document.approval, { state: 'used', name: 'op-x' });
  assert.deepEqual(document.steps, [{ index: 0, state: 'done', element: 7 }]);
  assert.deepEqual(document.resolution, { done: true, resolved_at: '2026-11-30T15:00:00Z', by: 'person' });
});

test('operation document: a state of another release is a number, not a guess', () => {
  assert.equal(stepDocument(create(StepSchema, { index: 1, state: 12 as Step_State })).state, 'state_12');
});

test('plan document: the alternatives are plans of their own', () => {
  const plan = create(PrepareResponseSchema, {
    planId: ID,
    approval: { state: Approval_State.NOT_NEEDED },
    alternatives: [{ planId: 'op_other', name: 'listed-only', card: 'c', cardDigest: 'd' }],
  });
  const document = planDocument(plan);
  assert.deepEqual(document.approval, { state: 'not_needed' });
  assert.deepEqual(document.alternatives, [{ plan_id: 'op_other', name: 'listed-only', card: 'c', card_digest: 'd' }]);
});
