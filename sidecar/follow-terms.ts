/**
 * The audit of a sidecar in a cluster: what the chain in the folder says until the operator is heard, then what the operator says.
 *
 * Whatever the folder does, a start does not wait for it longer than a call would, and nothing is given up: terms that cannot be kept are
 * tried again, such as while the process before this one still holds the folder. Calls are refused meanwhile.
 */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RecipientUnusable } from '#core/audit/seal.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AuditControl, AuditTerms } from '#sidecar/audit/audit-control.ts';
import type { Audit, AuditMeans } from '#sidecar/open-audit.ts';

/** Resolves once the chain is open, or a start need not wait for it. What it gives ends it: no terms are heard from then on. */
export async function followTerms(audit: Audit, means: AuditMeans, folder: string, control: AuditControl): Promise<() => Promise<void>> {
  const follower = new TermsFollower(audit, means, folder, control);
  const stop = control.onTerms(() => void follower.follow());
  await follower.patiently(follower.follow(), limits.walAppendMs);
  return async () => {
    stop();
    await follower.stop();
  };
}

class TermsFollower {
  readonly #audit: Audit;
  readonly #means: AuditMeans;
  readonly #control: AuditControl;
  /** There while the last terms were to record nothing: a restart must know that without an operator. */
  readonly #offMark: string;
  #cancelRetry: () => void = () => {};
  #stopped = false;
  #told = '';
  #before: Promise<void> = Promise.resolve();

  constructor(audit: Audit, means: AuditMeans, folder: string, control: AuditControl) {
    this.#audit = audit;
    this.#means = means;
    this.#control = control;
    this.#offMark = join(folder, 'off');
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry();
    await this.patiently(this.#before, limits.auditFlushMs);
  }

  /** Looks at the newest terms, once what it does has ended; never rejects. */
  follow(): Promise<void> {
    this.#before = this.#before.then(() => this.#keep());
    return this.#before;
  }

  /** A folder may hang, and then nobody waits for it. */
  async patiently(work: Promise<void>, ms: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#means.clock.alarm(ms, () => {
      this.#audit.failed('unusable');
      late.resolve();
    });
    await Promise.race([work, late.promise]);
    cancel();
  }

  async #keep(): Promise<void> {
    if (this.#stopped) return;
    this.#cancelRetry();
    try {
      const terms = this.#control.terms();
      if (terms === undefined) await this.#resume();
      else await this.#apply(terms);
      this.#told = '';
    } catch (fault) {
      this.#audit.failed(fault instanceof RecipientUnusable ? 'recipients' : 'unusable');
      this.#tell(fault);
      this.#cancelRetry = this.#means.clock.alarm(limits.auditOpenRetryMs, () => void this.follow());
    }
  }

  /** Once, however often it is tried. */
  #tell(fault: unknown): void {
    const text = String(fault);
    if (text !== this.#told) this.#means.log.error('the audit cannot be kept as it should be, so calls may be refused', {}, fault);
    this.#told = text;
  }

  /** As the process before this one was told. */
  async #resume(): Promise<void> {
    if (this.#audit.chain !== undefined) return;
    if (statSync(this.#offMark, { throwIfNoEntry: false }) !== undefined) {
      await this.#audit.off();
      return;
    }
    try {
      const chain = await this.#audit.open({});
      this.#means.log.info('the audit goes on with the chain of before', { count: chain.head.size });
    } catch (fault) {
      // A folder without a chain: its recipients are the operator's to say.
      if (!(fault instanceof PosternError) || fault.details.audit !== 'recipients') throw fault;
    }
  }

  async #apply({ recipients, origin, shipped }: AuditTerms): Promise<void> {
    if (recipients.length === 0) {
      await this.#applyNone(origin);
      return;
    }
    rmSync(this.#offMark, { force: true });
    const { chain } = this.#audit;
    if (chain === undefined) await this.#audit.open({ origin, recipients });
    else if (chain.origin !== origin) await this.#audit.refuseOrigin();
    else chain.recipients(recipients);
    if (shipped) await this.#audit.ship({ sink: this.#control.sink });
    else await this.#audit.stopShipping();
  }

  /** An operator of a release that knows no audit names no chain either, and has said nothing about one that is there. */
  async #applyNone(origin: string): Promise<void> {
    if (origin === '' && existsSync(dirname(this.#offMark))) {
      await this.#resume();
      if (this.#audit.chain !== undefined) return;
    }
    await this.#audit.off();
    mkdirSync(dirname(this.#offMark), { recursive: true, mode: 0o700 });
    writeFileSync(this.#offMark, '');
    this.#means.log.info('the operator names no recipients, so nothing is recorded');
  }
}
