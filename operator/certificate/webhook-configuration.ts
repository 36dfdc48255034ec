/** The fields of the two webhook configurations that are read or written here. The rest is the chart's. */

import { visibleText } from '#core/encoding/visible-text.ts';
import { AUTHORITY } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { KubeObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';

export interface WebhookConfiguration extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly managedFields?: readonly ManagedFields[] };
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly caBundle?: string } }[];
}

interface ManagedFields {
  readonly manager?: string;
  readonly fieldsV1?: unknown;
}

export const WEBHOOK_KINDS = [KINDS.mutatingWebhooks, KINDS.validatingWebhooks] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/** Null when the chart is not installed, or being removed. Throws KubeError. */
export function readConfiguration(client: KubeClient, kind: WebhookKind): Promise<WebhookConfiguration | null> {
  return client.get<WebhookConfiguration>(kind, { name: AUTHORITY.webhooks });
}

/** PEM of each webhook, empty where there is none. */
export function bundlesIn({ webhooks = [] }: WebhookConfiguration): readonly string[] {
  return webhooks.map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8'));
}

/** Names of the managers that own a `caBundle` and are not `except`: who wrote it. */
export function bundleOwners({ metadata }: WebhookConfiguration, except: string): readonly string[] {
  const others = (metadata.managedFields ?? []).filter(({ manager, fieldsV1 }) => manager !== except && ownsBundle(fieldsV1));
  return [...new Set(others.map(({ manager = 'unknown' }) => visibleText(manager, { chars: 64 })))].sort();
}

function ownsBundle(fields: unknown): boolean {
  if (typeof fields !== 'object' || fields === null) return false;
  return Object.entries(fields).some(([name, below]) => name === 'f:caBundle' || ownsBundle(below));
}
