/**
 * The effects of one sidecar: what it asks, is about to do and has done goes to the register, and what becomes of it goes back.
 *
 * Messages of one operation are taken in their order, those of different ones side by side, a few at once: a write that is slow holds up
 * one effect, not the stream. Nothing here waits for the peer.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { Rate } from '#core/bounds/rate.ts';
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import type { Asker } from '#operator/approval/judge-plan.ts';
import { type Refusal, refusal } from '#operator/approval/refusal.ts';
import type { ApprovalRegister } from '#operator/approval/register.ts';
import { isQuestion, resolutionOf, type Standing, standingOf } from '#operator/approval/standing.ts';
import type { ApprovalRecord, SessionRecord } from '#operator/kube/records.ts';
import type { ConnectRequest } from '#proto/postern/control/v1/control_pb.ts';
import {
  approvalTold,
  askedQuestion,
  intendedOperation,
  resolutionTold,
  settledOperation,
  type Told,
  verdictTold,
} from './effect-messages.ts';
import { requestersOf } from './requester.ts';

export interface ExchangeMeans {
  readonly clock: Clock;
  readonly register: ApprovalRegister;
  serverNowMs(): number;
  /** As the cache has it. */
  approvalOf(namespace: string, name: string): ApprovalRecord | undefined;
  onSettleFailed(session: SessionRecord, error: unknown): void;
}

export interface ExchangeStream {
  readonly session: SessionRecord;
  /** As `status.state`. */
  state(): string;
  /** There is something to send. */
  wake(): void;
}

export type EffectMessage = Extract<ConnectRequest['message'], { case: 'approval' | 'intent' | 'settled' }>;

export function isEffect(message: ConnectRequest['message']): message is EffectMessage {
  return message.case === 'approval' || message.case === 'intent' || message.case === 'settled';
}

export class EffectExchange {
  readonly #means: ExchangeMeans;
  readonly #stream: ExchangeStream;
  readonly #rate: Rate;
  readonly #waiting: { readonly operationId: string; readonly run: () => Promise<void> }[] = [];
  /** Of messages that wait or are worked on. */
  #bytes = 0;
  /** Operations whose message is worked on. */
  readonly #busy = new Set<string>();
  readonly #outbox: Told[] = [];
  /** Questions of this stream, with what it knows of each. */
  readonly #asked = new Map<string, Standing>();
  #told: Told | undefined;
  #stopped = false;

  constructor(means: ExchangeMeans, stream: ExchangeStream, approvals: Iterable<ApprovalRecord>) {
    this.#means = means;
    this.#stream = stream;
    this.#rate = new Rate(means.clock, limits.effectMessagesBurst, limits.effectMessagesPerSecond);
    // It may have been away when a person found out.
    for (const approval of approvals) this.changed(approval);
  }

  /** Throws ControlRefusal for a sidecar that says too much. */
  take(message: EffectMessage): void {
    // One answer read now and then keeps a stream alive; what waits for such a reader must not fill the operator.
    if (this.#outbox.length >= limits.controlAnswersUnreadMax)
      throw new ControlRefusal('READER_TOO_SLOW', 'Answers about effects are not read; connect again.');
    const bytes = bytesOf(message);
    const full = this.#waiting.length >= limits.effectMessagesWaitingMax || this.#bytes + bytes > limits.effectBytesWaitingMax;
    if (!this.#rate.take() || full) throw new ControlRefusal('TOO_MANY', 'Too many messages about effects; wait for the answers.');
    this.#bytes += bytes;
    const run = () =>
      this.#handle(message).finally(() => {
        this.#bytes -= bytes;
      });
    this.#waiting.push({ operationId: operationOf(message), run });
    this.#turn();
  }

