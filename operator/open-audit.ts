/** The audit of a replica, from its settings: terms, the store and whether it may be used, the key that answers for chains. */

import { StoreFault } from '#core/audit/object-store.ts';
import { createFrameSealer, RecipientUnusable } from '#core/audit/seal.ts';
import type { SigningKey } from '#core/audit/signed-note.ts';
import type { S3Address } from '#core/audit/store-address.ts';
import { parseStoreAddress, StoreAddressUnusable } from '#core/audit/store-address.ts';
import type { Clock } from '#core/bounds/clock.ts';
import type { Log } from '#core/runtime/log.ts';
import { STORE_WARNINGS } from '#core/runtime/open-store.ts';
import type { OperatorMetrics } from '#core/runtime/operator-metrics.ts';
import type { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import type { AuditOptions } from '#operator/control/audit-means.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { auditAuthority } from '#operator/witness/authority.ts';
import { HeadsObjects } from '#operator/witness/heads-objects.ts';
import { STORE_CURES, StoreWatch } from '#operator/witness/store-watch.ts';
import { logFields } from './log-fields.ts';
import type { OperatorSettings } from './settings.ts';
import { StartRefused } from './start-refused.ts';

export interface OpenAudit {
  readonly options: AuditOptions;
  /** For one term of a leader; undefined without a store. */
  headsObjects(): HeadsObjects | undefined;
  /** Unix time in milliseconds of the last heads object of this replica. */
  readonly headsWrittenMs: number | undefined;
  /** Tries the store from time to time, until the signal. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface AuditMaterial {
  readonly settings: OperatorSettings;
  readonly cluster: Cluster;
  readonly certificates: ServingCertificates;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: OperatorMetrics;
  /** Of the process: credentials of the store. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Throws StartRefused for recipients nobody can be sealed to, and for a store that cannot be meant. */
export async function openAudit(material: AuditMaterial): Promise<OpenAudit> {
  const { settings, cluster, certificates, clock, log, metrics } = material;
  const recipients = recipientsOf(settings.auditRecipients);
  const watch = recipients.length === 0 ? undefined : await watchOf(material);
  const authority = authorityOf(certificates, settings.cluster);
  let headsWrittenMs: number | undefined;
  return {
    options: {
      clock,
      cluster: settings.cluster,
      terms: { recipients, effects: settings.auditMode },
      watch,
      authority,
      observer: {
        conflict: (session, kind, known, shown) => {
          metrics.headConflict(kind);
          const fields = { namespace: session.namespace, session: session.name, reason: kind, head_known: known, head_shown: shown };
          log.error('the log of a sidecar does not fit its witnessed head; look at the pod and revoke the session', fields);
        },
        refused: (what, because) => metrics.auditRefused(what, because.replaceAll('-', '_')),
        kept: (bytes) => metrics.intentKept(bytes),
        stored: (bytes) => metrics.segmentStored(bytes),
        failed: (session, error) =>
          log.error('a question about the audit could not be answered', logFields(`${session.namespace}/${session.name}`), error),
      },
    },
    headsObjects() {
      if (watch === undefined) return undefined;
      return new HeadsObjects({
        watch,
        clock,
        cluster: settings.cluster,
        authority,
        sessions: () => cluster.sessions.values(),
        onObject: (outcome, heads, error) => {
          metrics.headsObject(outcome);
          if (outcome === 'written') headsWrittenMs = clock.wallMs();
          else log.warn('the heads of the audit could not be stored; they are tried again in a minute', { count: heads }, error);
        },
      });
    },
    get headsWrittenMs() {
      return headsWrittenMs;
    },
    run: async (signal) => watch?.run(signal),
    close: async () => watch?.store[Symbol.asyncDispose](),
  };
}

function recipientsOf(text: string): readonly string[] {
  const recipients = text === '' ? [] : text.split(',');
  try {
    if (recipients.length > 0) createFrameSealer(recipients);
    return recipients;
  } catch (error) {
    if (!(error instanceof RecipientUnusable)) throw error;
    throw new StartRefused(error.message, 'Mend audit.recipients of the chart.', error);
  }
}

async function watchOf({ settings, clock, log, env }: AuditMaterial): Promise<StoreWatch | undefined> {
  const { auditStore: url, auditRetention: retention } = settings;
  if (url === '') return undefined;
  try {
    const address = addressOf(retention === '' ? url : `${url}${url.includes('?') ? '&' : '?'}retention=${retention}`);
    // Loaded only where a store is used: it is larger than the rest of the operator.
    const { createS3Objects } = await import('#core/runtime/s3-objects.ts');
    return new StoreWatch({
      store: createS3Objects(address, { clock, env }),
      clock,
      onState: (state, warnings, fault) => {
        if (state === 'safe') log.info('the store of the audit may be used', { reason: state });
        else log.error(STORE_CURES[state].replace(/\.$/, ''), { reason: state }, fault);
        for (const warning of warnings) log.warn(STORE_WARNINGS[warning].replace(/\.$/, ''), { reason: warning });
      },
    });
  } catch (error) {
    if (!(error instanceof StoreAddressUnusable || error instanceof StoreFault)) throw error;
    throw new StartRefused(error.message, 'Mend audit.store of the chart.', error);
  }
}

function addressOf(text: string): S3Address {
  const address = parseStoreAddress(text);
  // A pod's folder outlives no pod, and nobody can put into it by a link.
  if (address.kind !== 's3') throw new StoreAddressUnusable('In a cluster the store is s3://BUCKET/PREFIX.');
  return address;
}

/** Made once for each CA: it is asked for with every head. */
function authorityOf(certificates: ServingCertificates, cluster: string): () => SigningKey {
  let made: { readonly from: string; readonly key: SigningKey } | undefined;
  return () => {
    const from = certificates.authorityKey;
    if (made?.from !== from) made = { from, key: auditAuthority(from, cluster) };
    return made.key;
  };
}
