import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import {
  completenessFrom,
  completenessMessage,
  omittedFieldFrom,
  omittedFieldMessage,
  warningFrom,
  warningMessage,
} from '#core/wire/completeness-message.ts';
import { toUint32 } from '#core/wire/field.ts';
import { CompletenessSchema, IncompleteReasonSchema, OmittedFieldSchema, WarningSchema } from '#proto/postern/v1/completeness_pb.ts';
import { completeness, omittedField, warning } from './arbitrary-completeness.ts';

test('completeness message: every envelope survives the wire', () => {
  fc.assert(
    fc.property(completeness, (value) => {
      const bytes = toBinary(CompletenessSchema, completenessMessage(value));
      assert.deepEqual(completenessFrom(fromBinary(CompletenessSchema, bytes)), value);
    }),
    { numRuns: 1000 },
  );
});

test('completeness message: every warning and omitted field survives the wire', () => {
  fc.assert(
    fc.property(warning, omittedField, (raised, omitted) => {
      assert.deepEqual(warningFrom(fromBinary(WarningSchema, toBinary(WarningSchema, warningMessage(raised)))), raised);
      assert.deepEqual(
        omittedFieldFrom(fromBinary(OmittedFieldSchema, toBinary(OmittedFieldSchema, omittedFieldMessage(omitted)))),
        omitted,
      );
    }),
    { numRuns: 1000 },
  );
});

test('completeness message: an empty message promises nothing', () => {
  const value = completenessFrom(create(CompletenessSchema));
  assert.equal(value.complete, false);
  assert.equal(value.scope.absence, 'never');
  assert.equal(value.scope.consistency, 'unproven');
  assert.deepEqual(value.continuation, { kind: 'none' });
});

test('completeness message: what a newer sidecar adds is read as the word that promises least', () => {
  const message = create(CompletenessSchema, {
    incompleteReasons: [create(IncompleteReasonSchema, { code: 'BRAND_NEW', message: 'm' })],
    scope: {},
    sources: [{ name: 'eu' }],
    continuation: { kind: { case: 'nextCursor', value: { cursor: 'c' } } },
  });
  Object.assign(message.scope ?? {}, { absence: 99, consistency: 99 });
  Object.assign(message.sources[0] ?? {}, { state: 99 });
  Object.assign(message.continuation?.kind.value ?? {}, { snapshot: 99 });
  const value = completenessFrom(message);
  assert.equal(value.incomplete_reasons[0]?.code, 'COMPLETENESS_UNPROVEN');
  assert.deepEqual([value.scope.absence, value.scope.consistency, value.sources[0]?.state], ['never', 'unproven', 'partial']);
  assert.deepEqual(value.continuation, { kind: 'next_cursor', cursor: 'c', snapshot: 'moving', invalidated_by: [] });
});

test('field: our counts and times end at uint32, whatever they are given', () => {
  assert.deepEqual(
    [-1, 0, 1.5, 4_294_967_295, 1e15, Number.POSITIVE_INFINITY].map(toUint32),
    [0, 0, 2, 4_294_967_295, 4_294_967_295, 4_294_967_295],
  );
});
