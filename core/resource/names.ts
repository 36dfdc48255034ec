/** Names Postern gives to things in Kubernetes. One place, because the guards in the API server match them literally. */

export const GROUP = 'postern.dev';
export const API_VERSION = 'postern.dev/v1alpha1';

export const LABEL = {
  /** On a namespace, with any value: its pods are guarded. */
  enforce: 'postern.dev/enforce',
  /** On a pod, `true`: it must have the sidecar, whoever its ServiceAccount is. */
  inject: 'postern.dev/inject',
  /** On a namespace, `required`: a session waits until a person admits it. */
  sessionApproval: 'postern.dev/session-approval',
} as const;

export const ANNOTATION = {
  /** On a pod: a size class of the sidecar, see operator/settings.ts. */
  size: 'postern.dev/sidecar-size',
  /** On a pod, written by the operator alone: touched so that the kubelet mounts a new value at once. */
  credentialsTouched: 'postern.dev/credentials-touched',
  /** On a binding: its Secret has a new value since this time (RFC 3339). Written by `kubectl postern rotate`. */
  rotateRequested: 'postern.dev/rotate-requested',
  /** On a binding, written by the watcher alone: UID and version of its Secret. */
  secretVersion: 'postern.dev/secret-version',
  /** On a pod, for people: why it was or was not injected. Proves nothing (failure case INJ-16). */
  injection: 'postern.dev/injection',
} as const;

/** Prefix of everything in a pod that only the sidecar may touch: names of Secrets and of volumes. */
export const RESERVED_PREFIX = 'postern-';
/** Prefix of token audiences that only the sidecar may ask for. */
export const RESERVED_AUDIENCE_PREFIX = 'postern';

/** The sidecar inside a pod. */
export const SIDECAR = {
  container: 'postern',
  credentialsVolume: 'postern-credentials',
  credentialsPath: '/var/run/postern/credentials',
  identityVolume: 'postern-identity',
  identityPath: '/var/run/postern/identity',
  tokenFile: 'token',
  stateVolume: 'postern-state',
  statePath: '/var/run/postern/state',
  auditVolume: 'postern-audit',
  auditPath: '/var/run/postern/audit',
  audience: 'postern-control',
  callPort: 7717,
  adminPort: 7718,
} as const;

/** Ports of the operator. */
export const OPERATOR = { controlPort: 7720, webhookPort: 7743, adminPort: 7718 } as const;

/** The operator's own CA, and what trusts it. */
export const AUTHORITY = {
  /** Secret in the operator's namespace; `postern authority` alone writes it, the kubelet mounts it. */
  secret: 'postern-authority',
  /** On that Secret: when its last stage of a rotation was reached, RFC 3339. */
  stageSince: 'postern.dev/authority-stage-since',
  /** Both webhook configurations of the chart, one of each kind: whoever has two Posterns has two owners of one guard. */
  webhooks: 'postern',
} as const;

/**
 * TLS server name by which a sidecar says which CA key it pins, so that a replica can serve pods of both during a rotation.
 * `pin` is `sha256:<64 hex digits>`; 32 of them fit a DNS label and are no secret.
 */
export function pinServerName(pin: string): string {
  return `ca-${pin.slice('sha256:'.length, 'sha256:'.length + 32)}.postern.invalid`;
}

/** Verbs of ours on our kinds, granted by RBAC. */
export const VERB = {
  /** On a CredentialBinding: to write a contract with it. */
  use: 'use',
  /** On an ActionContract: to decide an approval of it. */
  approve: 'approve',
  /** On an AgentSession: to admit it where the namespace asks for it, or to lift a suspension. */
  admit: 'admit',
} as const;

/** Who wrote which fields, for server-side apply. */
export const FIELD_MANAGER = { operator: 'postern-operator', cli: 'kubectl-postern' } as const;

/** Reasons of the condition DuplicateSidecar when it is True: an admission lifts only what was before it. */
export const DUPLICATE_SIDECAR = { beforeAdmission: 'SecondInstance', afterAdmission: 'SecondInstanceAfterAdmission' } as const;

/** Condition types by kind. `status` is from the API's own point of view: Suspended=True is bad news. */
export const CONDITION = {
  ActionContract: [
    'Accepted',
    'Ready',
    'Suspended',
    'AllFieldsPass',
    'PresetWeakened',
    'SharedServiceAccount',
    'CallersRefused',
    'WarningExpiring',
  ],
  CredentialBinding: ['Accepted', 'Ready', 'Suspended', 'PlaintextAllowed', 'NamespaceUnsafe', 'RollNeeded', 'CallersRefused'],
  AgentSession: ['Connected', 'DuplicateSidecar', 'Exposed', 'OnOldRevision', 'BundleTooLarge', 'Audited', 'AuditBroken'],
  ActionApproval: ['Usable'],
} as const;
