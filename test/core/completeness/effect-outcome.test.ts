import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { effectEnvelope } from '#core/completeness/effect-envelope.ts';
import { type EffectOutcome, effectOutcome } from '#core/completeness/effect-outcome.ts';
import type { Exchange, NoReply, Reply } from '#core/completeness/exchange.ts';
import type { CompiledContract, OutcomeRule } from '#core/contract/compiled.ts';
import { contract, path, rule } from './build-contract.ts';
import { contextOf, exchange, type Said } from './drive-walk.ts';

/** A write that answers one object. */
function write(outcomes: readonly OutcomeRule[] = [], given: Partial<CompiledContract['result']> = {}): CompiledContract {
  return {
    ...contract({ result: { outcomes, shape: { kind: 'object', path: path('/') }, as: 'thing', id: [], ...given } }),
    effect: 'Write',
  };
}

const COMMAND: CompiledContract = {
  ...write([], { decoder: 'Lines' }),
  target: { kind: 'ssh', credential: 'key', host: ['a.example.com'], argv: [['uptime']], shell: 'Posix' },
};

const outcomeOf = (said: Said | Exchange, compiled = write()): EffectOutcome =>
  effectOutcome(contextOf(compiled), 'reply' in said ? said : exchange(said));
const kindOf = (said: Said | Exchange, compiled = write()): string => outcomeOf(said, compiled).kind;

function lost(cause: NoReply['cause'], sent: boolean): Exchange {
  return { sent: exchange({}).sent, reply: { kind: 'noReply', cause, sent, receivedAtMs: 0 } };
}

function ended(exit: Reply['exit'], more: Partial<Reply> = {}): Exchange {
  const { sent, reply } = exchange({ status: 0, body: 'ok' });
  return { sent, reply: { ...(reply as Reply), ...more, ...(exit === undefined ? {} : { exit }) } };
}

const CAUSES: readonly NoReply['cause'][] = ['unreachable', 'timedOut', 'protocol', 'egressDenied', 'tls', 'locked', 'hostKey'];
const KINDS: readonly OutcomeRule['is'][] = [
  'Ok',
  'Empty',
  'Pending',
  'RateLimited',
  'CursorExpired',
  'Denied',
  'NotFound',
  'CapReached',
  'TimedOut',
  'Unavailable',
  'Rejected',
];

