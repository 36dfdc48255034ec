/** What the end of a command is to a read: its exit, never the absence of one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '#core/completeness/exchange.ts';
import { classify } from '#core/completeness/outcome.ts';
import { ANSWER_VARIABLES, compileRule } from '#core/completeness/rule.ts';
import type { OutcomeRule } from '#core/contract/compiled.ts';

function ended(how: Partial<Reply>): Reply {
  return {
    kind: 'reply',
    status: 0,
    stderr: '',
    headers: {},
    body: { lines: [] },
    bytes: 0,
    normalized: [],
    reflected: false,
    receivedAtMs: 0,
    ...how,
  };
}

/** The kind of failure, or of success. */
function judged(reply: Reply, rules: readonly OutcomeRule[] = []): string {
  const exit = reply.exit !== undefined && 'code' in reply.exit ? { exit: reply.exit.code } : {};
  const outcome = classify(reply, rules, { status: 0, stderr: reply.stderr ?? '', ...exit });
  return outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind;
}

function rule(when: string, is: OutcomeRule['is']): OutcomeRule {
  const compiled = compileRule(when, ANSWER_VARIABLES);
  assert.ok(compiled.kind === 'compiled', when);
  return { name: 'r', when: compiled.rule, is };
}

test('command outcome: exit 0 is Ok, any other is Rejected, and rules may say otherwise', () => {
  assert.equal(judged(ended({ exit: { code: 0 } })), 'Ok');
  assert.equal(judged(ended({ exit: { code: 3 } })), 'Rejected');
  assert.equal(judged(ended({ exit: { code: 3 } }), [rule('exit == 3', 'Ok')]), 'Ok');
  assert.equal(judged(ended({ exit: { code: 1 }, body: undefined }), [rule('exit == 1', 'Empty')]), 'Empty');
  assert.equal(judged(ended({ exit: { code: 1 }, stderr: 'Permission denied' }), [rule("stderr.contains('denied')", 'Denied')]), 'Denied');
});

test('SSH-06, SSH-08: no rule makes an answer of a command that did not say how it ended, or was killed', () => {
  const always = [rule('true', 'Ok')];
  for (const how of [{}, { fault: 'cut' as const }, { exit: { signal: 'KILL' } }]) {
    assert.equal(judged(ended(how), always), 'Protocol');
  }
});

test('SSH-07: an exit status beside output that was cut is no answer', () => {
  assert.equal(judged(ended({ exit: { code: 0 }, fault: 'cut' })), 'Protocol');
  assert.equal(judged(ended({ exit: { code: 0 }, fault: 'cut' }), [rule('true', 'Ok')]), 'Protocol');
});

test('SSH-12: output over the cap is rows where whole records came, and an exit status still counts', () => {
  assert.equal(judged(ended({ fault: 'tooLarge' })), 'Ok');
  assert.equal(judged(ended({ fault: 'tooLarge', body: undefined })), 'TooLarge');
  assert.equal(judged(ended({ fault: 'tooLarge', exit: { code: 7 } })), 'Rejected');
});
