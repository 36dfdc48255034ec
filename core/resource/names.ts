/**
 * Names Postern gives to things in Kubernetes: labels, annotations, condition types. One place, because the
 * guards in the API server match them literally.
 */

export const API_GROUP = 'postern.dev';
export const API_VERSION = 'postern.dev/v1alpha1';

/** Secrets and volumes of this prefix are Postern's; only its init container may touch them. */
export const RESERVED_PREFIX = 'postern-';
export const SIDECAR_CONTAINER = 'postern';

export const LABEL = {
  /** On a namespace: the guards and the injection hold here. Any value. */
  enforce: 'postern.dev/enforce',
  /** On a pod: `true` demands the sidecar. */
  inject: 'postern.dev/inject',
  /** On a namespace: `required` lets every session wait for a person. */
  sessionApproval: 'postern.dev/session-approval',
  /** On what the operator makes: the UID of the pod it belongs to. */
  podUid: 'postern.dev/pod-uid',
} as const;

export const ANNOTATION = {
  /** Touched by the operator when a credential was rotated: the kubelet then syncs the volume at once. */
  rotatedAt: 'postern.dev/rotated-at',
  /** Revision of the bundle a pod was injected for; for people. */
  injectedRevision: 'postern.dev/injected-revision',
} as const;

/** Condition types by kind. `status` is from the API's own point of view: Suspended=True is bad news. */
export const CONDITION = {
  ActionContract: ['Accepted', 'Ready', 'Suspended', 'AllFieldsPass', 'PresetWeakened', 'SharedServiceAccount', 'WarningExpiring'],
  CredentialBinding: ['Accepted', 'Ready', 'Suspended', 'PlaintextAllowed', 'NamespaceUnsafe'],
  AgentSession: ['Connected', 'DuplicateSidecar', 'Exposed', 'OnOldRevision'],
  ActionApproval: ['Delivered', 'CardMismatch'],
} as const;

export type ConditionType<Kind extends keyof typeof CONDITION> = (typeof CONDITION)[Kind][number];