describe('effect outcome', () => {
  it('effect outcome: without an answer it is not done if nothing was sent, and unknown if anything was (HTTP-10, HTTP-11)', () => {
    for (const cause of CAUSES) {
      assert.equal(kindOf(lost(cause, false)), 'notDone', cause);
      assert.equal(kindOf(lost(cause, true)), 'unknown', cause);
    }
  });

  it('effect outcome: each status is done, refused or unknown', () => {
    const table: readonly [number, EffectOutcome['kind']][] = [
      [200, 'done'],
      [201, 'done'],
      [202, 'done'],
      [204, 'done'],
      [206, 'unknown'],
      [100, 'unknown'],
      [301, 'unknown'],
      [302, 'unknown'],
      [303, 'unknown'],
      [304, 'unknown'],
      [307, 'notDone'],
      [308, 'notDone'],
      [400, 'notDone'],
      [401, 'notDone'],
      [403, 'notDone'],
      [404, 'notDone'],
      [408, 'unknown'],
      [409, 'notDone'],
      [422, 'notDone'],
      [429, 'notDone'],
      [500, 'unknown'],
      [502, 'unknown'],
      [503, 'unknown'],
      [504, 'unknown'],
      [599, 'unknown'],
      [999, 'unknown'],
    ];
    for (const [status, kind] of table) assert.equal(kindOf({ status, body: {} }), kind, String(status));
  });

  it('effect outcome: a rule of the contract decides over a 5xx, except that unavailable and late stay unknown', () => {
    for (const is of KINDS) {
      const compiled = write([{ name: 'busy', when: rule('status == 503'), is }]);
      const wanted = ['Ok', 'Empty', 'Pending'].includes(is) ? 'done' : ['Unavailable', 'TimedOut'].includes(is) ? 'unknown' : 'notDone';
      assert.equal(kindOf({ status: 503, body: {} }, compiled), wanted, is);
      assert.equal(kindOf({ status: 503 }, compiled), wanted, is);
    }
  });

  it('effect outcome: no rule reinterprets 401 or a redirect', () => {
    const all = write([{ name: 'all', when: rule('true'), is: 'Ok' }]);
    assert.equal(kindOf({ status: 401 }, all), 'notDone');
    assert.equal(kindOf({ status: 302 }, all), 'unknown');
  });

  it('effect outcome: a body that was cut leaves what the status line says', () => {
    for (const fault of ['cut', 'unframed', 'undecodable', 'contentType', 'tooLarge'] as const) {
      assert.equal(kindOf({ status: 201, fault }), 'done', fault);
      assert.equal(kindOf({ status: 422, fault }), 'notDone', fault);
      assert.equal(kindOf({ status: 500, fault }), 'unknown', fault);
    }
  });

  it('effect outcome: a cut body that would have told the failure leaves it unknown', () => {
    const slack = write([{ name: 'refused', when: rule('body.ok == false'), is: 'Rejected' }]);
    assert.equal(kindOf({ status: 200, body: { ok: false } }, slack), 'notDone');
    assert.equal(kindOf({ status: 200, body: { ok: true } }, slack), 'done');
    const cut = outcomeOf({ status: 200, fault: 'cut' }, slack);
    assert.ok(cut.kind === 'unknown');
    assert.match(cut.because, /outcome refused/);
    // What stands behind the rule that spoke was never asked.
    const first = write([
      { name: 'taken', when: rule('status == 200'), is: 'Ok' },
      { name: 'refused', when: rule('body.ok == false'), is: 'Rejected' },
    ]);
    assert.equal(kindOf({ status: 200, fault: 'cut' }, first), 'done');
    // A rule that could only have said the same takes nothing away.
    assert.equal(kindOf({ status: 422, fault: 'contentType' }, slack), 'notDone');
    assert.equal(kindOf({ status: 401, fault: 'contentType' }, slack), 'notDone');
    // No rule says what 401 means, so none that is missing matters.
    const done = write([{ name: 'done', when: rule('body.ok == true'), is: 'Ok' }]);
    assert.equal(kindOf({ status: 401, fault: 'cut' }, done), 'notDone');
  });

  it('effect outcome: a rule too costly to end proves nothing', () => {
    const costly = write([{ name: 'costly', when: rule('body.l.all(a, body.l.all(b, body.l.all(c, a + b + c > 0.0)))'), is: 'Rejected' }]);
    const list = Array.from({ length: 200 }, () => 1);
    assert.equal(kindOf({ status: 200, body: { l: list } }, costly), 'unknown');
  });

  it('effect outcome: what was accepted is done, and said to be', () => {
    const jobs = write([{ name: 'queued', when: rule('status == 202'), is: 'Pending' }]);
    assert.deepEqual(outcomeOf({ status: 202, body: {} }, jobs), { kind: 'done', accepted: true });
  });

  it('effect outcome: a command is judged by its exit status, and without one it is unknown (SSH-06)', () => {
    assert.equal(kindOf(ended({ code: 0 }), COMMAND), 'done');
    assert.equal(kindOf(ended({ code: 3 }), COMMAND), 'notDone');
    assert.equal(kindOf(ended(undefined), COMMAND), 'unknown');
    const killed = outcomeOf(ended({ signal: 'TERM' }), COMMAND);
    assert.ok(killed.kind === 'unknown');
    assert.match(killed.because, /signal TERM/);
    const strange = outcomeOf(ended({ signal: 'x\u202e please confirm' }), COMMAND);
    assert.ok(strange.kind === 'unknown');
    assert.doesNotMatch(strange.because, /please/);
    const busy = {
      ...COMMAND,
      result: { ...COMMAND.result, outcomes: [{ name: 'late', when: rule('exit == 124'), is: 'TimedOut' as const }] },
    };
    assert.equal(kindOf(ended({ code: 124 }), busy), 'unknown');
    const stderr = {
      ...COMMAND,
      result: { ...COMMAND.result, outcomes: [{ name: 'e', when: rule('stderr.contains("not found")'), is: 'NotFound' as const }] },
    };
    assert.equal(kindOf(ended({ code: 0 }, { stderr: 'unit not found' }), stderr), 'notDone');
  });

  it('effect outcome: a refusal that says when to come again keeps that time', () => {
    const limited = outcomeOf({ status: 429, headers: { 'retry-after': '30' } });
    assert.ok(limited.kind === 'notDone');
    assert.equal(limited.failure.retryAfterMs, 30_000);
  });

  it('effect outcome: whatever comes, not done needs something definite and done needs an Ok (P2)', () => {
    const status = fc.oneof(fc.integer({ min: 100, max: 999 }), fc.constantFrom(0, 200, 204, 307, 308, 401, 408, 429, 503));
    const fault = fc.option(fc.constantFrom('cut', 'unframed', 'undecodable', 'contentType', 'tooLarge' as const), { nil: undefined });
    const said = fc.record({
      status,
      fault,
      body: fc.option(fc.dictionary(fc.constantFrom('ok', 'a'), fc.jsonValue(), { maxKeys: 2 }), { nil: undefined }),
    });
    const rules = fc.array(
      fc.record({
        name: fc.constantFrom('r1', 'r2'),
        when: fc.constantFrom('status == 503', 'body.ok == true', 'has(body.a)', 'status >= 200', 'exit == 0').map(rule),
        is: fc.constantFrom(...KINDS),
      }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          said,
          fc.constantFrom(...CAUSES).map((cause) => ({ cause })),
        ),
        rules,
        fc.boolean(),
        (what, outcomes, ssh) => {
          const compiled = ssh ? { ...COMMAND, result: { ...COMMAND.result, outcomes } } : write(outcomes);
          if ('cause' in what) {
            assert.equal(kindOf(lost(what.cause, true), compiled), 'unknown');
            return;
          }
          const outcome = outcomeOf(what as Said, compiled);
          const named = new Set(outcomes.map(({ is }) => is));
          const refused = what.status >= 400 && what.status <= 499 && what.status !== 408;
          if (outcome.kind === 'notDone') {
            assert.ok(!ssh, 'no exit status, nothing definite');
            const byRule = ['Rejected', 'Denied', 'NotFound', 'RateLimited', 'CapReached', 'CursorExpired'].some((is) =>
              named.has(is as never),
            );
            assert.ok(refused || what.status === 307 || what.status === 308 || byRule, JSON.stringify(what));
          }
          if (outcome.kind === 'done') {
            const byRule = ['Ok', 'Empty', 'Pending'].some((is) => named.has(is as never));
            assert.ok((what.status >= 200 && what.status <= 299) || byRule, JSON.stringify(what));
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

const FACTS = { deadlineMs: 30_000, spentMs: 5, waitedMs: 0, calls: 1, summaryResource: 'a thing' };

function envelopeOf(said: Said, compiled = write()) {
  const made = exchange(said);
  const outcome = outcomeOf(made, compiled);
  assert.ok(outcome.kind === 'done');
  return effectEnvelope(contextOf(compiled), made as Exchange & { reply: Reply }, outcome, FACTS);
}

describe('effect envelope', () => {
  it('effect envelope: a whole answer is complete, and has the declared fields only', () => {
    const envelope = envelopeOf({ status: 201, body: { id: 7, secret: 'x' } });
    assert.equal(envelope.status, 'ok');
    assert.deepEqual(envelope.data, { thing: { id: 7 } });
    assert.equal(envelope.completeness.complete, true);
  });

  it('effect envelope: no content is a whole answer without data', () => {
    const envelope = envelopeOf({ status: 204 });
    assert.equal(envelope.status, 'ok');
    assert.deepEqual(envelope.data, { thing: null });
  });

  it('effect envelope: an answer that was cut, is not finished or is not what was promised is incomplete, and never a reason to send again', () => {
    const jobs = write([{ name: 'queued', when: rule('status == 202'), is: 'Pending' }]);
    const cases: readonly [Said, CompiledContract][] = [
      [{ status: 201, fault: 'cut' }, write()],
      [{ status: 201, fault: 'tooLarge' }, write()],
      [{ status: 201, body: { id: 7 }, fault: 'unframed' }, write()],
      [{ status: 201, body: ['no object'] }, write()],
      [{ status: 202, body: {} }, jobs],
    ];
    for (const [said, compiled] of cases) {
      const { status, completeness } = envelopeOf(said, compiled);
      assert.deepEqual([status, completeness.complete], ['partial', false], JSON.stringify(said));
      assert.ok(completeness.incomplete_reasons.length > 0);
      assert.deepEqual(completeness.continuation, { kind: 'none' });
    }
  });

  it('effect envelope: rules of a list, brought by a preset, say nothing about the one answer of a write', () => {
    const listed = contract({
      completeness: {
        signals: [{ kind: 'when', name: 's', when: rule('true'), reason: 'SOURCE_UNAVAILABLE' }],
        required: [{ name: 'r', anyOf: [], read: 'EveryPage' }],
        scope: { resource: ['things'], visibility: 'all', exclusions: [], absence: 'Never', floor: 5 },
        onIncomplete: 'Fail',
      },
    });
    const envelope = envelopeOf({ body: { items: [{ id: 1 }, { id: 2 }] } }, { ...listed, effect: 'Write' });
    assert.equal(envelope.status, 'ok');
    assert.deepEqual(envelope.data, { things: [{ id: 1 }, { id: 2 }] });
  });

  it('effect envelope: notices speak, and what was changed in the answer is said', () => {
    const compiled: CompiledContract = {
      ...write(),
      completeness: { ...write().completeness, notices: [{ name: 'n', when: rule('has(body.note)'), warning: 'w', fields: [] }] },
      warnings: { w: { name: 'w', code: 'UPSTREAM_NOTICE', owner: 'o', expires: '2026-12-31', message: 'replayed' } },
    };
    const envelope = envelopeOf({ body: { id: 1, note: 1 }, reflected: true }, compiled);
    assert.deepEqual(
      envelope.warnings.map(({ code }) => code),
      ['UPSTREAM_NOTICE', 'CREDENTIAL_REFLECTED'],
    );
    assert.equal(envelope.status, 'ok');
  });
});
