/**
 * What a person has looked at and judged. A field of a newer Kubernetes is not here, and the test that fails asks whether it can name a
 * Secret or reach into the sidecar.
 */

/** Text fields of a PodSpec beside something that is called a secret, which name none. */
export const NO_REFERENCES: readonly RegExp[] = [
  /\.key$/,
  /\.items\[\]\.(key|path)$/,
  // Below a type named for a secret, but of the driver.
  /^volumes\[\]\.cephfs\.secretFile$/,
  // Objects of other kinds.
  /^volumes\[\]\.ephemeral\.volumeClaimTemplate\./,
  /^volumes\[\]\.scaleIO\.volumeName$/,
  /^volumes\[\]\.storageos\.volumeName$/,
  /configMap(Key)?Ref\.name$/,
  // Labels of certificates and signers.
  /\.clusterTrustBundle\.labelSelector\./,
  /\.podCertificate\.userAnnotations\{\}$/,
];

const CONTAINER =
  'args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir';

/** Fields by type of the core API, version 1.36. */
export const KNOWN_FIELDS: Readonly<Record<string, string>> = {
  Container: CONTAINER,
  EphemeralContainer: `${CONTAINER} targetContainerName`,
  PodSpec:
    'activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes',
  Volume:
    'awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir ephemeral fc flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi name nfs persistentVolumeClaim photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume',
  VolumeProjection: 'clusterTrustBundle configMap downwardAPI podCertificate secret serviceAccountToken',
  EnvVarSource: 'configMapKeyRef fieldRef fileKeyRef resourceFieldRef secretKeyRef',
  EnvFromSource: 'configMapRef prefix secretRef',
  SecurityContext:
    'allowPrivilegeEscalation appArmorProfile capabilities privileged procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seLinuxOptions seccompProfile windowsOptions',
  PodSecurityContext:
    'appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy seLinuxOptions seccompProfile supplementalGroups supplementalGroupsPolicy sysctls windowsOptions',
};
