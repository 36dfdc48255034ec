/**
 * The bundles of all accounts that have a stream here, made again when something they are made of has changed. A change finds its
 * accounts by index, so that an edited contract costs the accounts it names and no others; a bundle is made once for an account,
 * however many sidecars it has, and streams are told only when its revision is another.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { accountsOfBinding, accountsOfContract, type BundleContent, bundleOf } from './bundle.ts';

export interface StoredBundle {
  readonly content: BundleContent;
  /** Monotonic time at which the first of the changes that made it was seen; for the time a push takes. */
  readonly seenMs: number;
}

interface Entry {
  readonly namespace: string;
  readonly account: string;
  readonly listeners: Set<() => void>;
  bundle: StoredBundle;
  /** Monotonic time of the first change that the bundle does not have. */
  dirtyMs: number | undefined;
}

export class BundleStore {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #entries = new Map<Key, Entry>();
  readonly #stops: readonly (() => void)[];
  #cancelFlush: (() => void) | undefined;

  constructor(cluster: Cluster, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#stops = [
      cluster.contracts.onChange((change) => {
        this.#touch(accountsOfContract('was' in change ? change.was : undefined, 'now' in change ? change.now : undefined));
      }),
      cluster.bindings.onChange((change) => this.#touch(accountsOfBinding(cluster, 'now' in change ? change.now : change.was))),
    ];
  }

  /** Calls `changed` each time the bundle of the account, or what did not fit it, is another, until `stop`. */
  watch(namespace: string, account: string, changed: () => void): { current(): StoredBundle; stop(): void } {
    const key = keyOf({ namespace, name: account });
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const bundle = { content: bundleOf(this.#cluster, namespace, account), seenMs: this.#clock.monotonicMs() };
      entry = { namespace, account, listeners: new Set(), bundle, dirtyMs: undefined };
      this.#entries.set(key, entry);
    }
    const { listeners } = entry;
    const found = entry;
    listeners.add(changed);
    return {
      current: () => found.bundle,
      stop: () => {
        listeners.delete(changed);
        if (listeners.size === 0) this.#entries.delete(key);
      },
    };
  }

  /** Accounts whose bundles are kept. */
  get size(): number {
    return this.#entries.size;
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#cancelFlush?.();
    this.#entries.clear();
  }

  #touch(accounts: readonly Key[]): void {
    for (const key of accounts) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) entry.dirtyMs ??= this.#clock.monotonicMs();
    }
    if (accounts.some((key) => this.#entries.has(key))) this.#flushIn(limits.controlGatherMs);
  }

  #flushIn(ms: number): void {
    if (this.#cancelFlush !== undefined) return;
    this.#cancelFlush = this.#clock.alarm(ms, () => {
      this.#cancelFlush = undefined;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    let waiting = false;
    for (const [key, entry] of this.#entries) {
      if (entry.dirtyMs === undefined || this.#entries.get(key) !== entry) continue;
      waiting = this.#renew(entry, entry.dirtyMs) || waiting;
      // A change of a binding that a thousand accounts use must not hold up heartbeats.
      await new Promise(setImmediate);
    }
    if (waiting) this.#flushIn(limits.controlGatherMs);
  }

  /** True when it waits for the leader's judgement. */
  #renew(entry: Entry, dirtyMs: number): boolean {
    const content = bundleOf(this.#cluster, entry.namespace, entry.account);
    const { contracts: held, leftOut } = entry.bundle.content;
    const takenAway = content.unsettled.some((name) => held.includes(name));
    if (takenAway && this.#clock.monotonicMs() - dirtyMs < limits.controlSettleMsMax) return true;
    entry.dirtyMs = undefined;
    const same = content.revision === entry.bundle.content.revision;
    entry.bundle = {
      content: same ? { ...content, encoded: entry.bundle.content.encoded } : content,
      seenMs: same ? entry.bundle.seenMs : dirtyMs,
    };
    // What is left out is told to people, also where what is served stays the same.
    if (!same || !isDeepStrictEqual(content.leftOut, leftOut)) for (const listener of entry.listeners) listener();
    return false;
  }
}
