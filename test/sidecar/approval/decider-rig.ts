/** A sidecar's own decider over a journal and a clock of the test, with the calls as the real ones make them. */
import assert from 'node:assert/strict';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Reason } from '#core/error/reasons.ts';
import type { Answer } from '#sidecar/approval/answer.ts';
import type { Question } from '#sidecar/approval/decider.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { HandClock } from './hand-clock.ts';
import { ARGS, contract, intentOf, questionOf, recordOf } from './question-of.ts';

export class Rig {
  readonly clock = new HandClock();
  readonly journal = new MemoryJournal(this.clock);
  served: CompiledContract | undefined = contract;
  decider = this.restarted();

  /** Another process over the same journal. */
  restarted(reachable = true): LocalDecider {
    this.decider = new LocalDecider({ journal: this.journal, clock: this.clock, reachable, contractOf: () => this.served });
    return this.decider;
  }

  /** Planned and asked. */
  async asked(more: Parameters<typeof questionOf>[1] = {}, question = questionOf(this.clock, more)): Promise<Question> {
    await this.journal.plan(recordOf(question));
    for (const alternative of question.alternatives) await this.journal.plan(recordOf(alternative));
    await this.decider.ask(question);
    return question;
  }

  /** As the calls do it: begun, then admitted. */
  async run(of: Pick<Question, 'operationId' | 'facts'>, approval?: string): Promise<void> {
    assert.equal(await this.journal.begin(of.operationId, approval), 'begun');
    await this.decider.admit(intentOf(of, approval));
  }

  /** Another call under the yes to `question`, with some arguments of its own. */
  async call({ name }: Question, changes: Readonly<Record<string, string | number>>): Promise<Question> {
    const args = { ...ARGS, ...changes };
    const call = questionOf(this.clock, { args, argsDigest: digestOf('arguments', args) });
    await this.journal.plan(recordOf(call, { expiresAtMs: Number.MAX_SAFE_INTEGER }));
    await this.run(call, name);
    return call;
  }
}

export const yes = ({ cardDigest }: { readonly cardDigest: string }): Answer => ({
  verdict: 'approved',
  approver: 'jo',
  cardDigest,
  reason: '',
});
export const no = ({ cardDigest }: { readonly cardDigest: string }): Answer => ({
  verdict: 'denied',
  approver: 'jo',
  cardDigest,
  reason: '',
});
export const fails = (reason: Reason) => (thrown: unknown) => thrown instanceof PosternError && thrown.reason === reason;
