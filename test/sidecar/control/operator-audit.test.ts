/** The sidecar's end of the audit: what is said to the operator, when it is said again, and what is made of the answers. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { certify, epochKeyName, signCheckpoint } from '#core/audit/checkpoint.ts';
import { StoreFault, type StoreFaultKind } from '#core/audit/object-store.ts';
import { cosign, makeSigningKey, verifierText } from '#core/audit/signed-note.ts';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import { createLog } from '#core/runtime/log.ts';
import { AuditObject, ConnectResponseSchema } from '#proto/postern/control/v1/control_pb.ts';
import type { AuditTerms } from '#sidecar/audit/audit-control.ts';
import { type Permit, PutFault } from '#sidecar/audit/permitted-put.ts';
import type { ShippedObject } from '#sidecar/audit/segment-sink.ts';
import { OperatorAudit } from '#sidecar/control/operator-audit.ts';
import type { ControlMessage, OperatorMessage } from '#sidecar/control/stream.ts';

const ORIGIN = 'postern.dev/audit/test/release/uid-1';
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const settings = { recipients: [RECIPIENT], origin: ORIGIN, shipped: true, keepsIntents: true };
const epochKey = makeSigningKey(epochKeyName(ORIGIN, 1));
const authority = makeSigningKey('postern.dev/authority/test');
const certificate = { origin: ORIGIN, epoch: 1, key: epochKey };
const checkpointAt = (size: number) =>
  signCheckpoint({ origin: ORIGIN, size, hash: Buffer.alloc(32, size), epoch: 1, time: '2026-12-01T00:00:00Z' }, epochKey);
const receiptFor = (checkpoint: string) =>
  `${checkpoint}${cosign(checkpoint.slice(0, checkpoint.indexOf('\n\n') + 1), authority, 1_800_000_000)}`;
const BYTES = Buffer.from('frames');
const segment: ShippedObject = {
  kind: 'segment',
  number: 3,
  firstSequence: 7,
  lastSequence: 9,
  bytes: BYTES,
  sha256: hash('sha256', BYTES, 'buffer'),
  chainBeganMs: 1,
};
const never = new AbortController().signal;

/** Alarms ring when a test says so. */
function handClock(): Clock & { ring(): void } {
  const waiting = new Set<() => void>();
  return {
    ...systemClock,
    alarm: (_, ring) => {
      waiting.add(ring);
      return () => waiting.delete(ring);
    },
    ring: () => {
      for (const ring of [...waiting]) ring();
    },
  };
}

