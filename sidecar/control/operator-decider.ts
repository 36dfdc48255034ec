/**
 * The operator as the decider of effects, over whatever control stream stands. A stream that breaks loses nothing: what was asked and not
 * answered is said again on the next one, under the same name, and means the same.
 *
 * - A question is asked once the operator says that it is kept; it outlives a restart of this process.
 * - An intent waits for its verdict before the first byte. Without one in time nothing is sent, and the operator is told that.
 * - An outcome is kept on disk until the operator has it.
 *
 * An operator that speaks protocol 1 knows no effects: they are refused, and reads go on.
 */
import { fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { Requester } from '#core/approval/card-facts.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { EFFECTS_SINCE } from '#core/wire/control-protocol.ts';
import {
  type ApprovalRequest,
  ApprovalRequestSchema,
  type ApprovalState,
  type IntentVerdict,
  OperationEnd,
  type OperationIntentSchema,
  type OperationResolved,
} from '#proto/postern/control/v1/control_pb.ts';
import type { Change, Decider, Intent, Question, QuestionState } from '#sidecar/approval/decider.ts';
import { approvalRequest, operationIntent, questionStateOf, refusalOf } from './effect-messages.ts';
import { Outcomes } from './outcomes.ts';
import type { ControlMessage, OperatorMessage } from './stream.ts';

/** What must outlive a restart, and where an operation is looked up; the journal is one. */
export interface Keeper {
  keep(name: string, value: JsonValue | null): Promise<void>;
  kept(prefix: string): readonly (readonly [string, JsonValue])[];
  get(operationId: string): { readonly record: { readonly contract: string; readonly argsDigest: string } } | undefined;
}

export interface OperatorDeciderOptions {
  readonly clock: Clock;
  readonly keeper: Keeper;
  /** Forgotten where no stream stands. */
  send(message: ControlMessage): void;
}

const KEPT = 'operator-question/';

interface Known {
  readonly request: ApprovalRequest;
  /** Undefined until the operator has answered. */
  state: QuestionState | undefined;
  answer: PromiseWithResolvers<void> | undefined;
}

interface Admission {
  readonly message: MessageInitShape<typeof OperationIntentSchema>;
  readonly verdict: PromiseWithResolvers<void>;
  /** Said on an earlier stream too, whose verdict may have been a yes. */
  repeated: boolean;
}

export class OperatorDecider implements Decider {
  readonly #options: OperatorDeciderOptions;
  readonly #questions = new Map<string, Known>();
  readonly #admissions = new Map<string, Admission>();
  readonly #outcomes: Outcomes;
  readonly #listeners = new Set<(change: Change) => void>();
  /** Of the stream that stands; 0 when none does. */
  #protocol = 0;
  #requester: Requester | undefined;

  constructor(options: OperatorDeciderOptions) {
    this.#options = options;
    this.#outcomes = new Outcomes(options.keeper, (value) => this.#send({ case: 'settled', value }));
    for (const [name, value] of options.keeper.kept(KEPT)) this.#restore(name.slice(KEPT.length), value);
  }

  /** Outcomes that the operator does not have yet. */
  get untold(): number {
    return this.#outcomes.size;
  }

  requester(): Requester {
    this.#demandEffects();
    if (this.#requester === undefined)
      throw new PosternError('CONTROL_STALE', 'The operator has not said yet who this session is; call again in a moment.');
    return this.#requester;
  }

  async ask(question: Question): Promise<void> {
    const known = this.#questions.get(question.name);
    if (known?.state !== undefined) return;
    this.#demandEffects();
    const asked = known ?? { request: approvalRequest(question), state: undefined, answer: undefined };
    asked.answer ??= Promise.withResolvers<void>();
    this.#questions.set(question.name, asked);
    this.#dropOld();
    this.#send({ case: 'approval', value: asked.request });
    await this.#within(asked.answer.promise, 'The operator did not keep the question in time; call again to ask again.');
    if (isOpen(asked.state)) await this.#options.keeper.keep(KEPT + question.name, Buffer.from(encoded(asked.request)).toString('base64'));
  }

  state(name: string): QuestionState | undefined {
    return this.#questions.get(name)?.state;
  }

  async admit(intent: Intent): Promise<void> {
    this.#demandEffects();
    const { operationId } = intent;
    let admission = this.#admissions.get(operationId);
    if (admission === undefined) {
      admission = { message: operationIntent(intent), verdict: Promise.withResolvers<void>(), repeated: false };
      this.#outcomes.forget(operationId);
      this.#admissions.set(operationId, admission);
      this.#send({ case: 'intent', value: admission.message });
    }
    try {
      await this.#within(admission.verdict.promise, 'The operator did not admit the effect in time; nothing was sent. Call again.');
    } catch (thrown) {
      // The operator may have admitted it all the same, and would wait for its outcome.
      if (this.#admissions.get(operationId) === admission) await this.#outcomes.add(operationId, intent.inDoubt ? 'unknown' : 'notDone');
      throw thrown;
    } finally {
      if (this.#admissions.get(operationId) === admission) this.#admissions.delete(operationId);
    }
    // One yes for one call is used now; what covers more calls stays until the operator says that it is over.
    if (intent.approval !== undefined && intent.facts.grant === undefined) this.#forget(intent.approval);
  }

  settled(operationId: string, end: 'done' | 'notDone' | 'unknown'): Promise<void> {
    return this.#outcomes.add(operationId, end);
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A stream stands. What it speaks decides whether anything is said. */
  welcomed(protocol: number): void {
    this.#protocol = protocol;
    if (protocol < EFFECTS_SINCE) return;
    for (const { request, state } of this.#questions.values()) if (isOpen(state)) this.#send({ case: 'approval', value: request });
    for (const admission of this.#admissions.values()) {
      admission.repeated = true;
      this.#send({ case: 'intent', value: admission.message });
    }
    this.#outcomes.tellAll();
  }

  /** No stream stands; what waits for an answer goes on waiting for the next one. */
  ended(): void {
    this.#protocol = 0;
  }

  /** MUST return at once. */
  heard(message: OperatorMessage): void {
    switch (message.case) {
      case 'requester': {
        const { session, serviceAccount, pod, image, controller } = message.value;
        this.#requester = { kind: 'pod', session, serviceAccount, pod, image, controller };
        break;
      }
      case 'approval':
        this.#heardState(message.value);
        break;
      case 'verdict':
        this.#heardVerdict(message.value);
        break;
      case 'kept':
        this.#outcomes.forget(message.value.operationId);
        break;
      case 'resolved':
        this.#heardResolved(message.value);
        break;
    }
  }

  #heardState(told: ApprovalState): void {
    const known = this.#questions.get(told.name);
    if (known === undefined) return;
    if (told.state.case === 'refused') {
      known.answer?.reject(refusalOf(told.state.value));
      // Of a question that was kept before, a refusal means that it is there no more.
      if (known.state === undefined) this.#questions.delete(told.name);
      else this.#become(told.name, known, { kind: 'void', because: told.state.value.message });
      return;
    }
    const state = questionStateOf(told);
    if (state !== undefined) this.#become(told.name, known, state);
  }

  #become(name: string, known: Known, state: QuestionState): void {
    known.state = state;
    known.answer?.resolve();
    known.answer = undefined;
    if (!isOpen(state)) void this.#options.keeper.keep(KEPT + name, null).catch(() => undefined);
    this.#tell({ kind: 'question', name, state });
  }

  #heardVerdict({ operationId, verdict }: IntentVerdict): void {
    const admission = this.#admissions.get(operationId);
    if (verdict.case === 'admitted') admission?.verdict.resolve();
    else if (verdict.case === 'refused') {
      const refused = refusalOf(verdict.value);
      // Refused is not under way, and there is no outcome to tell - unless it was admitted before, or the operator lost the API server over it:
      // then equal calls would wait for this one.
      if (refused.reason !== 'CONTROL_STALE' && admission?.repeated !== true) this.#admissions.delete(operationId);
      admission?.verdict.reject(refused);
    }
  }

  #heardResolved({ operationId, end, by }: OperationResolved): void {
    const verdict = end === OperationEnd.DONE ? 'done' : end === OperationEnd.NOT_DONE ? 'notDone' : undefined;
    if (verdict !== undefined) this.#tell({ kind: 'resolved', operationId, verdict, by });
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  #send(message: ControlMessage): void {
    if (this.#protocol >= EFFECTS_SINCE) this.#options.send(message);
  }

  #demandEffects(): void {
    if (this.#protocol >= EFFECTS_SINCE) return;
    if (this.#protocol === 0)
      throw new PosternError(
        'CONTROL_STALE',
        'No stream to the operator stands, and effects need its word. Reads go on; call again later.',
      );
    throw new PosternError('CONTRACT_NOT_READY', 'The operator is of a release that knows no effects; upgrade it. Reads go on.');
  }

  async #within(promise: Promise<void>, late: string): Promise<void> {
    const { promise: over, reject } = Promise.withResolvers<never>();
    const cancel = this.#options.clock.alarm(limits.operatorAnswerMsMax, () => reject(new PosternError('CONTROL_STALE', late)));
    // Whoever stopped waiting must not make a later refusal a fault of the process.
    promise.catch(() => undefined);
    try {
      await Promise.race([promise, over]);
    } finally {
      cancel();
    }
  }

  #forget(name: string): void {
    if (this.#questions.delete(name)) void this.#options.keeper.keep(KEPT + name, null).catch(() => undefined);
  }

  #dropOld(): void {
    for (const [name, { state }] of this.#questions) {
      if (this.#questions.size <= limits.questionsKnownMax) return;
      if (state !== undefined && !isOpen(state)) this.#questions.delete(name);
    }
  }

  #restore(name: string, value: JsonValue): void {
    if (typeof value !== 'string') return;
    try {
      const request = fromBinary(ApprovalRequestSchema, Buffer.from(value, 'base64'));
      this.#questions.set(name, { request, state: { kind: 'waiting' }, answer: undefined });
    } catch {
      // Of another release; the operation it belongs to asks anew.
    }
  }
}

/** Whether the operator may still say something else of it. */
function isOpen(state: QuestionState | undefined): boolean {
  return state === undefined || state.kind === 'waiting' || (state.kind === 'decided' && state.decision.verdict === 'approved');
}

function encoded(request: ApprovalRequest): Uint8Array {
  return toBinary(ApprovalRequestSchema, request);
}
