/**
 * Decides with the people at this sidecar's own socket, where there is no operator. Everything it says stands in the journal first.
 *
 *   waiting -> decided: approved -> used        a person said yes; one operation runs, or as many as the card says
 *           -> decided: denied                  never works again; an equal call waits limits.approvalCooldownMs (APR-10)
 *           -> expired                          not decided, or not used, in time (APR-11)
 *           -> void                             contract, binding or preset is another one now, or its operation has ended (APR-02)
 */
import type { CardFacts, Requester } from '#core/approval/card-facts.ts';
import { digestButReason } from '#core/approval/digest-but-reason.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { type Answer, checkCard, noSuchQuestion, sameDecision } from './answer.ts';
import { whyNotCovered } from './covered-by.ts';
import type { Change, Decider, Decision, Intent, Question, QuestionState } from './decider.ts';
import { type KeptQuestion, KeptQuestions } from './kept-questions.ts';
import { UnderWay } from './under-way.ts';

export interface LocalDeciderMeans {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Whether somebody can be asked: a socket is open. */
  readonly reachable: boolean;
  /** A contract as it is served now; undefined where it is not. */
  contractOf(name: string, namespace: string): CompiledContract | undefined;
}

/** An operation that was sent and of which nobody knows what it did. */
export interface LostOperation {
  readonly operationId: string;
  readonly action: string;
  readonly argsDigest: string;
  readonly plannedAtMs: number;
  /** What was sent; empty where it is not known any more. Sanitized. */
  readonly card: string;
}

export class LocalDecider implements Decider {
  readonly #means: LocalDeciderMeans;
  readonly #questions: KeptQuestions;
  readonly #underWay: UnderWay;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #shows = new Set<() => void>();
  /** Decisions on their way to the disk, by question. */
  readonly #deciding = new Map<string, Promise<void>>();
  readonly #alarms = new Map<string, () => void>();
  #closed = false;

