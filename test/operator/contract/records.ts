/** Records as informers make them, from objects written short. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { type Cluster, emptyCluster } from '#operator/kube/cluster.ts';
import {
  bindingRecord,
  contractRecord,
  type KubeObject,
  type PodRecord,
  type SessionRecord,
  sessionRecord,
} from '#operator/kube/records.ts';

let count = 0;

export function metadata(name: string, namespace = 'triage', generation = 1) {
  count += 1;
  return { name, namespace, uid: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`, resourceVersion: String(count), generation };
}

export const CONTRACT = {
  action: 'list_stock',
  summary: 'List stock',
  owner: 'stock-team',
  effect: 'Read',
  callers: [{ serviceAccount: 'bot' }],
  credentials: ['stock'],
  arguments: { type: 'object', additionalProperties: false, properties: {} },
  http: { credential: 'stock', method: 'GET', url: 'https://stock.example.com/items' },
  result: { items: ['/items'], as: 'items', fields: [{ name: 'sku' }] },
  completeness: { paging: { mode: 'SingleResponse' }, scope: { resource: 'stock', visibility: 'all of it', absence: 'Never' } },
};

export const BINDING = {
  owner: 'stock-team',
  secret: { name: 'postern-stock' },
  contracts: ['list-stock'],
  destinations: [{ origin: 'https://stock.example.com', methods: ['GET'], pathPrefixes: ['/items'] }],
  use: { bearer: { key: 'token' } },
};

export type ContractObject = ActionContract & KubeObject;
export type BindingObject = CredentialBinding & KubeObject;

export function contractObject(change: object = {}, name = 'list-stock'): ContractObject {
  const spec = { ...CONTRACT, ...change };
  return { apiVersion: 'postern.dev/v1alpha1', kind: 'ActionContract', metadata: metadata(name), spec } as unknown as ContractObject;
}

export function bindingObject(change: object = {}, name = 'stock'): BindingObject {
  const spec = { ...BINDING, ...change };
  return { apiVersion: 'postern.dev/v1alpha1', kind: 'CredentialBinding', metadata: metadata(name), spec } as unknown as BindingObject;
}

export function clusterOf(objects: readonly (ContractObject | BindingObject)[]): Cluster {
  const cluster = emptyCluster();
  for (const object of objects) {
    if (object.kind === 'ActionContract') cluster.contracts.put(contractRecord(object as ContractObject));
    else cluster.bindings.put(bindingRecord(object as BindingObject));
  }
  return cluster;
}

export function podOf(change: Partial<PodRecord> = {}): PodRecord {
  return {
    ...metadata(`pod-${count}`),
    serviceAccount: 'bot',
    node: 'node-1',
    phase: 'Running',
    deleting: false,
    inject: false,
    hasSidecar: true,
    mirror: false,
    controller: undefined,
    image: 'bot:1',
    imageDigest: undefined,
    mountedSecrets: ['postern-stock'],
    reservedElsewhere: false,
    touched: undefined,
    ...change,
  } as PodRecord;
}

export function sessionOf(status: object, account = 'bot'): SessionRecord {
  const name = `pod-${count}`;
  const spec = {
    pod: { name, uid: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}` },
    serviceAccount: account,
    node: 'n',
    image: 'i',
  };
  return sessionRecord({ metadata: metadata(name), spec, status } as unknown as AgentSession & KubeObject);
}

/** The examples of the language, as they stand in files. */
export function exampleObjects(file: string): readonly (ContractObject | BindingObject)[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const object = document.toJS();
    return { ...object, metadata: { ...metadata(object.metadata.name, object.metadata.namespace ?? 'default') } };
  });
}
