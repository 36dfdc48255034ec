/** A real Prometheus 3 for tests, with samples loaded before it starts. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programPath } from './build.ts';
import { answers, freePorts, loopback, startIn } from './process.ts';

export interface PrometheusOptions {
  /** The whole prometheus.yml. Default: nothing is scraped. */
  readonly config?: string;
  /** Files laid beside prometheus.yml, by name; rules are read where `config` names them. */
  readonly files?: Readonly<Record<string, string>>;
  /** OpenMetrics text with a timestamp (seconds) on every sample, ending in `# EOF`. */
  readonly samples?: string;
  /** Default: in the server's own folder. One of the caller's is used as it is and kept. */
  readonly storageFolder?: string;
  /** More command-line flags, whole (`--name=value`). */
  readonly flags?: readonly string[];
}

export interface Prometheus extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  logTail(): string;
}

export function startPrometheus(options: PrometheusOptions = {}): Promise<Prometheus> {
  return startIn('prometheus', async (place) => {
    const { config = 'scrape_configs: []\n', files = {}, samples, flags = [] } = options;
    const storage = options.storageFolder ?? join(place.folder, 'data');
    await mkdir(storage, { recursive: true });
    const configFile = join(place.folder, 'prometheus.yml');
    for (const [name, text] of Object.entries(files)) await writeFile(join(place.folder, name), text);
    await writeFile(configFile, config);
    if (samples !== undefined) await loadSamples(storage, samples, join(place.folder, 'samples.om'));

    const [port] = (await freePorts(1)) as [number];
    const url = `http://${loopback}:${port}`;
    await place.launch({
      program: await programPath('prometheus'),
      args: [
        `--config.file=${configFile}`,
        `--storage.tsdb.path=${storage}`,
        // Tests choose fixed dates; the default of 15 days would drop their samples.
        '--storage.tsdb.retention.time=100y',
        `--web.listen-address=${loopback}:${port}`,
        ...flags,
      ],
      ready: () => answers(`${url}/-/ready`),
    });
    return { url, logTail: place.logTail, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  });
}

/**
 * Writes samples as blocks into the storage folder of a Prometheus that is not running (a running one
 * would see them only at its next reload of blocks). `file` is where promtool reads the text from.
 */
export async function loadSamples(storage: string, samples: string, file: string): Promise<void> {
  await writeFile(file, samples);
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', file, storage];
  await promisify(execFile)(await programPath('promtool'), args);
}
