/**
 * Keeps the operator's CA in the chart's two webhook configurations, for the leader alone. Only `caBundle` is applied, so that the chart
 * and we never own a field together: a re-apply of the chart or a GitOps diff touches nothing of ours (failure case INJ-06).
 *
 * Reads instead of watching: two small objects every limits.caBundleCheckMs need no right to list webhook configurations, and no watch
 * that could have ended unnoticed stands between a blanked field and the next admission.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { AUTHORITY, FIELD_MANAGER } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { type ContestState, judgeBundles, UNCONTESTED } from './ca-bundle-contest.ts';
import {
  bundleOwners,
  bundlesIn,
  readConfiguration,
  WEBHOOK_KINDS,
  type WebhookConfiguration,
  type WebhookKind,
} from './webhook-configuration.ts';

export type CaBundleReport =
  | { readonly event: 'written'; readonly configuration: WebhookKind }
  /** Once when it begins. */
  | Contested
  | { readonly event: 'settled'; readonly configuration: WebhookKind }
  | { readonly event: 'failed'; readonly configuration: WebhookKind; readonly error: unknown };

export interface Contested {
  readonly event: 'contested';
  readonly configuration: WebhookKind;
  readonly name: string;
  readonly uid: string;
  /** Field managers. */
  readonly owners: readonly string[];
  readonly message: string;
}

export interface CaBundleOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** PEM, as of now. */
  caBundle(): string;
  report(report: CaBundleReport): void;
}

export class CaBundle {
  readonly #options: CaBundleOptions;
  readonly #states = new Map<WebhookKind, ContestState>();
  readonly #contested = new Set<WebhookKind>();
  #wake: (() => void) | undefined;

  constructor(options: CaBundleOptions) {
    this.#options = options;
  }

  /** Kinds whose field another writer holds now; for the metric and the Event. */
  get contested(): readonly string[] {
    return [...this.#contested].map(({ kind }) => kind);
  }

  /** Until the signal: that of losing the lease. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.check();
      await this.#pause(signal);
    }
  }

  /** Looks at once; for a change of the CA. */
  wake(): void {
    this.#wake?.();
  }

  /** One look at both. Never throws: what failed is reported and tried again. */
  async check(): Promise<void> {
    for (const kind of WEBHOOK_KINDS) {
      try {
        await this.#checkOne(kind);
      } catch (error) {
        this.#options.report({ event: 'failed', configuration: kind, error });
      }
    }
  }

  async #checkOne(kind: WebhookKind): Promise<void> {
    const { client, clock } = this.#options;
    const configuration = await readConfiguration(client, kind);
    if (configuration === null || configuration.metadata.deletionTimestamp !== undefined) return;
    const wanted = this.#options.caBundle();
    const before = this.#states.get(kind) ?? UNCONTESTED;
    const { state, write, contested } = judgeBundles(before, bundlesIn(configuration), wanted, clock.monotonicMs());
    this.#tell(kind, contested, configuration);
    if (write) await this.#write(kind, configuration, wanted);
    // After the write: one that failed is not remembered as ours, and the next look tries again.
    this.#states.set(kind, state);
  }

  async #write(kind: WebhookKind, { metadata, webhooks = [] }: WebhookConfiguration, wanted: string): Promise<void> {
    const caBundle = Buffer.from(wanted).toString('base64');
    const fields = {
      // With the UID, a configuration that was deleted meanwhile is not made anew from a name and a certificate.
      metadata: { name: AUTHORITY.webhooks, uid: metadata.uid },
      webhooks: webhooks.map(({ name }) => ({ name, clientConfig: { caBundle } })),
    };
    try {
      await this.#options.client.apply<WebhookConfiguration>(kind, fields as never, { manager: FIELD_MANAGER.operator, force: true });
    } catch (error) {
      if (!isKubeError(error, 409) && !isKubeError(error, 404)) throw error;
      return; // deleted or replaced since it was read: the next look sees what is there
    }
    this.#options.report({ event: 'written', configuration: kind });
  }

  #tell(kind: WebhookKind, contested: boolean, configuration: WebhookConfiguration): void {
    if (contested === this.#contested.has(kind)) return;
    if (!contested) {
      this.#contested.delete(kind);
      this.#options.report({ event: 'settled', configuration: kind });
      return;
    }
    this.#contested.add(kind);
    const owners = bundleOwners(configuration, FIELD_MANAGER.operator);
    const who = owners.length === 0 ? 'Another writer' : owners.join(', ');
    const message = `${who} keeps replacing webhooks[].clientConfig.caBundle of ${kind.kind} ${AUTHORITY.webhooks}, which the operator owns. Take the object out of its care, for instance by removing the annotation cert-manager.io/inject-ca-from.`;
    const { name, uid } = configuration.metadata;
    this.#options.report({ event: 'contested', configuration: kind, name, uid, owners, message });
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#options.clock.sleep(limits.caBundleCheckMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    this.#wake = undefined;
  }
}
