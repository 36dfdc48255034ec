/**
 * What the operator keeps of each object it watches: not the object, which is large and full of other people's fields (failure case
 * OPR-19), but what its decisions need. Specs stay JSON text: a tenth of the memory, and what a bundle sends.
 */
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { ANNOTATION, LABEL, RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { secretKeysOf } from '#core/resource/secret-keys.ts';
import type { Identified } from './cache.ts';

/** The parts of `metadata` that are read here. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

type StatusOf<T extends { status?: unknown }> = NonNullable<T['status']>;

export interface ContractRecord extends Identified {
  readonly generation: number;
  readonly specJson: string;
  /** ServiceAccounts that may call, as written. */
  readonly callers: readonly string[];
  /** Bindings it lists. */
  readonly credentials: readonly string[];
  readonly status: StatusOf<ActionContract> | undefined;
}

export interface BindingRecord extends Identified {
  readonly generation: number;
  readonly specJson: string;
  readonly secret: string;
  readonly secretRevision: string | undefined;
  /** When somebody last said that the Secret has a new value, by annotation. */
  readonly rotateRequested: string | undefined;
  /** What the watcher last saw of the Secret, by annotation. */
  readonly secretVersion: string | undefined;
  /** Contracts it lists. */
  readonly contracts: readonly string[];
  /** Every key of the Secret that the spec names, sorted. */
  readonly keys: readonly string[];
  readonly status: StatusOf<CredentialBinding> | undefined;
}

export interface SessionRecord extends Identified {
  readonly spec: AgentSession['spec'];
  readonly status: StatusOf<AgentSession> | undefined;
  readonly createdMs: number;
}

type ApprovalSpec = ActionApproval['spec'];

export interface ApprovalRecord extends Identified {
  /** Without the texts of its cards, which are most of it, and without what only an admission reads, from the API server itself. */
  readonly spec: Omit<ApprovalSpec, 'card' | 'alternatives' | 'planDigest' | 'grant'>;
  /** First line of the card, sanitized by whoever rendered it; empty once it has ended. */
  readonly sentence: string;
  readonly status: StatusOf<ActionApproval> | undefined;
  readonly createdMs: number;
}

export interface NamespaceRecord extends Identified {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly enforced: boolean;
  readonly sessionApproval: boolean;
}

export interface AccountRecord extends Identified {
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PodRecord extends Identified {
  readonly serviceAccount: string;
  readonly node: string | undefined;
  readonly phase: string;
  readonly deleting: boolean;
  /** Asked for by label. */
  readonly inject: boolean;
  /** An init container of the sidecar's name; whether it is ours is for the guard to say. */
  readonly hasSidecar: boolean;
  /** Made from a file on the node: nothing can be done about it (failure case INJ-19). */
  readonly mirror: boolean;
  readonly controller: OwnerReference | undefined;
  /** First container: the agent. */
  readonly image: string;
  /** `sha256:...` once it has started. */
  readonly imageDigest: string | undefined;
  /** Secrets in the sidecar's volume, sorted: what this pod can use without being made anew. */
  readonly mountedSecrets: readonly string[];
  /** Names a reserved Secret anywhere else: a pod older than the guards, which refuse that. */
  readonly reservedElsewhere: boolean;
  readonly touched: string | undefined;
}

export function contractRecord(object: ActionContract & KubeObject): ContractRecord {
  const { spec } = object;
  return {
    ...identityOf(object),
    generation: object.metadata.generation ?? 0,
    specJson: JSON.stringify(spec),
    callers: (spec.callers ?? []).map(({ serviceAccount }) => serviceAccount),
    credentials: spec.credentials ?? [],
    status: withoutDefaults(object.status),
  };
}

/** They follow from spec and release, and of 10,000 contracts they would be the largest thing in memory. */
function withoutDefaults(status: ActionContract['status']): ContractRecord['status'] {
  if (status === undefined) return undefined;
  const { defaults: _, ...kept } = status;
  return kept;
}

export function bindingRecord(object: CredentialBinding & KubeObject): BindingRecord {
  const { spec } = object;
  return {
    ...identityOf(object),
    generation: object.metadata.generation ?? 0,
    specJson: JSON.stringify(spec),
    secret: spec.secret.name,
    secretRevision: spec.secret.revision,
    rotateRequested: object.metadata.annotations?.[ANNOTATION.rotateRequested],
    secretVersion: object.metadata.annotations?.[ANNOTATION.secretVersion],
    contracts: spec.contracts,
    keys: secretKeysOf(spec).map(({ key }) => key),
    status: object.status,
  };
}

export function sessionRecord(object: AgentSession & KubeObject): SessionRecord {
  const createdMs = Date.parse(object.metadata.creationTimestamp ?? '');
  return { ...identityOf(object), spec: object.spec, status: object.status, createdMs: Number.isNaN(createdMs) ? 0 : createdMs };
}

export function approvalRecord(object: ActionApproval & KubeObject): ApprovalRecord {
  const { card, alternatives: _, planDigest: __, grant: ___, ...spec } = object.spec;
  const ended = object.status?.conditions?.some(({ type, status }) => type === 'Usable' && status === 'False') ?? false;
  const createdMs = Date.parse(object.metadata.creationTimestamp ?? '');
  return {
    ...identityOf(object),
    spec,
    sentence: ended ? '' : copied((card.split('\n', 1)[0] ?? '').slice(0, SENTENCE_CHARS_MAX)),
    status: object.status,
    createdMs: Number.isNaN(createdMs) ? 0 : createdMs,
  };
}

/** A part of a string is a window on the whole of it in V8, and would keep every card in memory. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}

/** What is told of a card in one line. */
const SENTENCE_CHARS_MAX = 500;

export function namespaceRecord(object: KubeObject): NamespaceRecord {
  const { labels = {}, annotations = {} } = object.metadata;
  return {
    ...identityOf(object),
    labels,
    annotations,
    enforced: LABEL.enforce in labels,
    sessionApproval: labels[LABEL.sessionApproval] === 'required',
  };
}

export function accountRecord(object: KubeObject): AccountRecord {
  return { ...identityOf(object), annotations: object.metadata.annotations ?? {} };
}

/** The fields of a pod that are read here. */
export interface PodObject extends KubeObject {
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly image?: string }[];
    readonly initContainers?: readonly { readonly name: string }[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly projected?: { readonly sources?: readonly { readonly secret?: { readonly name?: string } }[] };
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly { readonly name: string; readonly imageID?: string }[];
  };
}

