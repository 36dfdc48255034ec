/**
 * What the audit of a sidecar stands on: its chain on this disk, who answers for its keys, where its segments go. From the command line where
 * files are served (own-audit.ts); from an operator in a cluster (follow-terms.ts).
 */
import { join } from 'node:path';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { AuditMetrics } from '#core/runtime/audit-metrics.ts';
import type { Log } from '#core/runtime/log.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { AuditChain } from '#sidecar/audit/chain.ts';
import { chainFault } from '#sidecar/audit/chain-fault.ts';
import type { FoundOperation } from '#sidecar/audit/chain-ledger.ts';
import { OpeningLog } from '#sidecar/audit/opening-log.ts';
import { AuditRecorder } from '#sidecar/audit/recorder.ts';
import type { SegmentSink } from '#sidecar/audit/segment-sink.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper, type ShippingFacts } from '#sidecar/audit/shipper.ts';
import { countedDisk } from '#sidecar/wal/counted-disk.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';

export interface AuditMeans {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: { readonly audit: AuditMetrics };
}

export interface OpenAudit {
  readonly recorder: AuditRecorder;
  /** As closed words for a probe: `audit`, which calls wait for; `audit_store`, where nothing may be shipped, which calls do not. */
  notReady(): readonly string[];
  /**
   * After the last call has ended: says so, signs the end, has it witnessed, ships the rest. Bounded, whatever disk and store do; who else is
   * asked over the control stream must still be there.
   */
  end(): Promise<void>;
  close(): Promise<void>;
}

/** Who adds to a chain what only the rest of the process knows. */
export interface AuditListener {
  /** A chain was opened over what processes before this one left in it. */
  opened(found: ReadonlyMap<string, FoundOperation>): void;
  /** It is recorded again after it was not: what the chain must say first, such as what is served. */
  resumed(): void;
}

interface Place {
  /** Of the chain. */
  readonly folder: string;
  readonly authority: Authority;
}

interface Shipping {
  readonly sink: SegmentSink;
  /** The store replaces what it has, so nothing goes there. */
  readonly isUnsafe?: () => boolean;
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
  #listener: AuditListener | undefined;

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

  /** Hears of the chain that is open, too. */
  listen(listener: AuditListener): void {
    this.#listener = listener;
    if (this.#chain !== undefined) listener.opened(this.#chain.found);
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
        else if (fault !== 'closed') log.error('the audit takes no records, so calls are refused', { reason: wordOf(fault) });
      },
      onConflict: () => log.error('the witness knows another head of this chain: it is a fork, or an older copy'),
    });
    const wasOff = this.#log.isOff;
    this.#chain = chain;
    this.#fault = undefined;
    this.#log.use(chain);
    if (wasOff) {
      this.recorder.tell({ record: 'session', event: 'recording', on: true });
      this.#listener?.resumed();
    }
    this.#listener?.opened(chain.found);
    return chain;
  }

  /**
   * Nothing is recorded from here on. A chain that is there says so and ends in order, as far as disk and witness let it within
   * limits.auditFlushMs (AUD-23). Never rejects.
   */
  async off(): Promise<void> {
    if (this.#chain !== undefined) {
      this.recorder.tell({ record: 'session', event: 'recording', on: false });
      await this.#within(limits.walAppendMs, this.recorder.flush());
    }
    this.#log.use('off');
    await this.#leave();
  }

  /** The chain in the folder is that of another session: nothing more goes into it, and calls are refused. */
  async refuseOrigin(): Promise<never> {
    this.#log.wait();
    await this.#leave();
    throw chainFault('origin');
  }

  async #leave(): Promise<void> {
    const chain = this.#chain;
    if (chain === undefined) return;
    await this.#within(limits.auditFlushMs, this.#endChain(chain));
    await this.close();
    this.#chain = undefined;
    this.#shipper = undefined;
    this.#shipping = undefined;
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
      onPoison: ({ number, firstSequence, lastSequence }, kind, cause) => {
        log.error('a segment of the audit cannot be shipped', { count: number, reason: kind }, cause);
        const range = { first_sequence: firstSequence, last_sequence: lastSequence };
        this.recorder.tell({ record: 'session', event: 'unshipped', segment: number, ...range, because: kind });
      },
      onMended: (segment) => log.info('a segment of the audit is shipped after all', { count: segment.number }),
      onFault: (fault, cause) => {
        if (fault === undefined) log.info('segments of the audit are shipped again');
        else log.warn('segments of the audit are not shipped', { reason: wordOf(fault) }, cause);
      },
    });
    this.#shipper.start();
  }

  /** What is there stays on this disk from now on. */
  async stopShipping(): Promise<void> {
    const shipper = this.#shipper;
    this.#shipper = undefined;
    await this.#within(CLOSE_MS, shipper?.stop());
  }

  notReady(): readonly string[] {
    const { fault } = this.#log;
    const takesNone = fault !== undefined && (fault !== 'opening' || this.#fault !== undefined);
    return [...(takesNone ? ['audit'] : []), ...(this.#shipping?.isUnsafe?.() === true ? ['audit_store'] : [])];
  }

  async end(): Promise<void> {
    this.recorder.tell({ record: 'session', event: 'ended', because: 'stopped' });
    await this.#within(limits.auditFlushMs, this.#endAll());
    this.recorder.close();
  }

  async #endAll(): Promise<void> {
    await this.recorder.flush();
    if (this.#chain !== undefined) await this.#endChain(this.#chain);
  }

  async #endChain(chain: AuditChain): Promise<void> {
    await chain.end();
    await this.#shipper?.end(limits.auditFlushMs);
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
      ...(facts === undefined ? {} : shippedOf(facts)),
      ...(chain?.headWitnessedMs === undefined ? {} : { headAgeMs: clock.wallMs() - chain.headWitnessedMs }),
    };
  }
}

function shippedOf({ lagMs, lastShippedSequence, lastSuccessMs, poisoned, fault }: ShippingFacts) {
  const last = lastSuccessMs === undefined ? {} : { shippedMs: lastSuccessMs };
  return { lagMs, shippedSequence: lastShippedSequence, poisoned, shippingFault: fault ?? '', ...last };
}

const CLOSE_MS = 2_000;

/** A word that the log takes. */
function wordOf(fault: string): string {
  return fault.replaceAll(/[^a-zA-Z0-9_]/g, '_');
}
