/** The sidecar that this replica injects, once for each CA it serves; the one that pins the current CA first. */
import { OPERATOR } from '#core/resource/names.ts';
import type { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import type { SidecarRelease } from '#operator/pod/sidecar-container.ts';
import type { OperatorSettings } from './settings.ts';

export function sidecarReleases(
  settings: OperatorSettings,
  { pin, pins }: Pick<ServingCertificates, 'pin' | 'pins'>,
): readonly [SidecarRelease, ...SidecarRelease[]] {
  const release = (pinned: string): SidecarRelease => ({
    image: settings.sidecarImage,
    pullPolicy: settings.sidecarPullPolicy,
    control: `${settings.service}.${settings.namespace}.svc:${OPERATOR.controlPort}`,
    pin: pinned,
  });
  return [release(pin), ...pins.filter((other) => other !== pin).map(release)];
}
