/**
 * What callers may do beside calling, asked of the API server and kept by account (failure case LEAK-24).
 *
 * - An account is reviewed when it becomes a caller, when RBAC objects that name it change, when the names it is asked with change, and
 *   every limits.accessReviewMs: other authorizers than RBAC change without an event. Those last ones take turns (limits.accessPaceMs).
 * - A new leader trusts the verdicts it finds in the status of contracts until their turn comes.
 * - Until its first review is over nobody says anything about it, and it gets no bundle. A review that fails leaves the verdict before it.
 * - Questions go out in the order of the table, limits.accessReviewsMax at once over all accounts, and end at the first yes: the answer is
 *   the same on every replica and in every review.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type AccessQuestion, type Caller, questionsOf, userOf } from './rights.ts';
import { Slots } from './slots.ts';

export interface AccessReviewerMeans {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  /** The account with the names it is asked with; undefined when it is nobody's caller any more. `key` is `namespace/account`. */
  callerOf(key: string): Caller | undefined;
  /** A verdict is new or another one. MUST not throw. */
  onVerdict(key: string): void;
  /** A review failed; the one before holds. MUST not throw. */
  onFailed(key: string, error: unknown): void;
}

interface Kept {
  /** After "it may"; null when nothing was found. */
  readonly refused: string | null;
  /** The names it was asked with. */
  readonly names: string;
  readonly atMs: number;
}

export class AccessReviewer {
  readonly #means: AccessReviewerMeans;
  readonly #slots = new Slots(limits.accessReviewsMax);
  readonly #kept = new Map<string, Kept>();
  readonly #running = new Map<string, Promise<Kept>>();
  readonly #stale = new Set<string>();
  #cancelGather: (() => void) | undefined;
  #cancelSweep: (() => void) | undefined;
  #stopped = false;

  constructor(means: AccessReviewerMeans) {
    this.#means = means;
  }

  /** Accounts that are refused now, as `namespace/account`. */
  get refused(): readonly string[] {
    return [...this.#kept].filter(([, { refused }]) => refused !== null).map(([key]) => key);
  }

  /** `it may create pods`, null when nothing was found; undefined before the first review. */
  known(key: string): string | null | undefined {
    return this.#kept.get(key)?.refused;
  }

  /** As `known`, after the first review if there was none. Throws KubeError when that fails. */
  async verdict(key: string): Promise<string | null> {
    const caller = this.#means.callerOf(key);
    const kept = this.#kept.get(key);
    if (caller === undefined) return kept?.refused ?? null;
    if (kept !== undefined && kept.names === namesOf(caller)) return kept.refused;
    return (await this.#review(key, caller)).refused;
  }

  /** Takes the verdict of the leader before, until the account's turn comes. One that was reviewed here already stays. */
  trust(key: string, refused: string | null): void {
    const caller = this.#means.callerOf(key);
    if (caller === undefined || this.#kept.has(key)) return;
    this.#kept.set(key, { refused, names: namesOf(caller), atMs: Number.NEGATIVE_INFINITY });
  }

  start(): void {
    this.#stopped = false;
    this.#sweepLater();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelGather?.();
    this.#cancelSweep?.();
    this.#cancelGather = undefined;
    await Promise.allSettled(this.#running.values());
  }

  /** These users and groups may have other rights now. Gathered for limits.accessGatherMs. */
  note(subjects: readonly string[]): void {
    if (subjects.length === 0) return;
    const concerned = new Set(subjects);
    // A first review that runs now may have asked before the change, and what it finds would stand until the account's turn comes.
    const running = [...this.#running.keys()].map((runningKey) => runningKey.slice(0, runningKey.indexOf(' ')));
    for (const key of new Set([...this.#kept.keys(), ...running])) if (isConcerned(key, concerned)) this.#stale.add(key);
    if (this.#stale.size === 0 || this.#stopped) return;
    this.#cancelGather ??= this.#means.clock.alarm(limits.accessGatherMs, () => {
      this.#cancelGather = undefined;
      const keys = [...this.#stale];
      this.#stale.clear();
      for (const key of keys) this.#again(key);
    });
  }

  /** One account at a time, the one that was not looked at for longest: 120 questions each must not become a burst. */
  #sweepLater(): void {
    this.#cancelSweep = this.#means.clock.alarm(limits.accessPaceMs, () => {
      const dueMs = this.#means.clock.monotonicMs() - limits.accessReviewMs;
      let oldest: readonly [string, number] | undefined;
      for (const [key, { atMs }] of this.#kept) if (atMs <= dueMs && atMs < (oldest?.[1] ?? Infinity)) oldest = [key, atMs];
      if (oldest !== undefined) this.#again(oldest[0]);
      if (!this.#stopped) this.#sweepLater();
    });
  }

  #again(key: string): void {
    const caller = this.#means.callerOf(key);
    if (caller === undefined) {
      this.#kept.delete(key);
      return;
    }
    // A review that runs now may have asked before the change.
    const running = this.#running.get(`${key} ${namesOf(caller)}`) ?? Promise.resolve();
    running
      .catch(() => undefined) // told to whoever started it
      .then(() => (this.#stopped ? undefined : this.#review(key, caller)))
      .catch((error: unknown) => this.#means.onFailed(key, error));
  }

  /** One review of an account at a time; whoever comes while it runs gets its end, and a change meanwhile has its own notice. */
  #review(key: string, caller: Caller): Promise<Kept> {
    const names = namesOf(caller);
    const runningKey = `${key} ${names}`;
    const running = this.#running.get(runningKey);
    if (running !== undefined) return running;
    const review = this.#ask(caller)
      .then((refused) => {
        const before = this.#kept.get(key);
        const kept = { refused, names, atMs: this.#means.clock.monotonicMs() };
        this.#kept.set(key, kept);
        if (before?.refused !== refused) this.#means.onVerdict(key);
        return kept;
      })
      .finally(() => this.#running.delete(runningKey));
    this.#running.set(runningKey, review);
    return review;
  }

  async #ask(caller: Caller): Promise<string | null> {
    const questions = questionsOf(caller);
    for (let start = 0; start < questions.length && !this.#stopped; start += limits.accessReviewsMax) {
      const some = questions.slice(start, start + limits.accessReviewsMax);
      const answers = await Promise.all(some.map(({ ask }) => this.#slots.run(() => this.#isAllowed(ask))));
      const found = some[answers.indexOf(true)];
      if (found !== undefined) return `it may ${found.why}`;
    }
    // Half a review proves nothing.
    if (this.#stopped) throw new Error('the review of an account was stopped');
    return null;
  }

  async #isAllowed(spec: AccessQuestion): Promise<boolean> {
    const review = await this.#means.client.create<AccessReview>(KINDS.subjectAccessReviews, { metadata: {}, spec });
    // Neither yes nor no is no answer: a webhook authorizer that is away must not make an account safe.
    if (typeof review.status?.allowed !== 'boolean') throw new TypeError('a SubjectAccessReview came back without an answer');
    return review.status.allowed;
  }
}

interface AccessReview {
  readonly metadata: object;
  readonly spec: AccessQuestion;
  readonly status?: { readonly allowed?: boolean };
}

function namesOf({ secrets, contracts, granted }: Caller): string {
  return JSON.stringify([secrets, contracts, granted]);
}

function isConcerned(key: string, subjects: ReadonlySet<string>): boolean {
  const [namespace = '', account = ''] = key.split('/');
  const { user, groups } = userOf({ namespace, account });
  return subjects.has(user) || groups.some((group) => subjects.has(group));
}
