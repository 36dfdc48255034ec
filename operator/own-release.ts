/**
 * The sidecar that this replica injects, and the policy that allows it. A release is injected only once the policy is known to allow it,
 * so that neither an upgrade nor a new CA gives a moment in which pods are made that the guards refuse.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Log } from '#core/runtime/log.ts';
import type { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { OwnPolicy } from '#operator/guard/own-policy.ts';
import { type AllowedRelease, allowedRelease } from '#operator/guard/sidecar-release.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { SidecarRelease } from '#operator/pod/sidecar-container.ts';
import { sidecarReleases } from './releases.ts';
import { type OperatorSettings, sizeClasses } from './settings.ts';

export interface OwnReleaseMeans {
  readonly client: KubeClient;
  readonly settings: OperatorSettings;
  readonly certificates: ServingCertificates;
  readonly clock: Clock;
  readonly log: Log;
}

type Releases = readonly [SidecarRelease, ...SidecarRelease[]];

export class OwnRelease {
  readonly #means: OwnReleaseMeans;
  #policy: OwnPolicy | undefined;
  #releases: Releases;
  #isAllowed = false;

  constructor(means: OwnReleaseMeans) {
    this.#means = means;
    this.#releases = sidecarReleases(means.settings, means.certificates);
  }

  /** The policy allows what is injected. */
  get isAllowed(): boolean {
    return this.#isAllowed;
  }

  /** What is injected now comes first; the others belong to CAs that are served too. */
  get releases(): Releases {
    return this.#releases;
  }

  /** What the policy allows pods to be made with. */
  get allowed(): readonly AllowedRelease[] {
    return this.#policy?.releases ?? [];
  }

  /** What the policy allows, and what it allowed when older pods were made; a pod judged before that is known is refused. */
  get known(): readonly AllowedRelease[] {
    return this.#policy?.known ?? [];
  }

  /** Keeps the policy until the signal; begins anew with each change of the CA. Resolves after the last pass. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const changed = new AbortController();
      const stopListening = this.#means.certificates.onChange(() => changed.abort(new Error('the CA changed')));
      await this.#keep(AbortSignal.any([signal, changed.signal]));
      stopListening();
    }
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { client, settings, certificates, clock, log } = this.#means;
    const releases = sidecarReleases(settings, certificates);
    const release = allowedRelease(releases[0], sizeClasses(settings.sidecarSizes));
    const policy = new OwnPolicy({ client, settings, release, clock });
    while (!signal.aborted) {
      try {
        if (await policy.keep()) log.info('the guard of the sidecar was written');
        this.#policy = policy;
        this.#releases = releases;
        this.#isAllowed = true;
      } catch (error) {
        log.warn('the guard of the sidecar could not be written; it is tried again', {}, error);
      }
      await clock.sleep(this.#policy === policy ? limits.guardCheckMs : limits.guardRetryMs, signal).catch(() => undefined);
    }
  }
}
