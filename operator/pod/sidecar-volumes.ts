/**
 * The volumes only the sidecar mounts, as the API server stores them. The one part of an injected pod that differs from pod to pod.
 *
 * - Every Secret is optional: a pod starts before its Secret is there, and a deleted Secret does not keep pods from starting.
 * - Keys by name and never a subPath: the kubelet replaces the files when the Secret changes (failure case LEAK-15).
 * - Mode 0444: the sidecar's user is not known where the platform assigns it, and no other container has the volume.
 */
import { limits } from '#core/bounds/limits.ts';
import { SIDECAR } from '#core/resource/names.ts';
import type { MountedSecret } from './caller-grants.ts';

export type SidecarVolume = Readonly<Record<string, unknown>> & { readonly name: string };

export const SIDECAR_VOLUMES: readonly string[] = [
  SIDECAR.credentialsVolume,
  SIDECAR.identityVolume,
  SIDECAR.stateVolume,
  SIDECAR.auditVolume,
];

/** In the order of SIDECAR_VOLUMES. */
export function sidecarVolumes(secrets: readonly MountedSecret[]): readonly SidecarVolume[] {
  return [credentials(secrets), identity(), state(), audit()];
}

const READABLE = 0o444;

function credentials(secrets: readonly MountedSecret[]): SidecarVolume {
  const sources = secrets.map(({ secret, keys }) => ({
    secret: { name: secret, items: keys.map((key) => ({ key, path: `${secret}/${key}` })), optional: true },
  }));
  return { name: SIDECAR.credentialsVolume, projected: { sources, defaultMode: READABLE } };
}

function identity(): SidecarVolume {
  const serviceAccountToken = {
    audience: SIDECAR.audience,
    expirationSeconds: limits.sidecarTokenSeconds,
    path: SIDECAR.tokenFile,
  };
  return { name: SIDECAR.identityVolume, projected: { sources: [{ serviceAccountToken }], defaultMode: READABLE } };
}

function state(): SidecarVolume {
  return { name: SIDECAR.stateVolume, emptyDir: { sizeLimit: `${limits.sidecarStateMiB}Mi` } };
}

/**
 * A volume of its own: a chain that waits for its store must not take the room of keys and journal. The kubelet evicts a pod whose volume is
 * past its limit, so the sidecar stops taking calls long before (limits.auditVolumeBytes).
 */
function audit(): SidecarVolume {
  return { name: SIDECAR.auditVolume, emptyDir: { sizeLimit: `${limits.auditVolumeMiB}Mi` } };
}
