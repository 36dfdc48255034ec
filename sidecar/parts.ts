/** What a sidecar is built of, whoever says what it serves: how remotes are reached, and who hears of that. */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import type { Log } from '#core/runtime/log.ts';
import { type RemoteOutcome, SidecarMetrics } from '#core/runtime/metrics.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import type { RemotesMeans } from '#sidecar/execute/open-remotes.ts';
import { SessionEvents } from '#sidecar/session-events.ts';
import type { SidecarSettings } from '#sidecar/settings.ts';

export interface Parts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SidecarMetrics;
  readonly destinations: Destinations;
  readonly store: CredentialStore;
  readonly remotes: RemotesMeans;
  readonly events: SessionEvents;
}

export function partsOf(settings: SidecarSettings, log: Log): Parts {
  const clock = systemClock;
  const metrics = new SidecarMetrics(clock, settings.version);
  const destinations = new Destinations({ allowLoopback: settings.allowLoopback });
  const store = new CredentialStore({
    directory: settings.credentials,
    clock,
    onRead: (secret, outcome) => {
      metrics.credentialRead(secret, outcome);
      if (outcome === 'unreadable') log.warn('a credential cannot be read', { object: secret });
    },
  });
  const remotes: RemotesMeans = {
    store,
    destinations,
    clock,
    onAnomaly: (binding) => {
      metrics.credentialGuessed();
      log.warn('a caller sent a credential as an argument', { binding });
    },
    onHostKeyMismatch: (action, { origin, shown, pinned }) =>
      log.error('a host shows another key than the pinned one', {
        action,
        host: origin,
        host_key_shown: shown,
        host_key_pinned: pinned.join(','),
      }),
    onForeignChannel: (action) => {
      metrics.effects.sshChannelRefused(action);
      log.warn('a host asked to open a channel of its own, which was refused', { action });
    },
    onMissingExit: (action, kind) => metrics.effects.sshFailed(action, kind),
    onFault: (action, cause, thrown) => log.warn('no usable answer from the remote', { action, reason: cause }, thrown),
    onExchange: (action, status, durationMs, bytes) => metrics.remoteAnswered(action, statusClass(status), durationMs, bytes),
  };
  return { clock, log, metrics, destinations, store, remotes, events: new SessionEvents() };
}

/** `0`: no reply came. */
function statusClass(status: number): RemoteOutcome {
  const classes = ['no_reply', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
  return classes[Math.floor(status / 100)] ?? '5xx';
}
