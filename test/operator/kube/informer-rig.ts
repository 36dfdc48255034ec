/** An informer of the scripted API server, with everything it told. */
import { createApiTransport } from '#operator/kube/api-transport.ts';
import { Cache, type Change, type Identified } from '#operator/kube/cache.ts';
import { Informer, type InformerObserver } from '#operator/kube/informer.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { fastClock } from './fast-clock.ts';
import { ScriptedApiServer, type Thing } from './scripted-api-server.ts';

export interface ThingRecord extends Identified {
  readonly value: string;
}

export interface Rig extends AsyncDisposable {
  readonly server: ScriptedApiServer;
  readonly informer: Informer<ThingRecord, Thing>;
  readonly cache: Cache<ThingRecord>;
  /** `added a`, `updated a`, `deleted a`, in order. */
  readonly changes: string[];
  readonly relists: string[];
  readonly counts: { missed: number; unreadable: number; failed: number };
  names(): readonly string[];
}

export interface RigOptions {
  readonly scale?: number;
  /** Things that are there before it starts. */
  readonly things?: readonly string[];
  readonly record?: (object: Thing) => ThingRecord | null;
}

export async function startRig({ scale = 20, things = [], record = thingRecord }: RigOptions = {}): Promise<Rig> {
  const server = new ScriptedApiServer(scale);
  await server.listen();
  for (const name of things) server.put(name);
  const clock = fastClock(scale);
  const transport = createApiTransport(server.access, { clock });
  const cache = new Cache<ThingRecord>();
  const changes: string[] = [];
  cache.onChange(({ kind, key }: Change<ThingRecord>) => changes.push(`${kind} ${key.replace('default/', '')}`));
  const relists: string[] = [];
  const counts = { missed: 0, unreadable: 0, failed: 0 };
  const observer: InformerObserver = {
    relisted: (_, cause) => relists.push(cause),
    missed: (_, count) => (counts.missed += count),
    unreadable: () => (counts.unreadable += 1),
    failed: () => (counts.failed += 1),
  };
  const informer = new Informer<ThingRecord, Thing>({ transport, kind: KINDS.configMaps, cache, record, clock, observer });
  informer.start();
  return {
    server,
    informer,
    cache,
    changes,
    relists,
    counts,
    names: () => [...cache.values()].map(({ name }) => name).sort(),
    async [Symbol.asyncDispose]() {
      await informer.stop();
      await transport.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

export function thingRecord({ metadata, data }: Thing): ThingRecord {
  return { ...metadata, value: data.value };
}
