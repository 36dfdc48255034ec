/**
 * Heads in the store, where they outlive the cluster: once a minute one object, written by the leader and signed by the authority, with the
 * head of each chain that moved since the one before. Each names the one before by name and digest, so that one that is taken out is missed.
 *
 * Two leaders for a moment write two objects after the same one. Both are true, and a verifier takes every head of every object.
 */
import { hash } from 'node:crypto';
import { headsObject, isObjectName } from '#core/audit/object-name.ts';
import { StoreFault } from '#core/audit/object-store.ts';
import { type SigningKey, signNote } from '#core/audit/signed-note.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { chainOrigin } from './authority.ts';
import { parseHashText } from './heads.ts';
import type { StoreWatch } from './store-watch.ts';

export interface HeadsObjectsOptions {
  readonly watch: StoreWatch;
  readonly clock: Clock;
  readonly cluster: string;
  authority(): SigningKey;
  /** As the caches have them now. */
  sessions(): Iterable<SessionRecord>;
  /** MUST not throw. `failed`: tried again in a minute, with what moved until then. */
  onObject?(outcome: 'written' | 'failed', heads: number, error?: unknown): void;
}

interface Line {
  readonly origin: string;
  readonly text: string;
}

const HEADS = 'postern.dev/audit-heads/v1';

export class HeadsObjects {
  readonly #options: HeadsObjectsOptions;
  /** What the objects of this term say, by origin. */
  readonly #told = new Map<string, string>();
  /** `<name> <hash>` of the object before, or `-`; undefined until the store was asked. */
  #before: string | undefined;

  constructor(options: HeadsObjectsOptions) {
    this.#options = options;
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(limits.auditHeadsObjectMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.write();
    }
  }

  /** One object, if a head moved. Never rejects. */
  async write(): Promise<void> {
    const lines = this.#moved();
    try {
      if (lines.length === 0 || this.#options.watch.state !== 'safe') return;
      this.#before ??= await this.#lastInStore();
      await this.#create(lines, this.#before);
      for (const { origin, text } of lines) this.#told.set(origin, text);
      this.#options.onObject?.('written', lines.length);
    } catch (error) {
      this.#options.onObject?.('failed', lines.length, error);
    }
  }

  #moved(): readonly Line[] {
    const lines: Line[] = [];
    const present = new Set<string>();
    let bytes = AROUND_BYTES;
    for (const session of this.#options.sessions()) {
      const line = lineOf(session, this.#options.cluster);
      if (line === undefined) continue;
      present.add(line.origin);
      if (this.#told.get(line.origin) === line.text) continue;
      bytes += line.text.length + 1;
      // The rest has its turn in a minute.
      if (bytes > limits.auditHeadsBytesMax) break;
      lines.push(line);
    }
    for (const origin of bytes > limits.auditHeadsBytesMax ? [] : this.#told.keys()) if (!present.has(origin)) this.#told.delete(origin);
    return lines;
  }

  async #create(lines: readonly Line[], before: string): Promise<void> {
    const { watch, clock, cluster, authority } = this.#options;
    for (let tries = 0; ; tries += 1) {
      const atMs = clock.wallMs() + tries * 1000;
      const name = headsObject(cluster, atMs);
      const text = [HEADS, new Date(atMs).toISOString(), before, ...lines.map((line) => line.text), ''].join('\n');
      const bytes = Buffer.from(signNote(text, authority()), 'utf8');
      const sha256 = hash('sha256', bytes, 'buffer');
      try {
        await watch.store.create({ name, bytes, sha256 });
        this.#before = `${name} ${sha256.toString('hex')}`;
        return;
      } catch (error) {
        // Another leader of this second.
        if (!(error instanceof StoreFault) || error.kind !== 'occupied' || tries + 1 >= limits.auditHeadsNamesMax) throw error;
      }
    }
  }

  async #lastInStore(): Promise<string> {
    const { watch, clock, cluster } = this.#options;
    const dayMs = 86_400_000;
    // From tomorrow on: the leader before may have had a clock ahead of this one.
    for (let back = -1; back <= limits.auditLayoutDaysBackMax; back += 1) {
      const object = headsObject(cluster, clock.wallMs() - back * dayMs);
      let last: string | undefined;
      for await (const { name } of watch.store.list(object.slice(0, object.lastIndexOf('/') + 1)))
        if (isObjectName(name) && name.endsWith('.note') && (last === undefined || name > last)) last = name;
      const bytes = last === undefined ? undefined : await watch.store.read(last, limits.auditHeadsBytesMax);
      if (bytes !== undefined) return `${last} ${hash('sha256', bytes, 'hex')}`;
    }
    return '-';
  }
}

/** Time, name and digest of the object before, signature. */
const AROUND_BYTES = 2_048;

function lineOf({ namespace, spec, status }: SessionRecord, cluster: string): Line | undefined {
  const { head } = status ?? {};
  const sha256 = head === undefined ? undefined : parseHashText(head.hash);
  if (head === undefined || sha256 === undefined || head.sequence < 1) return undefined;
  const origin = chainOrigin(cluster, namespace, spec.pod.uid);
  return { origin, text: `${origin} ${head.sequence} ${Buffer.from(sha256).toString('base64')}` };
}
