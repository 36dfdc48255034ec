/** How the operator ends streams of its own accord. */
import { ControlRefusal } from '#core/wire/control-refusal.ts';

export function replaced(): ControlRefusal {
  return new ControlRefusal('STREAM_REPLACED', 'This sidecar has a newer stream.');
}

export function sessionEnded(): ControlRefusal {
  return new ControlRefusal('SESSION_ENDED', 'The session has ended with its pod.');
}
