/**
 * Looks, for the leader, whether every guard in the API server is what this version writes. The operator puts its own policy right by
 * itself; the fixed ones are the chart's, and it may only read them: one that was deleted, unbound or edited lets through what it is to
 * refuse, and nothing else in the cluster would show that.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Log } from '#core/runtime/log.ts';
import { findGuards, type GuardReport } from '#operator/guard/explain.ts';
import type { GuardSettings } from '#operator/guard/policy.ts';
import type { KubeClient } from '#operator/kube/client.ts';

export interface GuardWatchMeans {
  readonly client: Pick<KubeClient, 'get'>;
  readonly settings: GuardSettings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface BrokenGuard {
  readonly policy: string;
  /** `missing`, `unbound`, `altered`, `unknown`. */
  readonly state: string;
}

export class GuardWatch {
  readonly #means: GuardWatchMeans;
  #broken: ReadonlyMap<string, GuardReport['state']> = new Map();

  constructor(means: GuardWatchMeans) {
    this.#means = means;
  }

  /** At the last look. */
  broken(): readonly BrokenGuard[] {
    return [...this.#broken].map(([policy, state]) => ({ policy, state: state.toLowerCase() }));
  }

  /** Until the signal, every limits.guardsLookMs. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#means;
    while (!signal.aborted) {
      try {
        await this.look();
      } catch (error) {
        // What the last look found still stands on the metrics page.
        if (!signal.aborted) log.warn('the guards could not be looked at; it is tried again', {}, error);
      }
      await clock.sleep(limits.guardsLookMs, signal).catch(() => undefined);
    }
  }

  /** Throws KubeError when the API server cannot be asked. */
  async look(): Promise<void> {
    const { client, settings, log } = this.#means;
    const { reports } = await findGuards(client, settings);
    const broken = new Map(reports.flatMap(({ name, state }) => (state === 'Holds' ? [] : [[name, state] as const])));
    for (const [object, status] of broken) {
      if (this.#broken.get(object) !== status) log.error('a guard does not hold', { object, status });
    }
    for (const object of this.#broken.keys()) if (!broken.has(object)) log.info('a guard holds again', { object });
    this.#broken = broken;
  }
}
