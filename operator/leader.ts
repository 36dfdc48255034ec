import type { NoticeTarget } from '#operator/approval/notices.ts';
import type { InformerObserver } from '#operator/kube/informer.ts';
import { Lease } from '#operator/kube/lease.ts';
import { Leadership } from './leadership.ts';
import type { ReplicaMeans } from './replica-means.ts';

/** Name of the Lease that says who leads. */
export const LEASE = 'postern-operator';

/** The lease, and what is done while it is held. */
export class Leader {
  readonly #lease: Lease;
  #term: Leadership | undefined;
  #stopping = false;
  /** Ends of terms that are still under way. */
  #ending: Promise<void> = Promise.resolve();

  constructor(means: ReplicaMeans, observer: InformerObserver, notices?: NoticeTarget) {
    const { settings, connection, clock, log } = means;
    const { transport } = connection;
    this.#lease = new Lease({
      transport,
      namespace: settings.namespace,
      name: LEASE,
      replica: settings.replica,
      clock,
      onGained: (term) => {
        log.info('this replica leads');
        const client = this.#lease.fencedClient(transport, term);
        const leadership = new Leadership({ ...means, client, transport, replica: settings.replica, observer, notices });
        this.#term = leadership;
        // Two terms of one replica do not overlap: the one before may have a write under way.
        this.#ending = this.#ending.then(() => (term.aborted ? undefined : leadership.start(term)));
      },
      onLost: () => {
        if (this.#stopping) log.info('this replica gives the lead away');
        else log.warn('this replica no longer leads');
        void this.#endTerm();
      },
      onFailed: (error) => log.warn('the lease could not be read or renewed', {}, error),
    });
  }

  get isLeading(): boolean {
    return this.#lease.isLeading;
  }

  get hasLeader(): boolean {
    return this.#lease.isLeading || this.#lease.hasLeader;
  }

  get term(): Leadership | undefined {
    return this.#lease.isLeading ? this.#term : undefined;
  }

  start(): void {
    this.#lease.start();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#endTerm();
    await this.#lease.stop();
  }

  #endTerm(): Promise<void> {
    const leadership = this.#term;
    this.#term = undefined;
    if (leadership !== undefined) this.#ending = this.#ending.then(() => leadership.stop());
    return this.#ending;
  }
}
