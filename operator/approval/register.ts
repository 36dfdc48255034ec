/**
 * Questions and holds of all sidecars, as objects of the API server. Any replica may serve any sidecar: what two must agree on - a name
 * that is created once, an approval that is used once - the API server decides, by name and by version.
 *
 *   ask     rendered anew -> caps -> created once
 *   admit   rendered anew -> hold created once -> approval read and judged -> marked used on that very version -> admitted
 *   settle  hold deleted, or left waiting for a person
 *
 * A replica that dies in between leaves the more careful state: a hold without a verdict, an approval marked used and nothing sent.
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { type ApprovalRecord, approvalRecord, type ContractRecord, type KubeObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { CompiledContracts, type CompiledNow } from './compiled-contracts.ts';
import { needsPerson } from './each-use.ts';
import { Holds } from './holds.ts';
import { type Asker, type JudgedPlan, judgePlan, type PlannedOperation } from './judge-plan.ts';
import { questionName } from './names.ts';
import { questionObject } from './objects.ts';
import { type Refusal, type RefusedBecause, refusal } from './refusal.ts';
import { coolDownMs, isQuestion, isWaiting, type Standing, standingOf } from './standing.ts';
import { maySucceed, useApproval } from './use-approval.ts';

export type Stored = ActionApproval & KubeObject;

export interface RegisterMeans {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'patch' | 'delete'>;
  readonly cluster: Pick<Cluster, 'approvals' | 'contracts' | 'bindings'>;
  readonly clock?: Clock;
  /** Unix time in milliseconds by the clock of the API server. */
  serverNowMs(): number;
  /** The contract, where it is served to that account now. */
  contractOf(namespace: string, account: string, name: string): ContractRecord | undefined;
  /** For metrics. MUST not throw. */
  onRefused?(what: 'question' | 'intent', because: RefusedBecause): void;
}

export interface AskedQuestion {
  readonly name: string;
  readonly plan: PlannedOperation;
  readonly alternatives: readonly { readonly name: string; readonly plan: PlannedOperation }[];
}

export interface IntendedOperation {
  readonly plan: PlannedOperation;
  readonly holds: boolean;
  /** Empty when it needs none. */
  readonly approval: string;
}

export interface SettledOperation {
  readonly operationId: string;
  readonly contract: string;
  readonly argsDigest: string;
  readonly end: 'done' | 'notDone' | 'unknown';
}

export class ApprovalRegister {
  readonly #means: RegisterMeans;
  readonly #compiled: CompiledContracts;
  readonly #holds: Holds;
  /** Being created, or created and not in the cache yet, by account: the cap holds also for what the cache does not show. */
  readonly #creating = new Map<Key, Set<string>>();

  constructor(means: RegisterMeans) {
    this.#means = means;
    this.#compiled = new CompiledContracts(means.cluster as Cluster);
    this.#holds = new Holds(means);
  }

  /** The question is kept when this resolves with where it stands. Never rejects. */
  async ask(asker: Asker, question: AskedQuestion): Promise<Standing | Refusal> {
    return this.#told('question', () => this.#ask(asker, question));
  }

  /** Never rejects. `active`: why the session may not act; looked at again after every wait. */
  async admit(asker: Asker, intent: IntendedOperation, active: () => Refusal | undefined): Promise<'admitted' | Refusal> {
    return this.#told('intent', () => this.#admit(asker, intent, active));
  }

  /** Resolves once nothing more has to be said of it; throws KubeError. */
  settle(asker: Asker, settled: SettledOperation): Promise<void> {
    return this.#holds.settle(asker, settled);
  }

