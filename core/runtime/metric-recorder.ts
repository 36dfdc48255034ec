/**
 * Counting, by the catalogue. Recording is cheap and works from the first line of main; the client library is loaded
 * by `load()`, after the gRPC port listens, and what was recorded before is kept until then.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LabelsOf, MetricName } from './metric-catalogue.ts';
import { METRICS, METRICS_OF } from './metric-catalogue.ts';
import type { MetricEntry } from './metric-entry.ts';

export interface MetricRecorderOptions {
  /** Milliseconds since the Unix epoch. */
  readonly wallMs: () => number;
  readonly version: string;
  /** Whose metrics. */
  readonly process: 'sidecar' | 'operator';
}

/** Label sets and their values. */
export type GaugeReader = () => readonly (readonly [Readonly<Record<string, string>>, number])[];

type Value = { readonly name: MetricName; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Events kept before the library is loaded; then it is loaded without being asked for. */
const QUEUE_MAX = 1_000;

export class MetricRecorder {
  readonly #options: MetricRecorderOptions;
  readonly #gauges = new Map<MetricName, GaugeReader>();
  #more: () => ReadonlyMap<MetricName, GaugeReader> = () => new Map();
  #queue: Value[] = [];
  #loaded: Loaded | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: MetricRecorderOptions) {
    this.#options = options;
    this.#observeProcess();
  }

  /** Adds to a counter, or observes a value in a histogram. */
  add<Name extends MetricName>(name: Name, labels: LabelsOf<Name>, value = 1): void {
    const entry = { name, labels, value };
    if (this.#loaded !== undefined) record(this.#loaded, entry);
    else if (this.#queue.push(entry) === QUEUE_MAX) void this.load();
  }

  /** Values of a gauge, asked for at every scrape. */
  gauge<Name extends MetricName>(name: Name, read: () => readonly (readonly [LabelsOf<Name>, number])[]): void {
    this.#gauges.set(name, read);
  }

  /** Gauges that are made anew at every scrape. */
  gaugesFrom(read: () => ReadonlyMap<MetricName, GaugeReader>): void {
    this.#more = read;
  }

  /** Loads the client library, once. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    const library = await import('prom-client');
    const registry = new library.Registry();
    const loaded: Loaded = { registry, counters: new Map(), gauges: new Map(), histograms: new Map() };
    for (const key of METRICS_OF[this.#options.process]) {
      const entry: MetricEntry = METRICS[key];
      const common = { name: `postern_${key}`, help: entry.help, labelNames: [...entry.labels], registers: [registry] };
      if (entry.type === 'counter') loaded.counters.set(key, new library.Counter(common));
      if (entry.type === 'gauge') loaded.gauges.set(key, new library.Gauge(common));
      if (entry.type === 'histogram') loaded.histograms.set(key, new library.Histogram({ ...common, buckets: [...(entry.buckets ?? [])] }));
    }
    this.#loaded = loaded;
    for (const entry of this.#queue) record(loaded, entry);
    this.#queue = [];
  }

  /** The page for Prometheus; loads the library if nobody has. */
  async page(): Promise<{ readonly text: string; readonly contentType: string }> {
    await this.load();
    const loaded = this.#loaded;
    if (loaded === undefined) throw new TypeError('load() sets it');
    const gauges = new Map([...this.#gauges, ...this.#more()]);
    for (const [name, gauge] of loaded.gauges) {
      gauge.reset();
      const values = gauges.get(name)?.() ?? [];
      // The library makes a 0 of what has no value: a sidecar without an operator would say that it lost its operator.
      if (values.length === 0) gauge.remove({});
      for (const [labels, value] of values) gauge.set(labels, value);
    }
    return { text: await loaded.registry.metrics(), contentType: loaded.registry.contentType };
  }

  #observeProcess(): void {
    const startedMs = this.#options.wallMs();
    const delay = monitorEventLoopDelay({ resolution: 100 });
    delay.enable();
    this.gauge('process_start_seconds', () => [[{}, startedMs / 1000]]);
    this.gauge('resident_memory_bytes', () => [[{}, process.memoryUsage.rss()]]);
    this.gauge('heap_used_bytes', () => [[{}, process.memoryUsage().heapUsed]]);
    this.gauge('build_info', () => [[{ version: this.#options.version, node: process.versions.node }, 1]]);
    this.gauge('event_loop_delay_seconds', () => {
      const seconds = delay.percentile(99) / 1e9;
      delay.reset();
      return [[{}, seconds]];
    });
  }
}

interface Loaded {
  readonly registry: Registry;
  readonly counters: Map<MetricName, Counter>;
  readonly gauges: Map<MetricName, Gauge>;
  readonly histograms: Map<MetricName, Histogram>;
}

function record({ counters, histograms }: Loaded, { name, labels, value }: Value): void {
  counters.get(name)?.inc(labels, value);
  histograms.get(name)?.observe(labels, value);
}