  constructor(means: LocalDeciderMeans) {
    this.#means = means;
    this.#questions = new KeptQuestions(means.journal, means.clock);
    this.#underWay = new UnderWay(means.journal);
    for (const kept of this.#questions.all()) this.#ringAtEnd(kept);
  }

  requester(): Requester {
    return { kind: 'alone' };
  }

  async ask(question: Question): Promise<void> {
    if (!this.#means.reachable)
      throw new PosternError(
        'CONTRACT_NOT_READY',
        'This action needs a person, and this sidecar has nobody to ask: it was started without --approvals.',
      );
    if (this.#questions.get(question.name) !== undefined) return;
    this.#refuseAfterDenial(question);
    if (this.open().length >= limits.approvalsOpenMax)
      throw new PosternError(
        'LIMIT_EXCEEDED',
        `${limits.approvalsOpenMax} questions wait for a person already; call again when some are decided or have expired.`,
        { details: { limit: 'approvals_open', value: String(limits.approvalsOpenMax) } },
      );
    await this.#questions.ask(question);
    const kept = this.#questions.get(question.name);
    if (kept !== undefined) this.#ringAtEnd(kept);
    this.#tell(question.name);
  }

  state(name: string): QuestionState | undefined {
    const kept = this.#questions.get(name);
    return kept === undefined ? undefined : this.#stateOf(kept);
  }

  /** Those that wait for a person; the oldest first. */
  open(): readonly Question[] {
    return this.#questions
      .all()
      .filter((kept) => this.#stateOf(kept).kind === 'waiting')
      .map(({ question }) => question);
  }

  question(name: string): Question | undefined {
    return this.#questions.get(name)?.question;
  }

  /**
   * Resolves with the decision that stands once it is on disk: of two people the first one's. Saying the same again is no error. Throws
   * INVALID_ARGUMENT (no such question, another card), APPROVAL_EXPIRED, IDEMPOTENCY_CONFLICT (decided otherwise), AUDIT_UNAVAILABLE.
   */
  async decide(name: string, answer: Answer): Promise<Decision> {
    for (;;) {
      const before = this.#deciding.get(name);
      if (before === undefined) break;
      await before.catch(() => {});
    }
    const kept = this.#questions.get(name);
    if (kept === undefined) throw noSuchQuestion();
    checkCard(kept.question, answer);
    const state = this.#stateOf(kept);
    if (kept.decision !== undefined) return sameDecision(kept.decision, answer);
    if (state.kind !== 'waiting') throw endedError(state);
    const decision: Decision = { ...answer, atMs: this.#means.clock.wallMs() };
    const written = this.#questions.decide(name, decision);
    this.#deciding.set(name, written);
    try {
      await written;
    } finally {
      this.#deciding.delete(name);
    }
    this.#tell(name);
    return decision;
  }

  async admit(intent: Intent): Promise<void> {
    this.#underWay.begin(intent);
    try {
      if (intent.approval !== undefined) this.#demandYes(intent.approval, intent);
    } catch (thrown) {
      this.#underWay.end(intent.operationId);
      throw thrown;
    }
  }

  async settled(operationId: string, end: 'done' | 'notDone' | 'unknown'): Promise<void> {
    if (end === 'unknown') this.#underWay.lost(operationId);
    else this.#underWay.end(operationId);
    this.#show();
  }

  /** Those a person must find out about; the oldest first. */
  lost(): readonly LostOperation[] {
    return this.#means.journal
      .list()
      .filter(({ phase, resolution }) => phase === 'unknown' && resolution === undefined)
      .map(({ record: { operationId, action, argsDigest, plannedAtMs, plan } }) => ({
        operationId,
        action,
        argsDigest,
        plannedAtMs,
        card: cardOf(plan),
      }))
      .reverse();
  }

  /**
   * A person says what became of an operation. Resolves with who said it once that is on disk. Throws INVALID_ARGUMENT where it is not
   * unknown, AUDIT_UNAVAILABLE.
   */
  async resolve(operationId: string, verdict: 'done' | 'notDone', by: string): Promise<void> {
    await this.#means.journal.resolve(operationId, verdict, by);
    this.#underWay.end(operationId);
    for (const listener of this.#listeners) listener({ kind: 'resolved', operationId, verdict, by });
    this.#show();
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `show` hears that the questions or the lost operations are other ones now. Returns how to stop it. */
  onList(show: () => void): () => void {
    this.#shows.add(show);
    return () => this.#shows.delete(show);
  }

  close(): void {
    this.#closed = true;
    for (const cancel of this.#alarms.values()) cancel();
    this.#alarms.clear();
  }

  #demandYes(name: string, intent: Intent): void {
    const kept = this.#questions.get(name);
    if (kept === undefined)
      throw new PosternError('APPROVAL_REQUIRED', 'There is no approval of this name here; call again for a new card.');
    const state = this.#stateOf(kept);
    if (state.kind !== 'decided') throw state.kind === 'waiting' ? stillWaiting(name) : endedError(state);
    if (state.decision.verdict === 'denied') throw deniedError();
    const { use, steps } = this.#begunWith(name, intent.operationId);
    // One that was sent before was admitted in time.
    if (this.#isOver(kept) && steps.length === 0) throw endedError({ kind: 'expired' });
    const { decision } = state;
    const contract = this.#means.contractOf(intent.contract, intent.facts.namespace);
    if (contract === undefined) throw endedError({ kind: 'void', because: CHANGED });
    const asked = { question: kept.question, decision, contract, callsUsed: use.nth - 1 };
    const refused = whyNotCovered(asked, intent, this.#means.clock.wallMs());
    if (refused !== undefined) throw refused;
  }

  /** The use is the record that it was begun with this approval: on disk before anybody asks here, and counted. */
  #begunWith(name: string, operationId: string): Pick<Required<Entry>, 'use' | 'steps'> {
    const { phase, approval, use, steps = [] } = this.#means.journal.get(operationId) ?? {};
    if (phase === 'running' && approval === name && use?.approval === name) return { use, steps };
    throw new PosternError('APPROVAL_REQUIRED', 'The operation was not begun with this approval; call again for a new card.');
  }

  #stateOf(kept: KeptQuestion): QuestionState {
    const { question, decision } = kept;
    if (decision?.verdict === 'denied') return { kind: 'decided', decision };
    const over = this.#isOver(kept);
    if (decision !== undefined && (!over || this.#means.journal.uses(question.name) > 0) && this.#revisionHolds(question))
      return { kind: 'decided', decision };
    if (over) return { kind: 'expired' };
    if (!this.#revisionHolds(question)) return { kind: 'void', because: CHANGED };
    const phase = this.#means.journal.get(question.operationId)?.phase ?? 'planned';
    return phase === 'planned' ? { kind: 'waiting' } : { kind: 'void', because: 'Its operation has ended.' };
  }

  /** By whichever clock says so first. */
  #isOver({ question, deadlineMs }: KeptQuestion): boolean {
    const { clock } = this.#means;
    return clock.monotonicMs() >= deadlineMs || clock.wallMs() >= question.facts.expiresAtMs;
  }

  #revisionHolds({ facts }: Question): boolean {
    return this.#means.contractOf(facts.contract, facts.namespace)?.revision === facts.revision;
  }

  /** Another name for the same call right after a no would train people to say yes (APR-10). */
  #refuseAfterDenial({ facts }: Question): void {
    const now = this.#means.clock.monotonicMs();
    for (const { question, decision, decidedMs = 0 } of this.#questions.all()) {
      const left = decidedMs + limits.approvalCooldownMs - now;
      if (decision?.verdict !== 'denied' || left <= 0) continue;
      if (question.facts.contract !== facts.contract || !this.#isSameCall(question.facts, facts)) continue;
      throw new PosternError('APPROVAL_DENIED', 'A person denied this very call a short time ago; it is not asked again yet.', {
        retryAfterMs: Math.ceil(left),
        details: { because: 'cooldown' },
      });
    }
  }

  /** Whatever the agent says about why. */
  #isSameCall(one: CardFacts, other: CardFacts): boolean {
    const contract = this.#means.contractOf(other.contract, other.namespace);
    if (contract === undefined) return one.argsDigest === other.argsDigest;
    return digestButReason(contract, one.args) === digestButReason(contract, other.args);
  }

  #ringAtEnd({ question, deadlineMs }: KeptQuestion): void {
    const { name } = question;
    const left = deadlineMs - this.#means.clock.monotonicMs();
    if (left <= 0 || this.#closed || this.#alarms.has(name)) return;
    this.#alarms.set(
      name,
      this.#means.clock.alarm(left, () => {
        this.#alarms.delete(name);
        this.#tell(name);
      }),
    );
  }

  #tell(name: string): void {
    const state = this.state(name);
    if (state === undefined) return;
    for (const listener of this.#listeners) listener({ kind: 'question', name, state });
    this.#show();
  }

  #show(): void {
    for (const show of this.#shows) show();
  }
}

const CHANGED = 'The contract, its binding or a preset was changed after this was asked; call again for a new card.';

/** Every plan is kept with its card; this knows no more of it. */
function cardOf(plan: JsonValue): string {
  return typeof plan === 'object' && plan !== null && 'card' in plan && typeof plan.card === 'string' ? plan.card : '';
}

function endedError(state: QuestionState): PosternError {
  if (state.kind === 'void') return new PosternError('APPROVAL_EXPIRED', state.because, { details: { because: 'changed' } });
  return new PosternError('APPROVAL_EXPIRED', 'This question has expired; the caller can ask again.');
}

function stillWaiting(name: string): PosternError {
  return new PosternError('APPROVAL_REQUIRED', 'A person has not decided yet.', { details: { approval: name } });
}

function deniedError(): PosternError {
  return new PosternError('APPROVAL_DENIED', 'A person denied this call.');
}