  async #told<Answer>(what: 'question' | 'intent', run: () => Promise<Answer | Refusal>): Promise<Answer | Refusal> {
    let answer: Answer | Refusal;
    try {
      answer = await run();
    } catch (error) {
      if (!isKubeError(error)) throw error;
      answer = refusal('CONTROL_STALE', 'api_server', 'The operator could not reach the API server; nothing was sent. Call again.');
    }
    if (isRefusal(answer)) this.#means.onRefused?.(what, answer.because);
    return answer;
  }

  async #ask(asker: Asker, question: AskedQuestion): Promise<Standing | Refusal> {
    const { kube, cluster } = this.#means;
    const { namespace } = asker;
    const { name } = question;
    if (name !== questionName(question.plan.operationId))
      return refusal('INVALID_ARGUMENT', 'malformed', 'The question is not named after its operation.');
    const known = cluster.approvals.get(keyOf({ namespace, name }));
    if (known !== undefined) return this.#same(asker, question, known);
    const judged = this.#judgeAll(asker, question);
    if ('kind' in judged) return judged;
    const full = this.#holds.unresolved(asker, judged.plan) ?? this.#tooMany(asker, judged.plan);
    if (full !== undefined) return full;
    const release = this.#reserve(asker, name);
    try {
      const object = questionObject(name, asker, judged.plan, judged.alternatives);
      return this.#same(asker, question, approvalRecord(await kube.create<Stored>(KINDS.approvals, object as Stored)));
    } catch (error) {
      // What got no answer may be there all the same, and a person would be asked about something that nobody runs.
      if (!maySucceed(error)) throw error;
      const other = await kube.get<Stored>(KINDS.approvals, { namespace, name });
      if (other === null) throw error;
      return this.#same(asker, question, approvalRecord(other));
    } finally {
      release();
    }
  }

  #judgeAll(asker: Asker, { name: question, plan, alternatives }: AskedQuestion) {
    const nowMs = this.#means.serverNowMs();
    const first = this.#judge(asker, plan, nowMs);
    if (first.kind === 'refused') return first;
    // An intent shows no card; a question does, and its sidecar must know which.
    if ([plan, ...alternatives.map((each) => each.plan)].some(({ cardDigest }) => cardDigest === ''))
      return refusal('INVALID_ARGUMENT', 'malformed', 'A question names the digest of each of its cards.');
    if (alternatives.length > limits.approvalAlternativesMax)
      return refusal('INVALID_ARGUMENT', 'malformed', 'A card has at most 4 alternatives.');
    const others: (JudgedPlan & { readonly name: string })[] = [];
    for (const { name, plan: other } of alternatives) {
      const judged = this.#judge(asker, other, nowMs);
      if (judged.kind === 'refused') return judged;
      const fits =
        judged.facts.alternative?.name === name &&
        judged.facts.alternative.of === question &&
        others.every((each) => each.name !== name) &&
        judged.facts.contract === first.facts.contract;
      if (!fits)
        return refusal(
          'INVALID_ARGUMENT',
          'malformed',
          'An alternative is a plan of the same contract, under the name that its own card has.',
        );
      others.push({ ...judged, name });
    }
    return { plan: first, alternatives: others };
  }

  #judge(asker: Asker, plan: PlannedOperation, nowMs: number): JudgedPlan | Refusal {
    return judgePlan(plan, asker, (contract) => this.#compiledFor(asker, contract, nowMs), nowMs);
  }

  #compiledFor({ namespace, serviceAccount }: Asker, name: string, nowMs: number): CompiledNow | undefined {
    const record = this.#means.contractOf(namespace, serviceAccount, name);
    return record === undefined ? undefined : this.#compiled.of(record, nowMs);
  }

  /** One that is there already: the same question, or somebody else's. */
  #same(asker: Asker, { plan }: AskedQuestion, { spec, status }: ApprovalRecord): Standing | Refusal {
    if (spec.session?.uid !== asker.session.uid || spec.operationId !== plan.operationId || spec.cardDigest !== plan.cardDigest)
      return refusal(
        'IDEMPOTENCY_CONFLICT',
        'other_call',
        'This operation was asked about with another card; call again for a new operation.',
      );
    return standingOf({ spec, status }, this.#means.serverNowMs());
  }

  #tooMany(asker: Asker, { facts }: JudgedPlan): Refusal | undefined {
    const { approvals } = this.#means.cluster;
    const nowMs = this.#means.serverNowMs();
    const account = accountKey(asker);
    const questions = approvals.by('account', account).filter(isQuestion);
    const coolMs = coolDownMs(questions, facts.contract, facts.argsDigest, nowMs);
    if (coolMs > 0)
      return refusal(
        'APPROVAL_DENIED',
        'denied_before',
        `A person denied this very call; it may be asked about again in ${Math.ceil(coolMs / 60_000)} min.`,
      );
    const open = new Set(questions.filter((question) => isWaiting(question, nowMs)).map(({ name }) => name));
    const unseen = [...(this.#creating.get(account) ?? [])].filter((name) => approvals.get(keyOf({ ...asker, name })) === undefined);
    for (const name of unseen) open.add(name);
    if (questions.length + unseen.length >= limits.approvalsKeptMax)
      return refusal(
        'LIMIT_EXCEEDED',
        'too_many',
        `${limits.approvalsKeptMax} questions of this ServiceAccount were asked within a day; the oldest must be forgotten first.`,
      );
    if (open.size < limits.approvalsOpenMax) return undefined;
    return refusal(
      'LIMIT_EXCEEDED',
      'too_many',
      `${limits.approvalsOpenMax} questions of this ServiceAccount wait for a person already; call again when some are decided or have expired.`,
    );
  }

  /** Counts it until the cache shows it. */
  #reserve(asker: Asker, name: string): () => void {
    const account = accountKey(asker);
    const names = this.#creating.get(account) ?? new Set();
    this.#creating.set(account, names.add(name));
    const { clock = systemClock } = this.#means;
    return () =>
      void clock.alarm(limits.approvalReservedMs, () => {
        names.delete(name);
        if (names.size === 0) this.#creating.delete(account);
      });
  }

  async #admit(asker: Asker, intent: IntendedOperation, active: () => Refusal | undefined): Promise<'admitted' | Refusal> {
    const judged = this.#judge(asker, intent.plan, this.#means.serverNowMs());
    if (judged.kind === 'refused') return judged;
    const wrong = active() ?? intentProblem(intent, judged);
    if (wrong !== undefined) return wrong;
    const hold = intent.holds ? await this.#holds.take(asker, judged) : undefined;
    if (hold?.kind === 'refused') return hold;
    const again = hold === undefined || hold.kind === 'again';
    let refused: Refusal | undefined;
    try {
      refused =
        active() ??
        (intent.approval === '' ? undefined : await useApproval(this.#means, asker, intent.approval, judged.facts, again)) ??
        active();
    } catch (error) {
      if (hold?.kind === 'taken') await this.#holds.leave(hold.hold).catch(() => undefined);
      throw error;
    }
    if (refused === undefined) return 'admitted';
    if (hold?.kind === 'taken') await this.#holds.leave(hold.hold);
    return refused;
  }
}

function intentProblem({ holds, approval }: IntendedOperation, { compiled, facts }: JudgedPlan): Refusal | undefined {
  if (approval === '' && needsPerson(compiled, facts))
    return refusal('APPROVAL_REQUIRED', 'no_approval', 'This action needs the yes of a person, and none was named.');
  const { effect, effects } = compiled.contract;
  if (!holds && effect !== 'Read' && effects.idempotency.mode === 'None')
    return refusal('INVALID_ARGUMENT', 'malformed', 'An effect that may not happen twice is held while its outcome is not known.');
  return undefined;
}

function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'refused';
}

function accountKey({ namespace, serviceAccount }: Asker): Key {
  return keyOf({ namespace, name: serviceAccount });
}
