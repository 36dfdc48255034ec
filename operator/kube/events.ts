/**
 * Events: what a person sees below `kubectl describe`. Plain words about an object, never values of arguments or Secrets.
 *
 * Telling is best effort and never waited for: an Event that cannot be written is counted, and what it says also stands in a
 * condition. The same Event again is a count in the first one; a noisy object uses up its own allowance only.
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { randomText } from '#core/encoding/random.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { microTime } from './micro-time.ts';
import { apiVersionOf, KINDS, type ResourceKind } from './resource-kind.ts';

export interface Told {
  readonly kind: ResourceKind;
  /** Empty for kinds without one. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Telling {
  readonly type: 'Normal' | 'Warning';
  /** UpperCamel, as in conditions. */
  readonly reason: string;
  /** What was done or tried, UpperCamel: `Reconcile`. */
  readonly action: string;
  /** A sentence; sanitized and cut here. */
  readonly note: string;
}

export interface EventTellerOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  /** Name of this replica. */
  readonly replica: string;
  readonly clock?: Clock;
}

interface Known {
  readonly name: string;
  readonly namespace: string;
  readonly firstMs: number;
  writtenMs: number;
  count: number;
}

interface Allowance {
  left: number;
  refilledMs: number;
  readonly known: Map<string, Known>;
}

export class EventTeller {
  readonly #client: EventTellerOptions['client'];
  readonly #replica: string;
  readonly #clock: Clock;
  /** By UID, the one that told last at the end. */
  readonly #objects = new Map<string, Allowance>();
  readonly #writing = new Set<Promise<void>>();
  #dropped = 0;

  constructor({ client, replica, clock = systemClock }: EventTellerOptions) {
    this.#client = client;
    this.#replica = replica;
    this.#clock = clock;
  }

  /** Events that were not written: over the allowance, or refused by the API server. */
  get dropped(): number {
    return this.#dropped;
  }

  tell(about: Told, telling: Telling): void {
    const note = visibleText(telling.note, { chars: limits.eventNoteCharsMax });
    const object = this.#objectOf(about.uid);
    const key = JSON.stringify([telling.type, telling.reason, telling.action, note]);
    const known = object.known.get(key);
    const nowMs = this.#clock.monotonicMs();
    if (known !== undefined && nowMs - known.firstMs < limits.eventRepeatMs) {
      known.count += 1;
      if (nowMs - known.writtenMs < limits.eventSeriesMs) return;
      known.writtenMs = nowMs;
      this.#write(() => this.#repeat(known));
      return;
    }
    if (!this.#allow(object, nowMs)) {
      this.#dropped += 1;
      return;
    }
    const namespace = about.namespace === '' ? 'default' : about.namespace;
    const name = `${about.name.slice(0, 230)}.${randomText('0123456789abcdef', 16)}`;
    object.known.set(key, { name, namespace, firstMs: nowMs, writtenMs: nowMs, count: 1 });
    this.#write(() => this.#client.create<object>(KINDS.events, this.#eventOf(about, { ...telling, note }, { name, namespace })));
  }

  /** Resolves when nothing is being written any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #eventOf({ kind, namespace, name, uid }: Told, { type, reason, action, note }: Telling, metadata: object): object {
    return {
      metadata,
      eventTime: microTime(this.#clock.wallMs()),
      reportingController: 'postern.dev/operator',
      reportingInstance: this.#replica.slice(0, 128),
      type,
      reason,
      action,
      note,
      regarding: { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, ...(namespace !== '' && { namespace }) },
    };
  }

  #repeat({ namespace, name, count }: Known): Promise<unknown> {
    const series = { count, lastObservedTime: microTime(this.#clock.wallMs()) };
    return this.#client.patch<object>(KINDS.events, { namespace, name }, { series });
  }

  #write(write: () => Promise<unknown>): void {
    if (this.#writing.size >= limits.eventsInFlightMax) {
      this.#dropped += 1;
      return;
    }
    const done: Promise<void> = write()
      .then(() => {})
      .catch((error: unknown) => {
        // An Event of a namespace that is being deleted, or one that is over by now, is no loss.
        if (!isKubeError(error, 404)) this.#dropped += 1;
      })
      .finally(() => this.#writing.delete(done));
    this.#writing.add(done);
  }

  #allow(object: Allowance, nowMs: number): boolean {
    const refills = Math.floor((nowMs - object.refilledMs) / limits.eventRefillMs);
    object.left = Math.min(limits.eventBurst, object.left + refills);
    object.refilledMs += refills * limits.eventRefillMs;
    if (object.left === 0) return false;
    object.left -= 1;
    return true;
  }

  #objectOf(uid: string): Allowance {
    const known = this.#objects.get(uid);
    const object = known ?? { left: limits.eventBurst, refilledMs: this.#clock.monotonicMs(), known: new Map<string, Known>() };
    this.#objects.delete(uid);
    this.#objects.set(uid, object);
    for (const [key, { firstMs }] of object.known) {
      if (this.#clock.monotonicMs() - firstMs >= limits.eventRepeatMs) object.known.delete(key);
    }
    const [oldest] = this.#objects.keys();
    if (this.#objects.size > limits.eventObjectsMax && oldest !== undefined) this.#objects.delete(oldest);
    return object;
  }
}
