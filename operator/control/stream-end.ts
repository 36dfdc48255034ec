/** How the operator ends streams of its own accord. */
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import { KubeError } from '#operator/kube/kube-error.ts';

export function replaced(): ControlRefusal {
  return new ControlRefusal('STREAM_REPLACED', 'This sidecar has a newer stream.');
}

export function sessionEnded(): ControlRefusal {
  return new ControlRefusal('SESSION_ENDED', 'The session has ended with its pod.');
}

/** What the API server could not answer now, it may answer later, and perhaps another replica. */
export function refusalOf(thrown: unknown): unknown {
  return thrown instanceof KubeError
    ? new ControlRefusal('NOT_READY', 'The session could not be read or written; connect again.', { cause: thrown })
    : thrown;
}
