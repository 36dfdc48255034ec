/** What became of each target of one operation so far, and which one says why it stopped. */
import type { PosternError } from '#core/error/postern-error.ts';
import { type EffectAnswer, unknownError } from '#sidecar/execute/effect.ts';
import type { Step } from '#sidecar/journal/entry.ts';
import { AnswerRoom } from './answer-room.ts';
import type { ExecuteResult, StepView } from './calls.ts';
import type { Target } from './plan.ts';

/** Of an effect, or of a read that a person agreed to. */
export type TargetAnswer = EffectAnswer | { readonly kind: 'done'; readonly result: ExecuteResult };

export type Done = Extract<TargetAnswer, { kind: 'done' }>;

export class Steps {
  readonly #targets: readonly Target[];
  readonly #before: ReadonlyMap<number, Step['state']>;
  readonly #answers = new Map<number, TargetAnswer>();
  readonly #room = new AnswerRoom();
  #stop: PosternError | undefined;

  /** `before`: what the journal knows from an earlier attempt of this same operation. */
  constructor(targets: readonly Target[], before: readonly Step[]) {
    this.#targets = targets;
    this.#before = new Map(before.map(({ index, state }) => [index, state]));
  }

  /** Those that have not taken effect, in order. */
  open(): readonly Target[] {
    return this.#targets.filter(({ index }) => this.#before.get(index) !== 'done');
  }

  answered(target: Target, answer: TargetAnswer): void {
    this.#answers.set(target.index, this.#room.take(this.known(target, answer)));
  }

  /**
   * What is known of a target after this answer. That a repetition was stopped, or refused by the remote, says nothing of the request
   * before it: a target that is gone, or no longer as expected, may be so because of that very request.
   */
  known({ index }: Target, answer: TargetAnswer): TargetAnswer {
    if (answer.kind !== 'notDone' || !this.#isInDoubt(index)) return answer;
    return { kind: 'unknown', error: earlierError(answer.error) };
  }

  /** Nothing more is sent, and why. */
  stopped(error: PosternError): void {
    this.#stop ??= error;
  }

  /** In the order of the targets; undefined where one did not take effect, or its answer is of an earlier attempt. */
  answers(): readonly (Done | undefined)[] {
    return this.#targets.map(({ index }) => {
      const answer = this.#answers.get(index);
      return answer?.kind === 'done' ? answer : undefined;
    });
  }

  views(): readonly StepView[] {
    return this.#targets.map(({ index, element }): StepView => {
      const answer = this.#answers.get(index);
      const error = answer === undefined || answer.kind === 'done' ? undefined : answer.error;
      return {
        index,
        state: answer === undefined ? this.#stateBefore(index) : answer.kind === 'notDone' ? 'refused' : answer.kind,
        ...(element === undefined ? {} : { elementJson: JSON.stringify(element.value) }),
        ...(error === undefined ? {} : { error: { reason: error.reason, message: error.message } }),
      };
    });
  }

  /** Why not all took effect; undefined when all did. A doubt weighs more than a refusal. */
  error(): PosternError | undefined {
    const failed = [...this.#answers.values()].filter((answer) => answer.kind !== 'done');
    const doubt = failed.find(({ kind }) => kind === 'unknown');
    if (doubt !== undefined) return doubt.error;
    const error = failed[0]?.error ?? this.#stop;
    const isLeft = this.#targets.some(({ index }) => !this.#answers.has(index) && this.#isInDoubt(index));
    return error !== undefined && isLeft ? earlierError(error) : error;
  }

  #isInDoubt(index: number): boolean {
    const state = this.#before.get(index);
    return state === 'unknown' || state === 'sent';
  }

  #stateBefore(index: number): StepView['state'] {
    const state = this.#before.get(index);
    if (state === undefined) return 'untouched';
    if (state === 'notDone') return 'refused';
    return state === 'sent' ? 'unknown' : state;
  }
}

function earlierError(stopped: PosternError): PosternError {
  return unknownError(
    `An earlier request of this operation was not answered, and it could not be done once more (${stopped.reason}).`,
    stopped,
  );
}
