import type { Clock } from '#core/bounds/clock.ts';

/** Where the API server is and how this process shows who it is. Made by connect.ts, used by api-transport.ts alone. */
export interface ApiAccess {
  /** `https://host:port`, perhaps with a path, without a trailing slash. */
  readonly server: string;
  readonly tls: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
    readonly servername?: string;
    /** False only where a person's kubeconfig says so; the operator's access always checks. */
    readonly rejectUnauthorized: boolean;
  };
  /** HTTP proxy that a person's kubeconfig names. The operator's access has none. */
  readonly proxy?: string;
  /** Namespace of this process or of the person's context. */
  readonly namespace: string;
  /**
   * Headers that identify the caller. MUST look for a newer token when one may have come (failure case OPR-15); with `rejected`,
   * the last headers got 401, and what was remembered MUST be read anew.
   */
  headers(rejected: boolean): Promise<Readonly<Record<string, string>>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface KubeconfigOptions {
  readonly env: Environment;
  /** A file; default `KUBECONFIG` (a list of files), then `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly clock?: Clock;
}

/** What a kubeconfig or the pod's own files lack or may not say; the sentence says what to do. */
export class ConnectError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectError';
  }
}
