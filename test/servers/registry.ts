/** A real OCI registry (distribution 3) for tests, storing in its own temporary folder. */
import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { programPath } from './build.ts';
import { answers, freePorts, loopback, startIn } from './process.ts';

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const emptyType = 'application/vnd.oci.empty.v1+json';
const emptyBlob = '{}';
const parallelPushes = 8;

export interface Registry extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** Uploads one tiny manifest to `repository` and gives it every tag; returns its digest. */
  pushTags(repository: string, tags: readonly string[]): Promise<string>;
  logTail(): string;
}

export function startRegistry(): Promise<Registry> {
  return startIn('registry', async (place) => {
    const [port] = (await freePorts(1)) as [number];
    const url = `http://${loopback}:${port}`;
    const configFile = join(place.folder, 'config.yml');
    await writeFile(configFile, config(port, join(place.folder, 'data')));
    await place.launch({
      program: await programPath('registry'),
      args: ['serve', configFile],
      // It would otherwise look for a collector of traces.
      env: { OTEL_TRACES_EXPORTER: 'none' },
      ready: () => answers(`${url}/v2/`),
    });
    return {
      url,
      pushTags: (repository, tags) => pushTags(`${url}/v2/${repository}`, tags),
      logTail: place.logTail,
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  });
}

// JSON is YAML, and quotes any path right.
function config(port: number, rootdirectory: string): string {
  return JSON.stringify({
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory }, delete: { enabled: true } },
    http: { addr: `${loopback}:${port}`, secret: randomBytes(16).toString('hex') },
  });
}

async function pushTags(base: string, tags: readonly string[]): Promise<string> {
  const blob = await pushEmptyBlob(base);
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: blob,
    layers: [blob],
  });
  const headers = { 'content-type': manifestType };
  for (let at = 0; at < tags.length; at += parallelPushes) {
    const some = tags.slice(at, at + parallelPushes);
    await Promise.all(some.map((tag) => put(`${base}/manifests/${encodeURIComponent(tag)}`, manifest, headers)));
  }
  return digest(manifest);
}

async function pushEmptyBlob(base: string) {
  const started = await request(`${base}/blobs/uploads/`, { method: 'POST' });
  await started.body.dump();
  const location = started.headers.location;
  if (started.statusCode !== 202 || typeof location !== 'string') {
    throw new Error(`Registry refuses an upload: ${started.statusCode}`);
  }
  const target = new URL(location, base);
  target.searchParams.set('digest', digest(emptyBlob));
  await put(target.href, emptyBlob, { 'content-type': 'application/octet-stream' });
  return { mediaType: emptyType, digest: digest(emptyBlob), size: emptyBlob.length };
}

async function put(url: string, body: string, headers: Record<string, string>): Promise<void> {
  const response = await request(url, { method: 'PUT', body, headers });
  const text = await response.body.text();
  if (response.statusCode !== 201) throw new Error(`PUT ${url}: ${response.statusCode} ${text}`);
}

function digest(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
