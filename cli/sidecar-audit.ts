/** The flags of `postern sidecar` that say who can read what is recorded, and where it is kept. */
import { resolve } from 'node:path';
import { parseStoreAddress, StoreAddressUnusable } from '#core/audit/store-address.ts';
import { limits } from '#core/bounds/limits.ts';
import type { AuditSettings, SidecarSettings } from '#sidecar/settings.ts';
import { UsageError } from './report-failure.ts';

export interface AuditOptions {
  readonly auditRecipient?: readonly string[];
  readonly audit?: string;
  readonly auditKey?: string;
  readonly auditStore?: string;
  readonly state?: string;
  readonly control?: unknown;
}

/** One value more of a flag that may be given often. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Throws UsageError. */
export function checkAudit({ auditRecipient, audit, auditKey, auditStore, state, control }: AuditOptions): void {
  const own = auditRecipient ?? auditKey ?? auditStore;
  if (control !== undefined) {
    if (own !== undefined)
      throw new UsageError(
        '--audit-recipient, --audit-key and --audit-store are for a sidecar without an operator',
        'With --control the operator says who can read what is recorded and where it goes; drop them.',
      );
    return;
  }
  if (auditRecipient === undefined && (auditKey ?? auditStore ?? audit) !== undefined)
    throw new UsageError('an audit needs somebody who can read it', 'Name a recipient with --audit-recipient, as age-keygen prints it.');
  if (auditRecipient !== undefined && state === undefined)
    throw new UsageError('--audit-recipient needs --state', 'Name a folder of its own: the chain goes on where it ended.');
  if ((auditRecipient?.length ?? 0) > limits.auditRecipientsMax)
    throw new UsageError(`there are more than ${limits.auditRecipientsMax} recipients`, 'Name fewer; a group can share an identity.');
}

/** Throws UsageError for an address of a store that cannot be read. */
export function auditSettings(
  { auditRecipient, audit, auditKey, auditStore, state }: AuditOptions,
  env: AuditSettings['env'],
): Pick<SidecarSettings, 'audit' | 'auditFolder'> {
  const folder = audit === undefined ? {} : { auditFolder: audit };
  if (auditRecipient === undefined || state === undefined) return folder;
  return {
    ...folder,
    audit: {
      recipients: [...new Set(auditRecipient)],
      keyFile: auditKey ?? `${state}/audit-key`,
      store: auditStore === undefined ? { kind: 'file', folder: resolve(state, 'audit-archive') } : storeOf(auditStore),
      env,
    },
  };
}

function storeOf(text: string): AuditSettings['store'] {
  try {
    return parseStoreAddress(text);
  } catch (fault) {
    if (!(fault instanceof StoreAddressUnusable)) throw fault;
    throw new UsageError(`--audit-store: ${fault.message}`, 'Write file:///DIR or s3://BUCKET/PREFIX?region=..&endpoint=..');
  }
}