export function podRecord(object: PodObject): PodRecord {
  const { spec, status, metadata } = object;
  const agent = spec.containers[0];
  return {
    ...identityOf(object),
    serviceAccount: spec.serviceAccountName ?? 'default',
    node: spec.nodeName,
    phase: status?.phase ?? 'Pending',
    deleting: metadata.deletionTimestamp !== undefined,
    inject: metadata.labels?.[LABEL.inject] === 'true',
    hasSidecar: (spec.initContainers ?? []).some(({ name }) => name === SIDECAR.container),
    mirror: metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined,
    controller: (metadata.ownerReferences ?? []).find(({ controller }) => controller === true),
    image: agent?.image ?? '',
    imageDigest: digestIn(status?.containerStatuses?.find(({ name }) => name === agent?.name)?.imageID),
    mountedSecrets: mountedSecretsOf(object),
    reservedElsewhere: namesReserved(elsewhere(spec), false),
    touched: metadata.annotations?.[ANNOTATION.credentialsTouched],
  };
}

function mountedSecretsOf({ spec }: PodObject): readonly string[] {
  const volume = (spec.volumes ?? []).find(({ name }) => name === SIDECAR.credentialsVolume);
  const names = (volume?.projected?.sources ?? []).map(({ secret }) => secret?.name ?? '');
  return names.filter((name) => name.startsWith(RESERVED_PREFIX)).sort();
}

/** All but the sidecar's own volume. */
function elsewhere(spec: PodObject['spec']): object {
  return { ...spec, volumes: (spec.volumes ?? []).filter(({ name }) => name !== SIDECAR.credentialsVolume) };
}

/** Whether a reserved name stands as the value of a field below one that speaks of Secrets; the guards have the exact table. */
function namesReserved(value: unknown, ofSecret: boolean): boolean {
  if (typeof value === 'string') return ofSecret && value.startsWith(RESERVED_PREFIX);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([field, held]) => namesReserved(held, ofSecret || /secret/i.test(field)));
}

/** `registry/image@sha256:...`, or `sha256:...` for an image that was imported. */
function digestIn(imageId: string | undefined): string | undefined {
  return /sha256:[0-9a-f]{64}$/.exec(imageId ?? '')?.[0];
}

function identityOf({ metadata }: KubeObject): Identified {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
  };
}
