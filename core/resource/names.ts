/** Names Postern gives to things in Kubernetes. One place, because the guards in the API server match them literally. */

export const API_VERSION = 'postern.dev/v1alpha1';

/** Condition types by kind. `status` is from the API's own point of view: Suspended=True is bad news. */
export const CONDITION = {
  ActionContract: ['Accepted', 'Ready', 'Suspended', 'AllFieldsPass', 'PresetWeakened', 'SharedServiceAccount', 'WarningExpiring'],
  CredentialBinding: ['Accepted', 'Ready', 'Suspended', 'PlaintextAllowed', 'NamespaceUnsafe'],
  AgentSession: ['Connected', 'DuplicateSidecar', 'Exposed', 'OnOldRevision'],
  ActionApproval: ['Delivered', 'CardMismatch'],
} as const;
