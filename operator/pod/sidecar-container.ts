/**
 * The sidecar as a container: the same in every pod of a release and size class (design section 8), so that the guard in the API
 * server can compare it with a literal. What differs from pod to pod - which Secrets are mounted - stands in the volumes.
 *
 * - A native sidecar: an init container that restarts always, so that Jobs end and init containers after it can call it.
 * - No fixed user: the image's own is 65532, and a platform that assigns UID ranges puts in its own (failure case INJ-11).
 */
import { SIDECAR } from '#core/resource/names.ts';
import type { SizeClass } from '#operator/settings.ts';

export interface SidecarRelease {
  /** With its digest. */
  readonly image: string;
  readonly pullPolicy: string;
  /** `host:port` of the operator's Service. */
  readonly control: string;
  /** `sha256:<64 hex digits>` over the public key (SPKI) of the CA that signs the operator's certificates. */
  readonly pin: string;
}

export type SidecarContainer = Readonly<Record<string, unknown>> & { readonly name: string };

/** As the API server stores it: with every default filled in, so that a comparison needs no defaulting. */
export function sidecarContainer(release: SidecarRelease, size: SizeClass): SidecarContainer {
  return {
    name: SIDECAR.container,
    image: release.image,
    imagePullPolicy: release.pullPolicy,
    args: [
      'sidecar',
      `--control=${release.control}`,
      `--control-pin=${release.pin}`,
      `--control-token=${SIDECAR.identityPath}/${SIDECAR.tokenFile}`,
      `--credentials=${SIDECAR.credentialsPath}`,
      `--state=${SIDECAR.statePath}`,
      `--audit=${SIDECAR.auditPath}`,
      `--listen=127.0.0.1:${SIDECAR.callPort}`,
      `--admin-listen=0.0.0.0:${SIDECAR.adminPort}`,
    ],
    ports: [{ name: 'postern-admin', containerPort: SIDECAR.adminPort, protocol: 'TCP' }],
    restartPolicy: 'Always',
    resources: { requests: storedQuantities(size.requests), limits: storedQuantities(size.limits) },
    volumeMounts: [
      { name: SIDECAR.credentialsVolume, mountPath: SIDECAR.credentialsPath, readOnly: true },
      { name: SIDECAR.identityVolume, mountPath: SIDECAR.identityPath, readOnly: true },
      { name: SIDECAR.stateVolume, mountPath: SIDECAR.statePath },
      { name: SIDECAR.auditVolume, mountPath: SIDECAR.auditPath },
      { name: SIDECAR.identityVolume, mountPath: API_TOKEN_PATH, readOnly: true },
    ],
    startupProbe: probe('/startupz', { periodSeconds: 1, failureThreshold: 60 }),
    livenessProbe: probe('/livez', { periodSeconds: 10, failureThreshold: 6 }),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}

/**
 * Where the API server's ServiceAccount admission mounts a token for the API into every container that has nothing there, also into one
 * that a webhook added, under a name that differs from pod to pod. The sidecar has no use for it, and the guard compares mounts.
 */
const API_TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As the API server writes them back: `1000m` becomes `1`, `1024Mi` becomes `1Gi`. */
function storedQuantities({ cpu, memory }: SizeClass['requests']): SizeClass['requests'] {
  const millis = /^(\d+)000m$/.exec(cpu);
  const mebis = /^(\d+)Mi$/.exec(memory);
  const gibis = mebis === null ? 0 : Number(mebis[1]) / 1024;
  return { cpu: millis?.[1] ?? cpu, memory: gibis >= 1 && Number.isInteger(gibis) ? `${gibis}Gi` : memory };
}

function probe(path: string, timing: { periodSeconds: number; failureThreshold: number }): Readonly<Record<string, unknown>> {
  return {
    httpGet: { path, port: SIDECAR.adminPort, scheme: 'HTTP' },
    timeoutSeconds: 3,
    successThreshold: 1,
    ...timing,
  };
}
