/** The webhooks of a replica, from the parts that decide. */
import { InjectionFactsSource } from '#operator/pod/injection-facts.ts';
import { mutatePod } from '#operator/webhook/mutate-pod.ts';
import { startWebhookServer, type WebhookServer } from '#operator/webhook/server.ts';
import { validateNamespace } from '#operator/webhook/validate-namespace.ts';
import { validateBinding, validateContract } from '#operator/webhook/validate-objects.ts';
import { refuseToListen } from './listen-refusal.ts';
import type { OwnRelease } from './own-release.ts';
import type { ReplicaMeans } from './replica-means.ts';
import { sizeClasses } from './settings.ts';

export function startAdmission(
  means: ReplicaMeans,
  release: Pick<OwnRelease, 'releases' | 'known'>,
  isReady: () => boolean,
): Promise<WebhookServer> {
  const { settings, cluster, certificates, clock, log, metrics } = means;
  const [first, ...others] = sizeClasses(settings.sidecarSizes);
  if (first === undefined) throw new TypeError('the pattern of the setting demands one size class');
  return startWebhookServer({
    host: settings.host,
    port: settings.webhookPort,
    certificates,
    clock,
    ready: isReady,
    webhooks: [
      mutatePod({
        facts: new InjectionFactsSource(cluster, clock),
        sizes: [first, ...others],
        releases: () => release.releases,
        allowed: () => release.known,
      }),
      validateContract(cluster, clock),
      validateBinding(cluster),
      validateNamespace(cluster),
    ],
    onAnswer: (webhook, outcome, durationMs) => metrics.admitted(webhook, outcome, durationMs),
    onFault: (webhook, error) => log.error('a webhook failed or was late', { object: webhook }, error),
  }).catch(refuseToListen('POSTERN_WEBHOOK_PORT', settings.webhookPort));
}
