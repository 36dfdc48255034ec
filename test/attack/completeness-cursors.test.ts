/** Cursors used twice, at the wrong place, or pieced together; evidence over gRPC only where it is due. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startWalk } from '#core/completeness/walk.ts';
import { createKeyRing, createSealer, SEALING_KEY_BYTES } from '#core/encoding/seal.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import { EvidenceSealer } from '#sidecar/call/evidence.ts';
import { ReplayClock } from '#sidecar/contract-test/replay-clock.ts';
import { Cursors } from '#sidecar/cursor/cursor.ts';
import { contract } from '#test/core/completeness/build-contract.ts';
import { contractFile, keysetList } from '#test/flow/contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, type Upstream } from '#test/flow/stage.ts';

const GROUPS = '{type: object, additionalProperties: false, required: [group], properties: {group: {type: string, enum: [a, b, partial]}}}';

function rows(name: string): string {
  return `
  summary: ${name}
  arguments: ${GROUPS}
  http: {credential: reader, method: GET, url: UPSTREAM/rows, query: {group: "$(args.group)", after: "$(next.after)"}}
${keysetList(`limits: {pages: 1, items: 100, time: 5s}
    signals: [{name: partial, when: body.partial, reason: SOURCE_UNAVAILABLE}]`)}`;
}

let upstream: Upstream;
let stage: Stage;

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    const start = Number(url.searchParams.get('after') ?? 0);
    const partial = url.searchParams.get('group') === 'partial' && start === 0;
    sendJson(response, 200, { items: [{ id: start + 1 }, { id: start + 2 }], next: start < 4 ? start + 2 : null, partial });
  });
  stage = await startStage({
    contracts: contractFile({ 'list-rows': rows('List rows'), 'list-others': rows('List others') }),
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'attack-token-0123456789' },
  });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function cursorOf({ completeness }: AnswerDocument): string {
  const way = completeness.continuation;
  assert.ok(way.kind === 'next_cursor');
  return way.cursor;
}

async function end(group: string, cursor: string): Promise<AnswerDocument> {
  for (let next = cursor; ; ) {
    const answer = await stage.call('list_rows', { group }, { cursor: next });
    if (answer.completeness.continuation.kind !== 'next_cursor') return answer;
    next = cursorOf(answer);
  }
}

describe('attacks on cursors', () => {
  test('one cursor in many calls at once is one walk many times, each with its own count', async () => {
    const cursor = cursorOf(await stage.call('list_rows', { group: 'a' }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => end('a', cursor)));
    for (const { completeness, evidence } of answers) {
      assert.deepEqual([completeness.complete, completeness.page.walk.returned, completeness.page.walk.calls], [true, 6, 3]);
      assert.ok(evidence !== undefined);
    }
  });

  test('a partial answer carries no evidence, and a reason of the first call is in the last', async () => {
    const first = await stage.call('list_rows', { group: 'partial' });
    assert.equal(first.evidence, undefined);
    const last = await end('partial', cursorOf(first));
    assert.equal(last.evidence, undefined);
    assert.deepEqual(
      last.completeness.incomplete_reasons.map(({ code }) => code),
      ['SOURCE_UNAVAILABLE'],
    );
  });

  test('neither an equal contract, nor other arguments, nor evidence, nor two halves make a cursor', async () => {
    const first = cursorOf(await stage.call('list_rows', { group: 'a' }));
    const second = cursorOf(await stage.call('list_rows', { group: 'a' }, { cursor: first }));
    const { evidence = '' } = await stage.call('list_rows', { group: 'a' }, { cursor: second });
    assert.notEqual(evidence, '');
    const asked = upstream.requests.length;
    const half = Math.floor(Math.min(first.length, second.length) / 2);
    const forged = [
      evidence,
      first.slice(0, half) + second.slice(half),
      second.slice(0, half) + first.slice(half),
      `${second}A`,
      second.slice(0, -1),
      ` ${second}`,
    ];
    for (const cursor of forged) assert.equal((await stage.refused('list_rows', { group: 'a' }, { cursor })).reason, 'CURSOR_INVALID');
    assert.equal((await stage.refused('list_others', { group: 'a' }, { cursor: second })).reason, 'CURSOR_INVALID');
    assert.equal((await stage.refused('list_rows', { group: 'b' }, { cursor: second })).reason, 'CURSOR_INVALID');
    assert.equal(upstream.requests.length, asked, 'nothing is asked with any of them');
  });

  test('a cursor belongs to its session, its revision, its arguments and its purpose', () => {
    const ring = createKeyRing(new Uint8Array(SEALING_KEY_BYTES).fill(7));
    const clock = new ReplayClock(0);
    const cursors = (session: string) => new Cursors(createSealer('cursor', ring), session, clock);
    const context = { action: 'list_things', revision: 'sha256:1', argsDigest: 'sha256:2' };
    const walks = [startWalk(contract(), '', {}, {})];
    const { cursor } = cursors('one').seal({ walks, calls: 1 }, context, 1000);
    assert.equal(cursors('one').open(cursor, context).calls, 1);
    const claim = new EvidenceSealer(createSealer('evidence', ring), 'one');
    const wrong = [
      () => cursors('two').open(cursor, context),
      () => cursors('one').open(cursor, { ...context, revision: 'sha256:3' }),
      () => cursors('one').open(cursor, { ...context, argsDigest: 'sha256:3' }),
      () => cursors('one').open(cursor, { ...context, action: 'list_thing', revision: 's' }),
      () => cursors('one').open(claim.seal({ v: 1 } as never), context),
    ];
    for (const open of wrong) assert.throws(open, (error) => error instanceof PosternError && error.reason === 'CURSOR_INVALID');
  });
});
