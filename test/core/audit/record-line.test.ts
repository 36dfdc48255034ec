import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AuditRecord, IntentRecord } from '#core/audit/record.ts';
import { parseRecord, recordLine } from '#core/audit/record-line.ts';
import { limits } from '#core/bounds/limits.ts';

const AT_MS = Date.UTC(2026, 11, 1, 9, 30, 0, 7);

const INTENT: IntentRecord = {
  record: 'intent',
  action: 'delete_tags',
  contract: 'delete-tags',
  namespace: 'release',
  revision: `sha256:${'0'.repeat(64)}`,
  effect: 'Destructive',
  request_id: `req_${'a'.repeat(26)}`,
  operation_id: `op_${'b'.repeat(26)}`,
  arguments: { repository: 'storefront', tags: ['v1', 'v2'] },
  arguments_digest: `sha256:${'1'.repeat(64)}`,
  credentials: ['registry'],
  destinations: ['https://registry.example'],
};

const text = fc.string({ unit: 'binary', maxLength: 200 });
const intents = fc
  .record({ action: text, approver: text, arguments: fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), index: fc.nat() })
  .map(
    ({ action, approver, arguments: args, index }): AuditRecord => ({
      ...INTENT,
      action,
      approver,
      arguments: args as never,
      target: { index },
    }),
  );
const refused = fc
  .record({ code: text, action: text })
  .map(({ code, action }): AuditRecord => ({ record: 'refused', action, known: false, code, request_id: 'req', duration_ms: 1 }));
const bundles = fc
  .array(fc.record({ contract: text, action: text, revision: text }), { maxLength: 50 })
  .map((contracts): AuditRecord => ({ record: 'session', event: 'bundle', contracts }));

test('record line: any record is one line within the limit and reads back', () => {
  fc.assert(
    fc.property(fc.oneof(intents, refused, bundles), (record) => {
      const line = recordLine(record, AT_MS);
      assert.ok(!line.includes('\n'));
      assert.ok(Buffer.byteLength(line) <= limits.auditRecordBytesMax);
      const read = parseRecord(line);
      assert.equal(read?.at, '2026-12-01T09:30:00.007Z');
      assert.deepEqual(read, JSON.parse(JSON.stringify({ ...record, at: read?.at })));
    }),
  );
});

test('record line: begins with what it is and when it was', () => {
  assert.ok(recordLine(INTENT, AT_MS).startsWith('{"record":"intent","at":"2026-12-01T09:30:00.007Z","action":"delete_tags"'));
});

test('record line: arguments that grow past the limit are left out, and their digest stays', () => {
  // 64 KiB of JSON on the wire: short numbers that are written out in full.
  const record = { ...INTENT, arguments: { sizes: Array.from({ length: 13_000 }, () => 1e20) } };
  const read = parseRecord(recordLine(record, AT_MS)) as IntentRecord;
  assert.equal(read.arguments, undefined);
  assert.equal(read.arguments_left_out, 'size');
  assert.equal(read.arguments_digest, INTENT.arguments_digest);
});

test('record line: a target that is too long keeps its index', () => {
  const record = { ...INTENT, target: { index: 7, element: 'x'.repeat(limits.auditRecordBytesMax) } };
  assert.deepEqual((parseRecord(recordLine(record, AT_MS)) as IntentRecord).target, { index: 7 });
});

test('record line: a bundle of more contracts than fit says how many are left out', () => {
  const contracts = Array.from({ length: 5_000 }, (_, index) => ({
    contract: `c-${index}`,
    action: `a_${index}`,
    revision: INTENT.revision,
  }));
  const read = parseRecord(recordLine({ record: 'session', event: 'bundle', contracts }, AT_MS));
  assert.ok(read?.record === 'session' && read.event === 'bundle');
  assert.equal(read.contracts.length + (read.contracts_left_out ?? 0), 5_000);
});

test('record line: what is no record reads as none', () => {
  for (const line of ['', 'null', '[]', '{}', '{"record":"intent"}', '{"record":"segment","at":"x"}', '{"record":"intent","at":1}', '{'])
    assert.equal(parseRecord(line), undefined, line);
});
