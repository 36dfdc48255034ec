/**
 * What the operator said last: bundle, session, lease. Kept on disk as it changes, and whoever decides about calls is told of each change.
 *
 * - What restricts counts at once. What allows - an active session, a lease - and comes with a bundle counts once that bundle is served,
 *   unless something newer was said meanwhile: else a lifted suspension would for a moment allow what the bundle before it says.
 * - A disk that is full or unreadable costs what a restart would find, never a call: it is told once, and tried again at the next change.
 * - What a restart finds never gives more than was said last: where a session, a bundle or a shorter lease cannot be written, the file
 *   from before is removed, so that a restarted container asks its operator instead of serving a session that was revoked.
 */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { limits } from '#core/bounds/limits.ts';
import { type Bundle, BundleSchema, type SessionState } from '#proto/postern/control/v1/control_pb.ts';
import type { KeptBundle, KeptState } from './kept-bundle.ts';
import { type BootClock, grantLease, keepLease, type Lease, leaseLeftMs, NO_LEASE, restoreLease } from './lease.ts';
import { NO_SESSION, phaseOf, type Session } from './session.ts';

export interface StateOptions {
  readonly clock: BootClock;
  /** Undefined where nothing can be kept. */
  readonly kept: KeptBundle | undefined;
  /** Session or lease are others now, or the lease has ended. */
  onChange(): void;
  /** Whether what is on disk is what is held; told when that changes. */
  onKept(good: boolean, fault?: unknown): void;
  /** Rings once after so many milliseconds, unless cancelled. */
  alarm(ms: number, ring: () => void): () => void;
  /** Since when credentials are what they are, to be kept with the rest. */
  credentials(): KeptState['credentials'];
}

export class ControlState {
  readonly #options: StateOptions;
  #session: Session = NO_SESSION;
  #lease: Lease = NO_LEASE;
  #bundle: Bundle | undefined;
  /** Count what was said of each, to tell newer from older. */
  #sessionSaid = 0;
  #leaseSaid = 0;
  #cancelAlarm = () => {};
  /** What is on disk. */
  #keptLease: Lease = NO_LEASE;
  #keptSession: Session = NO_SESSION;
  #keptBundle: Bundle | undefined;
  #good: boolean | undefined;
  #dirty = false;
  #saving: Promise<void> | undefined;

  constructor(options: StateOptions) {
    this.#options = options;
  }

  get session(): Session {
    return this.#session;
  }

  /** The one that is served, if any. */
  get bundle(): Bundle | undefined {
    return this.#bundle;
  }

  get leaseLeftMs(): number {
    return leaseLeftMs(this.#lease, this.#options.clock.nowMs());
  }

  /** What a process before this one left; the caller serves the bundle, then calls `serves`. Never throws. */
  async restore(): Promise<{ readonly bundle: Bundle; readonly credentials: KeptState['credentials'] } | undefined> {
    try {
      const kept = (await this.#options.kept?.read()) ?? null;
      if (kept === null) return undefined;
      const bundle = fromBinary(BundleSchema, kept.bundle);
      this.#session = kept.session;
      this.#lease = restoreLease(kept.lease, this.#options.clock);
      this.#keptLease = this.#lease;
      this.#keptSession = this.#session;
      this.#tellKept(true);
      this.#changed();
      return { bundle, credentials: kept.credentials };
    } catch (fault) {
      this.#tellKept(false, fault);
      return undefined;
    }
  }

  welcomed(name: string, namespace: string): void {
    this.#session = { ...this.#session, name, namespace };
  }

  says(state: Pick<SessionState, 'state' | 'because'>): void {
    this.#sessionSaid += 1;
    this.#become(state);
    void this.save();
  }

  renews(leaseMs: number): void {
    this.#leaseSaid += 1;
    this.#lease = grantLease(leaseMs, this.#options.clock.nowMs());
    const gainedMs = this.#lease.untilMs - this.#keptLease.untilMs;
    if (gainedMs < 0 || gainedMs > this.#lease.grantedMs * limits.controlLeaseKeptShare) void this.save();
    this.#changed();
  }

  /**
   * A bundle has arrived and is not served yet. Returns what to call once it is: only then do its lease, counted from now, and what it
   * allows count.
   */
  arrives(bundle: Bundle): () => void {
    this.#sessionSaid += 1;
    this.#leaseSaid += 1;
    const sessionSaid = this.#sessionSaid;
    const leaseSaid = this.#leaseSaid;
    const lease = grantLease(Number(bundle.leaseMs), this.#options.clock.nowMs());
    const { session } = bundle;
    if (session !== undefined && phaseOf(session.state) !== 'Active') this.#become(session);
    return () => {
      this.#bundle = bundle;
      if (this.#leaseSaid === leaseSaid) this.#lease = lease;
      if (this.#sessionSaid === sessionSaid && session !== undefined) this.#become(session);
      void this.save();
      this.#changed();
    };
  }

  /** A restored bundle is served; nothing new was said. */
  serves(bundle: Bundle): void {
    this.#bundle = bundle;
    this.#keptBundle = bundle;
    this.#changed();
  }

  /** Writes what is held now, after what is being written; resolves when nothing is left to write. Never rejects. */
  save(): Promise<void> {
    this.#dirty = true;
    this.#saving ??= this.#write();
    return this.#saving;
  }

  /** Keeps the newest state and rings no more. */
  async stop(): Promise<void> {
    this.#cancelAlarm();
    await this.save();
  }

  async #write(): Promise<void> {
    // One turn later: what is said together is written together.
    await Promise.resolve();
    while (this.#dirty) {
      this.#dirty = false;
      if (this.#bundle === undefined || this.#options.kept === undefined) break;
      await this.#writeOne(this.#options.kept, this.#bundle);
    }
    this.#saving = undefined;
  }

  /** Never rejects. */
  async #writeOne(disk: KeptBundle, bundle: Bundle): Promise<void> {
    const lease = this.#lease;
    const session = this.#session;
    const kept = keepLease(lease, this.#options.clock);
    try {
      await disk.write({
        session,
        ...(kept === undefined ? {} : { lease: kept }),
        bundle: toBinary(BundleSchema, bundle),
        credentials: this.#options.credentials(),
      });
      this.#keptLease = lease;
      this.#keptSession = session;
      this.#keptBundle = bundle;
      this.#tellKept(true);
    } catch (fault) {
      const onlyLonger = session === this.#keptSession && bundle === this.#keptBundle && lease.untilMs >= this.#keptLease.untilMs;
      // A file that can be neither written nor removed goes on saying what it says, for as long as its own lease lasts.
      if (!onlyLonger) await disk.forget().catch(() => undefined);
      this.#tellKept(false, fault);
    }
  }

  #tellKept(good: boolean, fault?: unknown): void {
    if (this.#good === good) return;
    this.#good = good;
    this.#options.onKept(good, fault);
  }

  #become({ state, because }: Pick<SessionState, 'state' | 'because'>): void {
    this.#session = { ...this.#session, phase: phaseOf(state), because };
    this.#changed();
  }

  #changed(): void {
    this.#cancelAlarm();
    const leftMs = this.leaseLeftMs;
    if (leftMs > 0) this.#cancelAlarm = this.#options.alarm(leftMs + 1, () => this.#options.onChange());
    this.#options.onChange();
  }
}