function rig(answers: readonly (number | PutFault)[] = []) {
  const sent: ControlMessage[] = [];
  const lines: string[] = [];
  const permits: Permit[] = [];
  const heard: AuditTerms[] = [];
  const clock = handClock();
  const left = [...answers];
  const audit = new OperatorAudit({
    clock,
    log: createLog({ level: 'debug', destination: { write: (line: string) => lines.push(line) } }),
    send: (message) => sent.push(message),
    put: async (permit) => {
      permits.push(permit);
      const answer = left.shift();
      if (typeof answer === 'number') return answer;
      throw answer ?? new Error('nothing more was expected');
    },
  });
  audit.onTerms((terms) => heard.push(terms));
  const says = (message: object) =>
    audit.heard(create(ConnectResponseSchema, { message } as MessageInitShape<typeof ConnectResponseSchema>).message as OperatorMessage);
  /** Lets whatever waits for a promise go on. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { audit, sent, lines, permits, heard, clock, says, settle };
}

const permitOf = (more: object = {}) => ({ case: 'auditPermit', value: { object: AuditObject.SEGMENT, number: 3n, ...more } });
const PERMIT = permitOf({ url: 'https://store.example/a', headers: [{ name: 'if-none-match', value: '*' }], expiresMs: 5n });
const PRESENT = permitOf({ present: true });
const isFault = (kind: StoreFaultKind) => (thrown: unknown) => thrown instanceof StoreFault && thrown.kind === kind;
const refused = (message: string, code = 'AUDIT_UNAVAILABLE') => ({ code, message, operationId: '' });

test('operator audit: terms are what the operator says, and are told when they change', () => {
  const { audit, heard, says } = rig();
  audit.welcomed(3);
  assert.equal(audit.terms(), undefined);
  assert.equal(audit.authority.keep, undefined);
  says({ case: 'auditSettings', value: settings });
  says({ case: 'auditSettings', value: settings });
  assert.deepEqual(heard, [settings]);
  assert.ok(audit.authority.keep !== undefined);
  says({ case: 'auditSettings', value: { ...settings, keepsIntents: false } });
  assert.equal(heard.length, 2);
  assert.equal(audit.authority.keep, undefined);
});

test('operator audit: another origin, or recipients that are none, leave the terms as they were', () => {
  const { audit, heard, lines, says } = rig();
  audit.welcomed(3);
  says({ case: 'auditSettings', value: settings });
  says({ case: 'auditSettings', value: { ...settings, origin: 'postern.dev/audit/test/release/uid-2' } });
  says({ case: 'auditSettings', value: { ...settings, origin: 'elsewhere' } });
  says({
    case: 'auditSettings',
    value: { ...settings, recipients: Array.from({ length: limits.auditRecipientsMax + 1 }, () => RECIPIENT) },
  });
  says({ case: 'auditSettings', value: { ...settings, recipients: ['ssh-ed25519 AAAA'] } });
  assert.deepEqual(heard, [settings]);
  assert.equal(lines.filter((line) => line.includes('cannot be kept')).length, 4);
});

test('operator audit: with an operator that knows no audit nothing is recorded, and a person is told once', async () => {
  const { audit, sent, heard, lines } = rig();
  const waiting = assert.rejects(audit.authority.certify(certificate), { reason: 'AUDIT_UNAVAILABLE' });
  audit.welcomed(2);
  await waiting;
  audit.ended();
  audit.welcomed(2);
  assert.deepEqual(heard, [{ recipients: [], origin: '', shipped: false, keepsIntents: false }]);
  assert.equal(lines.filter((line) => line.includes('knows no audit')).length, 1);
  assert.deepEqual(sent, []);
});

test('operator audit: a chain that was begun goes on when the operator goes back a release', () => {
  const { audit, heard, says } = rig();
  audit.welcomed(3);
  says({ case: 'auditSettings', value: settings });
  audit.ended();
  audit.welcomed(2);
  assert.deepEqual(heard, [settings]);
  assert.deepEqual(audit.terms(), settings);
});

test('operator audit: what was asked and not answered is said again on the next stream', async () => {
  const { audit, sent, says } = rig();
  says({ case: 'auditSettings', value: settings });
  const said = () => sent.map((message) => message.case);
  const checkpoint = checkpointAt(5);
  const certified = audit.authority.certify(certificate);
  const witnessed = audit.authority.witness(checkpoint);
  const kept = audit.authority.keep?.(6, Buffer.from('frame'));
  assert.deepEqual(said(), []);
  audit.welcomed(3);
  audit.ended();
  audit.welcomed(3);
  assert.deepEqual(said(), ['auditEpoch', 'auditHead', 'auditIntent', 'auditEpoch', 'auditHead', 'auditIntent']);
  assert.deepEqual(sent[0], { case: 'auditEpoch', value: { epoch: 1, key: verifierText(epochKey) } });
  const note = certify(certificate, authority);
  says({ case: 'auditCertificate', value: { epoch: 1, note } });
  says({ case: 'auditReceipt', value: { size: 5n, note: receiptFor(checkpoint) } });
  says({ case: 'auditIntentKept', value: { sequence: 6n } });
  assert.equal(await certified, note);
  assert.equal(await witnessed, receiptFor(checkpoint));
  await kept;
  audit.ended();
  audit.welcomed(3);
  assert.equal(sent.length, 6);
});

test('operator audit: a wait ends in AUDIT_UNAVAILABLE, and may be asked again', async () => {
  const { audit, clock, sent, says } = rig();
  audit.welcomed(3);
  says({ case: 'auditSettings', value: settings });
  const kept = audit.authority.keep?.(6, Buffer.from('frame'));
  clock.ring();
  await assert.rejects(Promise.resolve(kept), { reason: 'AUDIT_UNAVAILABLE' });
  const again = audit.authority.keep?.(6, Buffer.from('frame'));
  says({ case: 'auditIntentKept', value: { sequence: 6n, refused: refused('The audit store cannot be reached.') } });
  await assert.rejects(Promise.resolve(again), { reason: 'AUDIT_UNAVAILABLE', message: 'The audit store cannot be reached.' });
  assert.equal(sent.length, 2);
});

test('operator audit: a frame the operator would not read is refused before anything is said', async () => {
  const { audit, sent, says } = rig();
  audit.welcomed(3);
  says({ case: 'auditSettings', value: settings });
  await assert.rejects(Promise.resolve(audit.authority.keep?.(1, Buffer.alloc(limits.auditIntentBytesMax + 1))), {
    reason: 'AUDIT_UNAVAILABLE',
  });
  assert.deepEqual(sent, []);
});

test('operator audit: a note of something else does not get into the chain', async () => {
  const { audit, says } = rig();
  audit.welcomed(3);
  const checkpoint = checkpointAt(5);
  const certified = audit.authority.certify(certificate);
  says({ case: 'auditCertificate', value: { epoch: 1, note: certify({ ...certificate, origin: `${ORIGIN}x` }, authority) } });
  await assert.rejects(certified, { reason: 'AUDIT_UNAVAILABLE' });
  for (const note of [receiptFor(checkpointAt(4)), checkpoint, 'no note']) {
    const witnessed = audit.authority.witness(checkpoint);
    says({ case: 'auditReceipt', value: { size: 5n, note } });
    await assert.rejects(witnessed, { reason: 'AUDIT_UNAVAILABLE' });
  }
});

test('operator audit: a conflict is told with the head that is known (AUD-24)', async () => {
  const { audit, says } = rig();
  audit.welcomed(3);
  const witnessed = audit.authority.witness(checkpointAt(5));
  says({ case: 'auditReceipt', value: { size: 5n, known: '9 abc', refused: refused('It does not fit.') } });
  await assert.rejects(witnessed, (thrown: PosternError) => thrown.reason === 'AUDIT_UNAVAILABLE' && thrown.details.conflict === '9 abc');
});

test('permit sink: an object is put by its permit with the CAs of the settings, and told once the store has it', async () => {
  const { audit, sent, permits, says, settle } = rig([200]);
  audit.welcomed(3);
  says({ case: 'auditSettings', value: { ...settings, storeRoots: 'a CA' } });
  const put = audit.sink.put(segment, never);
  says(PERMIT);
  await settle();
  assert.deepEqual(
    permits.map(({ url, roots }) => `${url} ${roots}`),
    ['https://store.example/a a CA'],
  );
  assert.deepEqual(
    sent.map((message) => (message.case === 'auditUpload' ? message.value.stored : message.case)),
    [false, true],
  );
  says(PRESENT);
  assert.equal(await put, 'created');
});

test('permit sink: what is stored already is not sent, and is known after a name that is taken (AUD-19)', async () => {
  const before = rig();
  before.audit.welcomed(3);
  const known = before.audit.sink.put(segment, never);
  before.says(PRESENT);
  assert.equal(await known, 'present');
  const taken = rig([412]);
  taken.audit.welcomed(3);
  const put = taken.audit.sink.put(segment, never);
  taken.says(PERMIT);
  await taken.settle();
  taken.says(PRESENT);
  assert.equal(await put, 'present');
  assert.equal(taken.permits.length, 1);
});

test('permit sink: a name with other bytes is occupied, by the word of the operator', async () => {
  const { audit, says, settle } = rig([412]);
  audit.welcomed(3);
  const put = audit.sink.put(segment, never);
  says(PERMIT);
  await settle();
  says(permitOf({ refused: refused('Other bytes are there.', 'IDEMPOTENCY_CONFLICT') }));
  await assert.rejects(put, isFault('occupied'));
});

test('permit sink: a permit that has ended is asked for once more', async () => {
  const { audit, permits, says, settle } = rig([403, 200]);
  audit.welcomed(3);
  const put = audit.sink.put(segment, never);
  says(PERMIT);
  await settle();
  says(PERMIT);
  await settle();
  says(PRESENT);
  assert.equal(await put, 'created');
  assert.equal(permits.length, 2);
});

test('permit sink: what the store answers is told as what can be done about it', async () => {
  const cases: readonly (readonly [(number | PutFault)[], StoreFaultKind])[] = [
    [[503], 'unavailable'],
    [[429], 'unavailable'],
    [[409], 'unavailable'],
    [[400], 'refused'],
    [[307], 'refused'],
    [[403, 403], 'refused'],
    [[412, 412], 'occupied'],
    [[new PutFault('timeout')], 'unavailable'],
    [[new PutFault('connection')], 'unavailable'],
    [[new PutFault('address')], 'refused'],
  ];
  for (const [answers, kind] of cases) {
    const { audit, says, settle } = rig(answers);
    audit.welcomed(3);
    const put = audit.sink.put(segment, never);
    put.catch(() => undefined);
    for (const _ of answers) {
      says(PERMIT);
      await settle();
    }
    await assert.rejects(put, isFault(kind), JSON.stringify(answers));
  }
});

test('permit sink: without an operator an upload waits, then is unavailable; one that is given up ends at once', async () => {
  const { audit, clock, sent, says, settle } = rig([200]);
  const late = audit.sink.put(segment, never);
  clock.ring();
  await assert.rejects(late, isFault('unavailable'));
  const leave = new AbortController();
  const left = audit.sink.put(segment, leave.signal);
  leave.abort();
  await assert.rejects(left, isFault('unavailable'));
  const put = audit.sink.put(segment, never);
  audit.welcomed(3);
  says(PERMIT);
  await settle();
  // Its word that the object is stored is lost with the stream.
  audit.ended();
  audit.welcomed(3);
  says(PRESENT);
  assert.equal(await put, 'created');
  assert.ok(sent.every((message) => message.case === 'auditUpload'));
});
