/** The settings of a sidecar, checked; defaults are stated by the command line (`postern sidecar --help`). */
import type { StoreAddress } from '#core/audit/store-address.ts';

export interface SidecarSettings {
  /** Of this program, for the metric `postern_build_info`. */
  readonly version: string;
  /** Folder with one folder a Secret and one file a key. */
  readonly credentials: string;
  readonly host: string;
  /** 0 takes a free one; the log line `serving` names it. */
  readonly port: number;
  /** Metrics and probes, on a port of their own. */
  readonly adminHost: string;
  readonly adminPort: number;
  /** Folder for the sidecar's own keys; without it cursors and evidence end with the process. */
  readonly state?: string;
  /** Path of the unix socket at which people decide; only without an operator, and only with `state`. */
  readonly approvals?: string;
  /** Where files are served: who can read what is recorded, and where it goes. Absent: nothing is recorded. */
  readonly audit?: AuditSettings;
  /** Folder of the chain of the audit; with an operator, which says the rest. */
  readonly auditFolder?: string;
  readonly allowLoopback: boolean;
  readonly logLevel: LogLevel;
}

export interface AuditSettings {
  /** `age1...`; at least one. */
  readonly recipients: readonly string[];
  /** Of the key that answers for the keys of epochs; made where there is none. */
  readonly keyFile: string;
  readonly store: StoreAddress;
  /** Where credentials of an S3 store are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
