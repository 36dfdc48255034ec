/** The informers of a replica: one for each kind in its Cluster, all writing into that. */
import type { Clock } from '#core/bounds/clock.ts';
import type { ApiTransport } from './api-transport.ts';
import type { Cache, Identified } from './cache.ts';
import type { Cluster } from './cluster.ts';
import { Informer, type InformerObserver } from './informer.ts';
import { accountRecord, approvalRecord, bindingRecord, contractRecord, namespaceRecord, podRecord, sessionRecord } from './records.ts';
import { KINDS, type ResourceKind } from './resource-kind.ts';

export interface InformersOptions {
  readonly transport: ApiTransport;
  readonly cluster: Cluster;
  readonly observer?: InformerObserver;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** An informer, whatever its records are. */
type AnyInformer = Pick<Informer<Identified>, 'kind' | 'synced' | 'isSynced' | 'ageMs' | 'problem' | 'start' | 'stop'>;

export interface InformerState {
  /** Plural, as in paths. */
  readonly kind: string;
  /** Since the last event, bookmark or list; infinite before the first. */
  readonly ageSeconds: number;
  readonly synced: boolean;
}

export interface Informers {
  /** Resolves when every kind has been listed once; never rejects. */
  readonly synced: Promise<void>;
  /** What is wrong now, one sentence a kind; empty when all caches are whole and fresh. */
  problems(): readonly string[];
  ages(): readonly InformerState[];
  stop(): Promise<void>;
}

/** Starts them. Subscribe to the caches before: the first list comes as `added` changes. */
export function startInformers(options: InformersOptions): Informers {
  const { cluster } = options;
  const informers: readonly AnyInformer[] = [
    informerOf(options, KINDS.namespaces, cluster.namespaces, namespaceRecord),
    informerOf(options, KINDS.accounts, cluster.accounts, accountRecord),
    informerOf(options, KINDS.bindings, cluster.bindings, bindingRecord),
    informerOf(options, KINDS.contracts, cluster.contracts, contractRecord),
    informerOf(options, KINDS.sessions, cluster.sessions, sessionRecord),
    informerOf(options, KINDS.approvals, cluster.approvals, approvalRecord),
    informerOf(options, KINDS.pods, cluster.pods, podRecord),
  ];
  for (const informer of informers) informer.start();
  return {
    synced: Promise.all(informers.map(({ synced }) => synced)).then(() => {}),
    problems: () => informers.map(({ problem }) => problem).filter((problem) => problem !== undefined),
    ages: () => informers.map(({ kind, ageMs, isSynced }) => ({ kind: kind.plural, ageSeconds: ageMs / 1000, synced: isSynced })),
    stop: async () => {
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}

function informerOf<T extends Identified, O>(
  { transport, observer, clock, random }: InformersOptions,
  kind: ResourceKind,
  cache: Cache<T>,
  record: (object: O) => T,
): AnyInformer {
  const given = { ...(observer && { observer }), ...(clock && { clock }), ...(random && { random }) };
  return new Informer<T, O>({ transport, kind, cache, record, ...given });
}
