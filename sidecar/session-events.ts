/** What becomes of a session, for its record: told in order, and kept, bounded, until somebody listens. */
import type { SessionRecord } from '#core/audit/record.ts';
import type { Bundle } from '#sidecar/call/bundle.ts';

export type SessionEvent = Extract<SessionRecord, { event: 'bundle' | 'state' }>;

export class SessionEvents {
  #listener: ((event: SessionEvent) => void) | undefined;
  #kept: SessionEvent[] = [];
  readonly #last = new Map<SessionEvent['event'], SessionEvent>();

  tell(event: SessionEvent): void {
    this.#last.set(event.event, event);
    if (this.#listener !== undefined) this.#listener(event);
    else if (this.#kept.push(event) > KEPT_MAX) this.#kept.shift();
  }

  listen(listener: (event: SessionEvent) => void): void {
    this.#listener = listener;
    for (const event of this.#kept) listener(event);
    this.#kept = [];
  }

  /** What is so now. */
  tellAgain(): void {
    for (const event of this.#last.values()) this.#listener?.(event);
  }
}

/** Before the first listener there are a kept bundle and a kept state. */
const KEPT_MAX = 16;

/** `revision`: of the bundle as the operator named it. */
export function bundleEvent(bundle: Bundle, revision?: string): SessionEvent {
  return {
    record: 'session',
    event: 'bundle',
    ...(revision === undefined ? {} : { bundle_revision: revision }),
    contracts: bundle.actions().map(({ contract: { name, action, revision: of } }) => ({ contract: name, action, revision: of })),
  };
}
