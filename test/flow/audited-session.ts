/**
 * One session of a cluster, as far as its audit goes: a chain with its shipper on one end, the operator's real exchange on the other, and
 * between them a stream that can break. Messages cross it as bytes; what is under way when it breaks is lost.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { AuditExchange } from '#operator/control/audit-exchange.ts';
import type { AuditMeans } from '#operator/control/audit-means.ts';
import { isAudit } from '#operator/control/audit-messages.ts';
import type { StreamStatus } from '#operator/control/session-status.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { ConnectRequestSchema, ConnectResponseSchema } from '#proto/postern/control/v1/control_pb.ts';
import { AuditChain } from '#sidecar/audit/chain.ts';
import type { Permit } from '#sidecar/audit/permitted-put.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper } from '#sidecar/audit/shipper.ts';
import { OperatorAudit } from '#sidecar/control/operator-audit.ts';
import type { ControlMessage } from '#sidecar/control/stream.ts';

export interface AuditedSessionOptions {
  readonly means: AuditMeans;
  /** For its log; it makes folders in there. */
  readonly folder: string;
  readonly namespace: string;
  readonly put: (permit: Permit, bytes: Uint8Array, signal: AbortSignal) => Promise<number>;
}

const LOG = createLog({ level: 'error', destination: { write: () => {} } });

export class AuditedSession {
  readonly audit: OperatorAudit;
  readonly record: SessionRecord;
  /** Operation ids of the records that were acknowledged. */
  readonly recorded: string[] = [];
  readonly #means: AuditMeans;
  readonly #folder: string;
  readonly #clock: Clock = systemClock;
  /** As the API server has it; what a replica has not written goes with it. */
  #written: StreamStatus = {};
  #exchange: AuditExchange | undefined;
  #stream: object | undefined;
  #chain: AuditChain | undefined;
  #shipper: Shipper | undefined;

  constructor({ means, folder, namespace, put }: AuditedSessionOptions) {
    this.#means = means;
    this.#folder = folder;
    const uid = randomBytes(16).toString('hex');
    const spec = { serviceAccount: 'bot', pod: { name: `bot-${uid}`, uid } };
    this.record = { namespace, name: `bot-${uid}`, uid, createdMs: Date.now(), spec, status: undefined } as unknown as SessionRecord;
    this.audit = new OperatorAudit({ clock: this.#clock, log: LOG, send: (message) => this.#up(message), put });
  }

  get chain(): AuditChain {
    if (this.#chain === undefined) throw new Error('the chain is not open yet');
    return this.#chain;
  }

  get status(): StreamStatus {
    return this.#written;
  }

  /** A stream to a replica that knows what the last one wrote. */
  connect(): void {
    const status = { now: this.#written };
    const stream = {};
    this.#stream = stream;
    const exchange: AuditExchange = new AuditExchange(this.#means, {
      session: this.record,
      get status() {
        return status.now;
      },
      change: (update, soon) => {
        status.now = update(status.now, this.#clock.wallMs());
        if (soon && this.#stream === stream) this.#written = status.now;
      },
      written: async () => {
        this.#written = status.now;
      },
      wake: () => setImmediate(() => this.#down(exchange)),
    });
    this.#exchange = exchange;
    this.audit.welcomed(3);
    this.#down(exchange);
  }

  /** `orderly`: the replica hands over what it has not written; else that is lost. */
  disconnect(orderly: boolean): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    if (orderly) void exchange.handOver();
    exchange.stop();
    this.#exchange = undefined;
    this.#stream = undefined;
    this.audit.ended();
  }

  /** Opens the chain by the terms that came, and ships. */
  async begin(): Promise<void> {
    const terms = this.audit.terms();
    if (terms === undefined) throw new Error('no terms came');
    this.#chain = await AuditChain.open({ folder: this.#folder, clock: this.#clock, authority: this.audit.authority, terms });
    const list = await openShippedList(join(this.#folder, 'shipped'), this.#chain.origin);
    const { origin } = this.#chain;
    this.#shipper = new Shipper({ segments: this.#chain, sink: this.audit.sink, list, origin, clock: this.#clock });
    this.#shipper.start();
  }

  async write(): Promise<void> {
    const operationId = `op_${randomBytes(13).toString('hex')}`;
    await this.chain.append({ kind: 'intent', operationId, text: JSON.stringify({ operation: operationId }) });
    this.recorded.push(operationId);
  }

  /** The chain ends in order, all of it is shipped, and its head is written as a replica that stops in order writes it. */
  async end(ms: number): Promise<{ readonly shipped: boolean; readonly manifest: boolean } | undefined> {
    await this.chain.end();
    const ended = await this.#shipper?.end(ms);
    this.disconnect(true);
    await this.chain.close();
    return ended;
  }

  #up(message: ControlMessage): void {
    const bytes = toBinary(ConnectRequestSchema, create(ConnectRequestSchema, { message }));
    const exchange = this.#exchange;
    setImmediate(() => {
      if (exchange === undefined || exchange !== this.#exchange) return;
      const { message: heard } = fromBinary(ConnectRequestSchema, bytes);
      if (isAudit(heard)) exchange.take(heard);
    });
  }

  #down(exchange: AuditExchange): void {
    for (let told = exchange.next(); told !== undefined; told = exchange.next()) {
      if (exchange !== this.#exchange) return;
      const bytes = toBinary(ConnectResponseSchema, create(ConnectResponseSchema, { message: told }));
      const { message } = fromBinary(ConnectResponseSchema, bytes);
      if (message.case !== undefined && message.case !== 'welcome') this.audit.heard(message);
    }
  }
}
