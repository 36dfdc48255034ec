/** What a stream carries beside bundles and reports, as far as its sidecar speaks of it: effects and the audit. */
import type { ApprovalRecord } from '#operator/kube/records.ts';
import type { ConnectRequest } from '#proto/postern/control/v1/control_pb.ts';
import { AuditExchange } from './audit-exchange.ts';
import type { AuditMeans } from './audit-means.ts';
import { isAudit } from './audit-messages.ts';
import { recorded } from './audit-status.ts';
import { EffectExchange, type ExchangeMeans, type ExchangeStream, isEffect } from './effect-exchange.ts';
import type { Told } from './effect-messages.ts';
import type { SessionHold } from './session-hold.ts';
import type { SessionReporter } from './session-reporter.ts';

export interface ExchangesMeans {
  readonly effects: ExchangeMeans;
  /** Undefined where nobody has set up an audit. */
  readonly audit: AuditMeans | undefined;
}

export class Exchanges {
  readonly #means: ExchangesMeans;
  readonly #stream: ExchangeStream;
  #effects: EffectExchange | undefined;
  #audit: AuditExchange | undefined;

  constructor(means: ExchangesMeans, stream: ExchangeStream) {
    this.#means = means;
    this.#stream = stream;
  }

  get effects(): EffectExchange | undefined {
    return this.#effects;
  }

  get audit(): AuditExchange | undefined {
    return this.#audit;
  }

  /** `approvals`: of its account, as known now. */
  speakOfEffects(approvals: Iterable<ApprovalRecord>): EffectExchange {
    this.#effects = new EffectExchange(this.#means.effects, this.#stream, approvals);
    return this.#effects;
  }

  /** `speaks`: the sidecar knows the audit; of one that does not, the status says so. */
  speakOfAudit(speaks: boolean, hold: SessionHold, reporter: SessionReporter): void {
    const { audit: means } = this.#means;
    if (means === undefined) return;
    if (!speaks) {
      reporter.note((status, nowMs) => recorded(status, hold.session, means, false, nowMs));
      return;
    }
    const { wake } = this.#stream;
    this.#audit = new AuditExchange(means, {
      get session() {
        return hold.session;
      },
      get status() {
        return hold.status;
      },
      change: (update, soon) => (soon ? reporter.change(update) : reporter.note(update)),
      written: () => reporter.written(),
      wake,
    });
  }

  /** The terms of the audit before who asks: without a requester no effect is sent, so none is sent before its intent is known to be kept. */
  next(): Told | undefined {
    return this.#audit?.next() ?? this.#effects?.next();
  }

  /** False for a message of another kind, or of one that is not spoken of. Throws ControlRefusal for a sidecar that says too much. */
  take(message: ConnectRequest['message']): boolean {
    if (isEffect(message) && this.#effects !== undefined) this.#effects.take(message);
    else if (isAudit(message) && this.#audit !== undefined) this.#audit.take(message);
    else return false;
    return true;
  }

  stop(): void {
    this.#effects?.stop();
    this.#audit?.stop();
  }
}
