/**
 * Which replica leads: a Lease that its holder renews and everybody else watches.
 *
 * Two leaders at once are worse than none for a quarter of a minute (failure case OPR-16):
 * - A term ends `renewMs` after the *sending* of its last renewal that succeeded, so the time of requests that hang is counted, and
 *   others take over only `durationMs` after they saw the last one. The difference is for requests under way.
 * - The end is a monotonic deadline that `assertLeading` compares before each try of each write. A process that was stopped for a
 *   while finds it passed before its timers ring; its writes fail, and `onLost` ends the process or its controllers.
 * - Others measure by their own clock since they saw a change; wall clocks of two nodes are never compared.
 *
 * Times in the object have six digits of fraction: with three, as `toISOString` writes, the API server refuses it for ever (OPR-17).
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { randomText } from '#core/encoding/random.ts';
import type { ApiTransport } from './api-transport.ts';
import { createKubeClient, type KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { microTime } from './micro-time.ts';
import type { KubeObject } from './records.ts';
import { KINDS } from './resource-kind.ts';

export interface LeaseTimings {
  /** Others take over so long after the last renewal they saw. Whole seconds. */
  readonly durationMs: number;
  /** The holder gives up so long after it sent the last renewal that succeeded. Below `durationMs`. */
  readonly renewMs: number;
  /** Between two looks or renewals. */
  readonly retryMs: number;
}

export interface LeaseOptions {
  readonly transport: ApiTransport;
  readonly namespace: string;
  readonly name: string;
  /** Of this replica; a random end is added, so that a restarted container is not taken for the one before it. */
  readonly replica: string;
  readonly timings?: LeaseTimings;
  /** `term` aborts when it is over. MUST not throw. */
  readonly onGained?: (term: AbortSignal) => void;
  readonly onLost?: () => void;
  readonly onFailed?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** A write of a replica that does not lead, or leads no longer. Nothing was sent. */
export class NotLeadingError extends Error {
  constructor() {
    super('This replica does not lead: the write was not sent, the replica that leads will make it.');
    this.name = 'NotLeadingError';
  }
}

interface LeaseObject extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

interface Term {
  readonly over: AbortController;
  deadlineMs: number;
  cancel: () => void;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #timings: LeaseTimings;
  readonly #clock: Clock;
  readonly #client: KubeClient;
  readonly #identity: string;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #term: Term | undefined;
  /** The Lease as last seen, and when it last changed by our clock. */
  #seen: LeaseObject | undefined;
  #changedMs = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#timings = options.timings ?? DEFAULT_TIMINGS;
    this.#clock = options.clock ?? systemClock;
    const tryMs = Math.min(limits.kubeTryMsMax, this.#timings.renewMs / 2);
    this.#client = createKubeClient(options.transport, { tries: 1, tryMs });
    this.#identity = `${options.replica}_${randomText('abcdefghijklmnopqrstuvwxyz0123456789', 8)}`;
  }

  /** What stands in the Lease while this replica leads. */
  get identity(): string {
    return this.#identity;
  }

  get isLeading(): boolean {
    return this.#term !== undefined && this.#clock.monotonicMs() < this.#term.deadlineMs;
  }

  /** Some replica leads, as far as this one can tell: for readiness, because a Lease nobody can write looks healthy otherwise (OPR-17). */
  get hasLeader(): boolean {
    const holder = this.#seen?.spec?.holderIdentity ?? '';
    return holder !== '' && this.#clock.monotonicMs() - this.#changedMs < 2 * this.#timings.durationMs;
  }

  /** Throws NotLeadingError. */
  assertLeading(): void {
    if (this.isLeading) return;
    this.#endTerm();
    throw new NotLeadingError();
  }

  /** A client whose every write is checked before each of its tries, and cut off when the term ends. */
  fencedClient(transport: ApiTransport, term: AbortSignal): KubeClient {
    const beforeWrite = () => {
      this.assertLeading();
      if (term.aborted) throw new NotLeadingError();
    };
    return createKubeClient(transport, { beforeWrite, writeSignal: term });
  }

  start(): void {
    this.#running = this.#run(this.#stop.signal);
  }

