/**
 * One stream's hold on its AgentSession. Which sidecar a session belongs to is decided once, by the first that connects, and the API
 * server decides between two that come at the same time to two replicas: every write names the version it was made from, and who comes
 * second looks again.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { FIELD_MANAGER } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { type KubeObject, type SessionRecord, sessionRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { isOlder } from '#operator/kube/watch-frame.ts';
import { notBehind } from './audit-status.ts';
import { conditionOf, connected, disconnected, duplicateSeen, holderIn, type StreamStatus, streamStatusOf } from './session-status.ts';

type Session = AgentSession & KubeObject;

export interface HoldOptions {
  readonly kube: Pick<KubeClient, 'get' | 'apply'>;
  readonly clock: Clock;
  /** Name of this replica. */
  readonly replica: string;
  /** Id of the stream; unique over all replicas. */
  readonly stream: string;
}

/** `lost`: another stream of the same sidecar has it. `gone`: the session was deleted. */
export type HoldWrite = 'written' | 'lost' | 'gone';

/** Manager of the part of the status that streams write; the same in each replica, because a stream moves between them. */
export const STREAM_MANAGER = `${FIELD_MANAGER.operator}-control`;
const TRIES_MAX = 6;

export class SessionHold {
  readonly #options: HoldOptions;
  /** As last seen: its version is what the next write is made from. */
  #seen: SessionRecord;
  #own: StreamStatus = {};
  /** This stream stands in the status as the holder. */
  #written = false;

  constructor(options: HoldOptions, session: SessionRecord) {
    this.#options = options;
    this.#seen = session;
  }

  get session(): SessionRecord {
    return this.#seen;
  }

  get status(): StreamStatus {
    return this.#own;
  }

  /** A newer look at the session, from the cache. */
  look(session: SessionRecord): void {
    if (session.uid === this.#seen.uid && !isOlder(session.resourceVersion, this.#seen.resourceVersion)) this.#seen = session;
  }

  /** Another stream has taken the session from this one. */
  get lost(): boolean {
    const holder = holderIn(this.#seen.status);
    return this.#written && holder !== undefined && holder !== this.#options.stream;
  }

  /**
   * `duplicate`: the session belongs to another sidecar, and now says that a second one came. Throws KubeError.
   * A sidecar that comes back is let in before its status is written: a thousand of them come back together.
   */
  async claim(instance: string, version: string): Promise<'held' | 'duplicate' | 'gone'> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const { instance: recorded } = this.#seen.status ?? {};
      if (recorded !== undefined && recorded !== instance) {
        if (await this.#sayDuplicate()) return 'duplicate';
      } else if (await this.#take(instance, version, recorded !== undefined)) return 'held';
      if (!(await this.#refresh())) return 'gone';
    }
    throw new TypeError('a session changes too fast to be claimed');
  }

  async #take(instance: string, version: string, known: boolean): Promise<boolean> {
    const { clock, stream, replica } = this.#options;
    this.#own = connected({ ...streamStatusOf(this.#seen.status), instance, version }, stream, replica, clock.wallMs());
    if (known) return true;
    this.#written = await this.#apply(this.#own);
    return this.#written;
  }

  async #sayDuplicate(): Promise<boolean> {
    const { status, spec } = this.#seen;
    this.#own = duplicateSeen(streamStatusOf(status), spec.admitted === true, this.#options.clock.wallMs());
    const before = conditionOf(status, 'DuplicateSidecar');
    const said = before?.status === 'True' && before.reason === conditionOf(this.#own, 'DuplicateSidecar')?.reason;
    return said || (await this.#apply(this.#own));
  }

  change(update: (status: StreamStatus, nowMs: number) => StreamStatus): void {
    this.#own = update(this.#own, this.#options.clock.wallMs());
  }

  /** Writes what is now. Throws KubeError. */
  async write(): Promise<HoldWrite> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      if (this.lost) return 'lost';
      this.change((status, nowMs) => notBehind(status, streamStatusOf(this.#seen.status), nowMs));
      if (await this.#apply(this.#withSeenDuplicate())) {
        this.#written = true;
        return 'written';
      }
      if (!(await this.#refresh())) return 'gone';
      if (this.#seen.status?.instance !== undefined && this.#seen.status.instance !== this.#own.instance) return 'lost';
    }
    // Who waits for it must not take it for written; it is tried again.
    throw new TypeError('a session changes too fast to be written');
  }

  /** Says that the stream has ended, unless another one has the session by now. */
  async release(reason: string, message: string): Promise<void> {
    if (!this.#written) return; // who stands in the status is somebody else
    this.change((status, nowMs) => disconnected(status, reason, message, nowMs));
    await this.write();
  }

  /** A second sidecar is seen by whoever it came to; what stands in the object counts, not what was there when this stream began. */
  #withSeenDuplicate(): StreamStatus {
    const duplicate = conditionOf(this.#seen.status, 'DuplicateSidecar');
    const others = (this.#own.conditions ?? []).filter(({ type }) => type !== 'DuplicateSidecar');
    return { ...this.#own, conditions: duplicate === undefined ? others : [...others, duplicate] };
  }

  /** False when the session changed since it was seen, or is gone. */
  async #apply(status: StreamStatus): Promise<boolean> {
    const { namespace, name, uid, resourceVersion } = this.#seen;
    const metadata = { namespace, name, uid, resourceVersion };
    try {
      const options = { manager: STREAM_MANAGER, force: true, subresource: 'status' };
      this.#seen = sessionRecord(
        await this.#options.kube.apply<Session>(KINDS.sessions, { metadata, status } as Partial<Session> & { metadata: object }, options),
      );
      return true;
    } catch (error) {
      if (isKubeError(error, 409) || isKubeError(error, 404)) return false;
      throw error;
    }
  }

  async #refresh(): Promise<boolean> {
    const { namespace, name, uid } = this.#seen;
    const object = await this.#options.kube.get<Session>(KINDS.sessions, { namespace, name });
    if (object === null || object.metadata.uid !== uid) return false;
    this.#seen = sessionRecord(object);
    return true;
  }
}
