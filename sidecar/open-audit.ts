/**
 * What the audit of a sidecar stands on: its chain on this disk, who answers for its keys, where its segments go. From the command line where
 * files are served; from an operator, with what the chain itself says until one is heard, in a cluster.
 */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RecipientUnusable } from '#core/audit/seal.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AuditMetrics } from '#core/runtime/audit-metrics.ts';
import type { Log } from '#core/runtime/log.ts';
import type { AuditControl, AuditTerms } from '#sidecar/audit/audit-control.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { AuditChain } from '#sidecar/audit/chain.ts';
import { OpeningLog } from '#sidecar/audit/opening-log.ts';
import { AuditRecorder } from '#sidecar/audit/recorder.ts';
import type { SegmentSink } from '#sidecar/audit/segment-sink.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper } from '#sidecar/audit/shipper.ts';
import { countedDisk } from '#sidecar/wal/counted-disk.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';

export interface AuditMeans {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: { readonly audit: AuditMetrics };
}

export interface OpenAudit {
  readonly recorder: AuditRecorder;
  /** What calls wait for, as closed words for a probe. */
  notReady(): readonly string[];
  /**
   * After the last call has ended: says so, signs the end, has it witnessed, ships the rest. Bounded, whatever disk and store do; who else is
   * asked over the control stream must still be there.
   */
  end(): Promise<void>;
  close(): Promise<void>;
}

interface Place {
  /** Of the chain. */
  readonly folder: string;
  readonly authority: Authority;
}

interface Shipping {
  readonly sink: SegmentSink;
  readonly release?: () => Promise<void>;
}

/** One chain, open or not, with all that is made of it. */
export class Audit implements OpenAudit {
  readonly recorder: AuditRecorder;
  readonly #means: AuditMeans;
  readonly #place: Place | undefined;
  readonly #log: OpeningLog;
  #chain: AuditChain | undefined;
  #shipper: Shipper | undefined;
  #shipping: Shipping | undefined;
  #fault: string | undefined;