  /** Gives the Lease away if it is ours, so that another replica leads within seconds. Stop the controllers before. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the lease was stopped'));
    await this.#running;
    const held = this.isLeading;
    this.#endTerm();
    if (!held || this.#seen === undefined) return;
    const spec = { holderIdentity: null, leaseDurationSeconds: 1, renewTime: this.#now() };
    await this.#write(this.#seen, spec).catch((error) => this.#options.onFailed?.(error));
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#step();
      } catch (error) {
        this.#options.onFailed?.(error);
      }
      if (!this.isLeading) this.#endTerm();
      const random = this.#options.random ?? Math.random;
      await this.#clock.sleep(this.#timings.retryMs * (0.8 + random() * 0.4), signal).catch(() => {});
    }
  }

  async #step(): Promise<void> {
    if (this.isLeading && this.#seen !== undefined) {
      if (await this.#renew(this.#seen)) return;
      // Somebody else wrote: a person, or a replica that thinks we are gone. The look below tells.
    }
    const { namespace, name } = this.#options;
    const found = await this.#client.get<LeaseObject>(KINDS.leases, { namespace, name });
    if (found === null) return this.#create();
    this.#see(found);
    const holder = found.spec?.holderIdentity ?? '';
    if (holder === this.#identity) {
      await this.#renew(found);
      return;
    }
    this.#endTerm();
    const waitMs = (found.spec?.leaseDurationSeconds ?? this.#timings.durationMs / 1000) * 1000;
    if (holder === '' || this.#clock.monotonicMs() - this.#changedMs > waitMs) await this.#takeOver(found);
  }

  async #create(): Promise<void> {
    const { namespace, name } = this.#options;
    const sentMs = this.#clock.monotonicMs();
    const spec = { ...this.#holding(), acquireTime: this.#now(), leaseTransitions: 0 };
    const created = await this.#client.create<object>(KINDS.leases, { metadata: { namespace, name }, spec });
    this.#see(created as LeaseObject);
    this.#hold(sentMs);
  }

  async #takeOver(found: LeaseObject): Promise<void> {
    const sentMs = this.#clock.monotonicMs();
    const spec = { ...this.#holding(), acquireTime: this.#now(), leaseTransitions: (found.spec?.leaseTransitions ?? 0) + 1 };
    this.#see(await this.#write(found, spec));
    this.#hold(sentMs);
  }

  /** False when the Lease changed under us. */
  async #renew(seen: LeaseObject): Promise<boolean> {
    const sentMs = this.#clock.monotonicMs();
    try {
      this.#see(await this.#write(seen, this.#holding()));
    } catch (error) {
      if (isKubeError(error, 409) || isKubeError(error, 404)) return false;
      throw error;
    }
    this.#hold(sentMs);
    return true;
  }

  #write(seen: LeaseObject, spec: object): Promise<LeaseObject> {
    const { namespace, name } = this.#options;
    const { resourceVersion } = seen.metadata;
    return this.#client.patch<LeaseObject>(KINDS.leases, { namespace, name }, { metadata: { resourceVersion }, spec });
  }

  #holding(): object {
    return { holderIdentity: this.#identity, leaseDurationSeconds: Math.ceil(this.#timings.durationMs / 1000), renewTime: this.#now() };
  }

  #see(lease: LeaseObject): void {
    if (lease.metadata.resourceVersion !== this.#seen?.metadata.resourceVersion) this.#changedMs = this.#clock.monotonicMs();
    this.#seen = lease;
  }

  #hold(sentMs: number): void {
    const deadlineMs = sentMs + this.#timings.renewMs;
    // The answer came too late to lead on it: others may count already.
    if (this.#clock.monotonicMs() >= deadlineMs) return;
    if (this.#term !== undefined && this.#clock.monotonicMs() >= this.#term.deadlineMs) this.#endTerm();
    const gained = this.#term === undefined;
    const term: Term = this.#term ?? { over: new AbortController(), deadlineMs, cancel: () => {} };
    this.#term = term;
    term.deadlineMs = deadlineMs;
    this.#arm(term);
    if (gained) this.#options.onGained?.(term.over.signal);
  }

  /** A timer may ring a fraction of a millisecond early; a term that still stands then would otherwise never end while a request hangs. */
  #arm(term: Term): void {
    term.cancel();
    term.cancel = this.#clock.alarm(Math.ceil(term.deadlineMs - this.#clock.monotonicMs()), () => {
      if (this.#term !== term) return;
      if (this.isLeading) this.#arm(term);
      else this.#endTerm();
    });
  }

  #endTerm(): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#term = undefined;
    term.cancel();
    term.over.abort(new NotLeadingError());
    this.#options.onLost?.();
  }

  #now(): string {
    return microTime(this.#clock.wallMs());
  }
}

const DEFAULT_TIMINGS: LeaseTimings = {
  durationMs: limits.leaderLeaseMs,
  renewMs: limits.leaderRenewMsMax,
  retryMs: limits.leaderRetryMs,
};
