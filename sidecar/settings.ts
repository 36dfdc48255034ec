/** The settings of a sidecar, checked; defaults are stated by the command line (`postern sidecar --help`). */
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
  readonly allowLoopback: boolean;
  readonly logLevel: LogLevel;
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