  /** Without a place nothing is recorded. */
  constructor(means: AuditMeans, place: Place | undefined) {
    this.#means = means;
    this.#place = place;
    this.#log = new OpeningLog(means.clock);
    if (place === undefined) this.#log.use('off');
    const { audit } = means.metrics;
    this.recorder = new AuditRecorder({
      clock: means.clock,
      log: this.#log,
      keep: () => place?.authority.keep,
      onRecord: (kind) => audit.recorded(kind),
      onCounted: (count) => audit.counted(count),
    });
    audit.state(() => this.#state());
  }

  get chain(): AuditChain | undefined {
    return this.#chain;
  }

  /** Throws as AuditChain.open does. */
  async open(terms: { readonly origin?: string; readonly recipients?: readonly string[] }): Promise<AuditChain> {
    const { clock, log, metrics } = this.#means;
    if (this.#place === undefined) throw new TypeError('there is no place for a chain');
    const chain = await AuditChain.open({
      ...this.#place,
      clock,
      terms,
      disk: countedDisk(nodeDisk, clock, (durationMs) => metrics.audit.synced(durationMs)),
      onFault: (fault) => {
        if (fault === undefined) log.info('the audit takes records again');
        else log.error('the audit takes no records, so calls are refused', { reason: wordOf(fault) });
      },
      onConflict: () => log.error('the witness knows another head of this chain: it is a fork, or an older copy'),
    });
    this.#chain = chain;
    this.#fault = undefined;
    this.#log.use(chain);
    return chain;
  }

  /** Nothing is recorded from here on; a chain that is there ends in order. */
  async off(): Promise<void> {
    const chain = this.#chain;
    this.#log.use('off');
    if (chain === undefined) return;
    await chain.end();
    await this.#shipper?.end(limits.auditFlushMs);
    await this.close();
    this.#chain = undefined;
    this.#shipper = undefined;
  }

  /** The chain cannot be opened; records wait, and calls are refused. */
  failed(fault: string): void {
    this.#fault = fault;
  }

  async ship(shipping: Shipping): Promise<void> {
    const chain = this.#chain;
    if (chain === undefined || this.#place === undefined || this.#shipper !== undefined) return;
    const { clock, log } = this.#means;
    this.#shipping = shipping;
    this.#shipper = new Shipper({
      segments: chain,
      sink: shipping.sink,
      list: await openShippedList(join(this.#place.folder, 'shipped'), chain.origin),
      origin: chain.origin,
      clock,
      onPoison: (segment, kind, cause) =>
        log.error('a segment of the audit cannot be shipped', { count: segment.number, reason: kind }, cause),
      onMended: (segment) => log.info('a segment of the audit is shipped after all', { count: segment.number }),
      onFault: (fault, cause) => {
        if (fault === undefined) log.info('segments of the audit are shipped again');
        else log.warn('segments of the audit are not shipped', { reason: wordOf(fault) }, cause);
      },
    });
    this.#shipper.start();
  }

  notReady(): readonly string[] {
    const { fault } = this.#log;
    return fault === undefined || (fault === 'opening' && this.#fault === undefined) ? [] : ['audit'];
  }

  async end(): Promise<void> {
    this.recorder.tell({ record: 'session', event: 'ended', because: 'stopped' });
    await this.#within(limits.walAppendMs, this.recorder.flush());
    this.recorder.close();
    const chain = this.#chain;
    if (chain === undefined) return;
    await this.#within(limits.walAppendMs + limits.auditFlushMs, chain.end());
    if (this.#shipper !== undefined) await this.#within(limits.auditFlushMs, this.#shipper.end(limits.auditFlushMs));
  }

  async close(): Promise<void> {
    await this.#within(CLOSE_MS, this.#shipper?.stop());
    await this.#within(CLOSE_MS, this.#chain?.close());
    await this.#within(CLOSE_MS, this.#shipping?.release?.());
  }

  /** Whatever it does, we go on: the next start finds an epoch without an end. */
  async #within(ms: number, work: Promise<unknown> | undefined): Promise<void> {
    if (work === undefined) return;
    const { clock, log } = this.#means;
    const late = Promise.withResolvers<void>();
    const cancel = clock.alarm(ms, late.resolve);
    const ended = work.catch((fault: unknown) => log.warn('the audit did not end in order', {}, fault));
    await Promise.race([ended, late.promise]);
    cancel();
  }

  #state() {
    const facts = this.#shipper?.facts;
    const chain = this.#chain;
    const { clock } = this.#means;
    return {
      fault: this.recorder.fault !== undefined,
      ...(chain === undefined ? {} : { bytes: chain.bytes, unshippedBytes: chain.unshippedBytes }),
      ...(facts === undefined ? {} : { lagMs: facts.lagMs, shippedSequence: facts.lastShippedSequence }),
      ...(chain?.headWitnessedMs === undefined ? {} : { headAgeMs: clock.wallMs() - chain.headWitnessedMs }),
    };
  }
}

const CLOSE_MS = 2_000;

/** A word that the log takes. */
function wordOf(fault: string): string {
  return fault.replaceAll(/[^a-zA-Z0-9_]/g, '_');
}

/**
 * In a cluster: what the chain in the folder says until the operator is heard, then what the operator says. A folder that cannot be used
 * refuses calls, and nothing else keeps the sidecar from starting.
 */
export async function followTerms(audit: Audit, means: AuditMeans, folder: string, control: AuditControl): Promise<() => Promise<void>> {
  const follower = new TermsFollower(audit, means, folder, control);
  const terms = control.terms();
  if (terms !== undefined) await follower.follow(terms);
  else await follower.resume();
  const stop = control.onTerms((next) => void follower.follow(next));
  return async () => {
    stop();
    await follower.settled();
  };
}

class TermsFollower {
  readonly #audit: Audit;
  readonly #means: AuditMeans;
  readonly #control: AuditControl;
  /** There while the last terms were to record nothing: a restart must know that without an operator. */
  readonly #offMark: string;
  #recipients = '';
  #before: Promise<void> = Promise.resolve();

  constructor(audit: Audit, means: AuditMeans, folder: string, control: AuditControl) {
    this.#audit = audit;
    this.#means = means;
    this.#control = control;
    this.#offMark = join(folder, 'off');
  }

  settled(): Promise<void> {
    return this.#before;
  }

  /** As the process before this one was told. */
  async resume(): Promise<void> {
    if (statSync(this.#offMark, { throwIfNoEntry: false }) !== undefined) {
      await this.#audit.off();
      return;
    }
    try {
      const chain = await this.#audit.open({});
      this.#means.log.info('the audit goes on with the chain of before', { count: chain.head.size });
    } catch (fault) {
      if (!(fault instanceof PosternError) || fault.details.audit !== 'recipients') this.#failed(fault);
    }
  }

  /** One after the other; never rejects. */
  follow(terms: AuditTerms): Promise<void> {
    this.#before = this.#before.then(() => this.#apply(terms)).catch((fault: unknown) => this.#failed(fault));
    return this.#before;
  }

  async #apply({ recipients, origin, shipped }: AuditTerms): Promise<void> {
    if (recipients.length === 0) {
      await this.#audit.off();
      mkdirSync(dirname(this.#offMark), { recursive: true, mode: 0o700 });
      writeFileSync(this.#offMark, '');
      this.#means.log.info('the operator names no recipients, so nothing is recorded');
      return;
    }
    rmSync(this.#offMark, { force: true });
    const named = recipients.join('\n');
    if (this.#audit.chain === undefined) await this.#audit.open({ origin, recipients });
    else if (named !== this.#recipients) this.#audit.chain.recipients(recipients);
    this.#recipients = named;
    if (shipped) await this.#audit.ship({ sink: this.#control.sink });
  }

  #failed(fault: unknown): void {
    this.#audit.failed(fault instanceof RecipientUnusable ? 'recipients' : 'unusable');
    this.#means.log.error('the audit cannot be kept as it should be, so calls may be refused', {}, fault);
  }
}
