/**
 * Keeps the operator's CA in the webhook configurations, for the leader, and tells people of another writer of the same field (failure
 * case INJ-05): an Event on the configuration, a line of the log, the metric. While two write, the API server trusts us or not by who
 * wrote last: contracts and bindings are refused, and pods come without the sidecar and are then refused by the guards.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { Log } from '#core/runtime/log.ts';
import { CaBundle, type CaBundleReport } from '#operator/certificate/ca-bundle.ts';
import type { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { WEBHOOK_KINDS } from '#operator/certificate/webhook-configuration.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { EventTeller } from '#operator/kube/events.ts';

export interface WebhookTrustMeans {
  /** Fenced by the term. */
  readonly client: KubeClient;
  readonly certificates: Pick<ServingCertificates, 'caBundle' | 'onChange'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<EventTeller, 'tell'>;
}

export class WebhookTrust {
  readonly #means: WebhookTrustMeans;
  readonly #bundle: CaBundle;

  constructor(means: WebhookTrustMeans) {
    const { client, clock, certificates } = means;
    this.#means = means;
    this.#bundle = new CaBundle({ client, clock, caBundle: () => certificates.caBundle, report: (report) => this.#tell(report) });
  }

  /** By kind of configuration: whether another writer holds the field now. */
  contested(): Readonly<Record<string, boolean>> {
    return Object.fromEntries(WEBHOOK_KINDS.map(({ kind }) => [kind, this.#bundle.contested.includes(kind)]));
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.#means.certificates.onChange(() => this.#bundle.wake());
    await this.#bundle.run(signal);
    stopListening();
  }

  #tell(report: CaBundleReport): void {
    const { log, events } = this.#means;
    const object = report.configuration.kind;
    if (report.event === 'written') log.info('the CA was written into a webhook configuration', { object });
    else if (report.event === 'failed') log.warn('the CA could not be written into a webhook configuration', { object }, report.error);
    else if (report.event === 'settled') log.info('the CA of a webhook configuration has one writer again', { object });
    else {
      log.error('the CA of a webhook configuration has two writers', { object });
      const about = { kind: report.configuration, namespace: '', name: report.name, uid: report.uid };
      events.tell(about, { type: 'Warning', reason: 'CaBundleContested', action: 'WriteCaBundle', note: report.message });
    }
  }
}
