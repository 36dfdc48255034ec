/**
 * Every way in which a pod can name a Secret, or reach what the sidecar mounts: paths in the API's own PodSpec. A test walks the schema
 * of the real API server and fails when it has a field that looks like one of these and is not here (failure cases INJ-17, INJ-18).
 *
 * Not here, because the pod does not name the Secret: what a PersistentVolume or a StorageClass refers to (cluster administrators
 * write those), and Secrets that other controllers read for a pod.
 */

/** In a volume. A `csi` driver and a `flexVolume` may take the name of a Secret as an attribute, under any key. */
export const VOLUME_SECRETS = [
  'secret.secretName',
  'azureFile.secretName',
  'cephfs.secretRef.name',
  'cinder.secretRef.name',
  'csi.nodePublishSecretRef.name',
  'csi.volumeAttributes{}',
  'flexVolume.secretRef.name',
  'flexVolume.options{}',
  'iscsi.secretRef.name',
  'rbd.secretRef.name',
  'scaleIO.secretRef.name',
  'storageos.secretRef.name',
] as const;

/** In a volume, and the one way the sidecar uses. */
export const PROJECTED_SECRET = 'projected.sources[].secret.name';

/** In a volume: for whom a token of the pod's ServiceAccount is. */
export const TOKEN_AUDIENCE = 'projected.sources[].serviceAccountToken.audience';

/** In a container of any list. */
export const CONTAINER_SECRETS = ['env[].valueFrom.secretKeyRef.name', 'envFrom[].secretRef.name'] as const;

/** In a container of any list: the volumes whose content it can see. */
export const CONTAINER_VOLUMES = ['volumeMounts[].name', 'volumeDevices[].name', 'env[].valueFrom.fileKeyRef.volumeName'] as const;

/** In the pod. A ServiceAccount's own imagePullSecrets arrive here before the policies run. */
export const POD_SECRETS = ['imagePullSecrets[].name'] as const;
