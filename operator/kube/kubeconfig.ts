/**
 * A person's kubeconfig, with contexts, exec plugins and OIDC as client-node reads them. The only door to that library: loading it
 * takes 0.7 s and 85 MB, so connect.ts imports this file only when a person asks.
 */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { type ApiAccess, ConnectError, type KubeconfigOptions } from './api-access.ts';

/** Throws ConnectError; never falls back to an address nobody named. */
export async function kubeconfigAccess(options: KubeconfigOptions & { readonly clock: Clock }): Promise<ApiAccess> {
  const config = load(options);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new ConnectError('The kubeconfig has no such context, or its context names no cluster: see `kubectl config get-contexts`.');
  }
  if (!cluster.server.startsWith('https://')) throw new ConnectError('The kubeconfig names an API server without TLS: use https.');
  const first = await optionsOf(config);
  const { proxyUrl, caData } = cluster;
  const ca = first.ca ?? (caData === undefined ? undefined : Buffer.from(caData, 'base64'));
  return {
    server: cluster.server.replace(/\/+$/, ''),
    tls: {
      ...(ca !== undefined && { ca: ca as Buffer }),
      ...(first.cert !== undefined && { cert: first.cert as Buffer }),
      ...(first.key !== undefined && { key: first.key as Buffer }),
      ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
      rejectUnauthorized: cluster.skipTLSVerify !== true,
    },
    ...(proxyUrl !== undefined && { proxy: httpProxy(proxyUrl) }),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    headers: headersOf(config, options.clock, first),
  };
}

function load({ kubeconfig, context, env }: KubeconfigOptions): KubeConfig {
  const config = new KubeConfig();
  const named = kubeconfig ?? (env.KUBECONFIG || undefined);
  try {
    if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
    else mergeFiles(config, filesIn(named, env));
  } catch (cause) {
    throw new ConnectError(`The kubeconfig ${named ?? '~/.kube/config'} cannot be read.`, cause);
  }
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

function filesIn(named: string | undefined, env: KubeconfigOptions['env']): readonly string[] {
  if (named !== undefined) return named.split(process.platform === 'win32' ? ';' : ':').filter((file) => file !== '');
  return [`${env.HOME ?? env.USERPROFILE ?? ''}/.kube/config`];
}

/** As kubectl: a file of the list that is not there says nothing. When none is there, throws what the first threw. */
function mergeFiles(config: KubeConfig, files: readonly string[]): void {
  const absent: unknown[] = [];
  for (const file of files) {
    try {
      mergeFile(config, file);
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
      absent.push(cause);
    }
  }
  if (absent.length > 0 && absent.length === files.length) throw absent[0];
}

/** As kubectl: of files that name the same thing, the first wins. */
function mergeFile(config: KubeConfig, file: string): void {
  const other = new KubeConfig();
  other.loadFromFile(file);
  const addNew = <T extends { readonly name: string }>(mine: T[], theirs: readonly T[]) => {
    mine.push(...theirs.filter(({ name }) => !mine.some((known) => known.name === name)));
  };
  addNew(config.clusters, other.clusters);
  addNew(config.users, other.users);
  addNew(config.contexts, other.contexts);
  if (!config.currentContext) config.setCurrentContext(other.currentContext ?? '');
}

async function optionsOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new ConnectError('The kubeconfig gives no credentials: its plugin failed, or a file it names is missing.', cause);
  }
  return options;
}

/** Asked again each limits.kubeTokenCheckMs and after a rejection; the library keeps what its plugins gave until that expires. */
function headersOf(config: KubeConfig, clock: Clock, first: RequestOptions): ApiAccess['headers'] {
  let headers = headersIn(first);
  let askedMs = clock.monotonicMs();
  return async (rejected) => {
    if (rejected || clock.monotonicMs() - askedMs > limits.kubeTokenCheckMs) {
      headers = headersIn(await optionsOf(config));
      askedMs = clock.monotonicMs();
    }
    return headers;
  };
}

function headersIn({ headers = {}, auth }: RequestOptions): Readonly<Record<string, string>> {
  const basic = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { ...basic, ...Object.fromEntries(given) };
}

function httpProxy(url: string): string {
  if (/^https?:\/\//.test(url)) return url;
  throw new ConnectError('The kubeconfig names a proxy that is not HTTP: only http and https proxies are supported.');
}