  /** The next message down, if any. Who asks comes first: cards are made from it. */
  next(): Told | undefined {
    const { kind: _, ...value } = requestersOf(this.#stream.session)[0];
    const requester: Told = { case: 'requester', value };
    if (!isDeepStrictEqual(this.#told, requester)) {
      this.#told = requester;
      return requester;
    }
    return this.#outbox.shift();
  }

  /** An approval of this account, as the cache has it now. */
  changed(approval: ApprovalRecord): void {
    const { spec, name } = approval;
    const resolution = resolutionOf(approval);
    if (resolution !== undefined) this.#say(resolutionTold(spec.operationId ?? '', resolution));
    const before = this.#asked.get(name);
    if (before === undefined || !isQuestion(approval)) return;
    const now = standingOf(approval, this.#means.serverNowMs());
    // Its own use is told by the verdict.
    if (now.kind === 'used' || sameStanding(before, now)) return;
    this.#asked.set(name, now);
    this.#say(approvalTold(name, now));
  }

  /** It was deleted: nobody can decide any more. */
  gone({ name }: ApprovalRecord): void {
    const before = this.#asked.get(name);
    if (before === undefined || !this.#asked.delete(name)) return;
    if (before.kind === 'waiting' || before.kind === 'approved')
      this.#say(approvalTold(name, { kind: 'voided', because: 'The question was deleted; call again for a new one.' }));
  }

  /** The stream has ended; what is worked on is finished for nobody. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  #turn(): void {
    for (let index = 0; index < this.#waiting.length && this.#busy.size < limits.effectMessagesAtOnceMax; ) {
      const next = this.#waiting[index];
      if (next === undefined || this.#busy.has(next.operationId)) {
        index += 1;
        continue;
      }
      this.#waiting.splice(index, 1);
      this.#busy.add(next.operationId);
      void next.run().finally(() => {
        this.#busy.delete(next.operationId);
        this.#turn();
      });
    }
  }

  /** Never rejects. */
  async #handle(message: EffectMessage): Promise<void> {
    const { register } = this.#means;
    const asker = askerOf(this.#stream.session);
    try {
      if (message.case === 'approval') {
        const { name } = message.value;
        const answer = await register.ask(asker, askedQuestion(message.value));
        if (answer.kind !== 'refused') this.#asked.set(name, answer);
        this.#say(approvalTold(name, answer));
        // A person may have decided while the answer was on its way here.
        const now = this.#means.approvalOf(asker.namespace, name);
        if (now !== undefined) this.changed(now);
      } else if (message.case === 'intent') {
        const answer = await register.admit(asker, intendedOperation(message.value), () => this.#inactive());
        this.#say(verdictTold(operationOf(message), answer));
      } else {
        const settled = settledOperation(message.value);
        // What is no end is never kept, and said again for ever by nobody but a sidecar of another release.
        if (settled !== undefined) await register.settle(asker, settled);
        this.#say({ case: 'kept', value: { operationId: message.value.operationId } });
      }
    } catch (error) {
      // Not kept: the sidecar says it again on its next stream, and no later than this.
      this.#means.onSettleFailed(this.#stream.session, error);
      if (message.case === 'settled') this.#means.clock.alarm(limits.settleRetryMs, () => this.#again(message));
    }
  }

  #again(message: EffectMessage): void {
    if (this.#stopped) return;
    this.#waiting.push({ operationId: operationOf(message), run: () => this.#handle(message) });
    this.#turn();
  }

  #inactive(): Refusal | undefined {
    const state = this.#stream.state();
    if (state === 'Active') return undefined;
    const code = state === 'Revoked' ? 'SESSION_REVOKED' : state === 'Ended' ? 'SESSION_EXPIRED' : 'SESSION_SUSPENDED';
    return refusal(code, 'session', `The session is ${state.toLowerCase()}; nothing was sent.`);
  }

  #say(message: Told): void {
    this.#outbox.push(message);
    this.#stream.wake();
  }
}

function operationOf(message: EffectMessage): string {
  return message.case === 'settled' ? message.value.operationId : (message.value.plan?.operationId ?? '');
}

/** What is held of it while it waits. */
function bytesOf(message: EffectMessage): number {
  if (message.case === 'settled') return 0;
  const plans = message.case === 'approval' ? message.value.alternatives.map(({ plan }) => plan) : [];
  return [message.value.plan, ...plans].reduce((sum, plan) => sum + (plan?.factsJson.length ?? 0), 0);
}

function askerOf(session: SessionRecord): Asker {
  const { namespace, name, uid, spec } = session;
  return { namespace, serviceAccount: spec.serviceAccount, session: { name, uid }, requesters: requestersOf(session) };
}

/** But for the time, which is that of the telling until the leader has written one. */
function sameStanding(one: Standing, other: Standing): boolean {
  return isDeepStrictEqual({ ...one, atMs: 0 }, { ...other, atMs: 0 });
}
