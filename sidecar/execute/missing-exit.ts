/** Why a command has no exit status, as one word for whoever is paged. */
import { PosternError } from '#core/error/postern-error.ts';
import type { SshFailureKind } from '#core/runtime/effect-metrics.ts';
import type { RawOutput } from '#sidecar/decode/decode-output.ts';
import { TransportFailure } from './http/transport.ts';
import { SshFailure } from './ssh/ssh-failure.ts';

/** Undefined where it has one. */
export function missingExit({ exit, fault }: RawOutput): SshFailureKind | undefined {
  if (exit !== undefined) return 'signal' in exit ? 'signal' : undefined;
  return fault === 'tooLarge' ? 'too_large' : 'lost';
}

/** Of a command that gave no output. Undefined for what has nothing to do with a host: a key that is away for a moment, a fault of ours. */
export function missingExitOf(thrown: unknown): SshFailureKind | undefined {
  if (thrown instanceof SshFailure) return thrown.sent && thrown.kind === 'unreachable' ? 'lost' : KINDS[thrown.kind];
  if (thrown instanceof TransportFailure) return KINDS[thrown.kind];
  return thrown instanceof PosternError && thrown.reason === 'CREDENTIAL_INVALID' ? 'denied' : undefined;
}

const KINDS: Readonly<Record<SshFailure['kind'] | TransportFailure['kind'], SshFailureKind>> = {
  unreachable: 'unreachable',
  timedOut: 'timed_out',
  protocol: 'protocol',
  tls: 'protocol',
  egressDenied: 'egress',
  hostKey: 'host_key',
};
