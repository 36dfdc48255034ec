import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { OpeningLog } from '#sidecar/audit/opening-log.ts';
import { HandClock } from '#test/sidecar/approval/hand-clock.ts';
import { MemoryLog } from './memory-log.ts';

test('opening log: what comes before the chain is open stands in it in order', async () => {
  const opening = new OpeningLog(new HandClock());
  const log = new MemoryLog();
  const first = opening.append({ kind: 'session', text: '{"n":1}' });
  const second = opening.append({ kind: 'intent', text: '{"n":2}' });
  assert.equal(opening.fault, 'opening');
  opening.use(log);
  assert.equal((await first)?.sequence, 1);
  assert.equal((await second)?.sequence, 2);
  assert.equal(opening.fault, undefined);
});

test('opening log: a call does not wait for an operator for ever, and what happened does', async () => {
  const clock = new HandClock();
  const opening = new OpeningLog(clock);
  const intent = opening.append({ kind: 'intent', text: '{}' });
  const session = opening.append({ kind: 'session', text: '{}' });
  clock.pass(limits.walAppendMs);
  await assert.rejects(intent, { reason: 'AUDIT_UNAVAILABLE' });
  const log = new MemoryLog();
  opening.use(log);
  await session;
  assert.deepEqual(
    log.entries.map(({ kind }) => kind),
    ['session'],
  );
});

test('opening log: what waits is bounded, and dropped where nobody is to read it', async () => {
  const opening = new OpeningLog(new HandClock());
  const waiting = Array.from({ length: limits.auditQueueRecordsMax }, () => opening.append({ kind: 'request', text: '{}' }));
  await assert.rejects(opening.append({ kind: 'request', text: '{}' }), { reason: 'AUDIT_UNAVAILABLE' });
  opening.use('off');
  assert.ok((await Promise.all(waiting)).every((recorded) => recorded === undefined));
});
