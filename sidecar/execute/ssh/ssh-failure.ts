/** Why a command was not run, or nothing is known of it. */
import type { NoReply } from '#core/completeness/exchange.ts';

export class SshFailure extends Error {
  readonly kind: Extract<NoReply['cause'], 'unreachable' | 'timedOut' | 'protocol' | 'hostKey'>;
  /** Whether the host may have got the command. */
  readonly sent: boolean;

  constructor(kind: SshFailure['kind'], sent: boolean, cause?: unknown) {
    super(`no command: ${kind}`, cause === undefined ? undefined : { cause });
    this.name = 'SshFailure';
    this.kind = kind;
    this.sent = sent;
  }
}

/** A host that is not the one its binding pins. Fingerprints are `SHA256:` and 43 characters, as OpenSSH writes them. */
export interface HostKeyMismatch {
  /** Canonical origin. */
  readonly origin: string;
  readonly shown: string;
  readonly pinned: readonly string[];
}
