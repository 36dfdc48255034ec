/**
 * How a process reaches the API server: the operator by the files the kubelet mounts, a person by a kubeconfig. There is no default
 * address: client libraries fall back to http://localhost:8080, where in a pod anybody may listen (failure case OPR-20).
 */
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { type ApiAccess, ConnectError, type Environment, type KubeconfigOptions } from './api-access.ts';
import { type ApiTransport, createApiTransport } from './api-transport.ts';
import { createKubeClient, type KubeClient } from './client.ts';
import { tokenFile } from './token-file.ts';

export interface Connection {
  readonly client: KubeClient;
  /** For informers, which read pages and watches. */
  readonly transport: ApiTransport;
  /** Namespace of this process or of the person's context. */
  readonly namespace: string;
  close(): Promise<void>;
}

export interface InClusterOptions {
  readonly env: Environment;
  /** Folder with `token`, `ca.crt`, `namespace`. */
  readonly folder?: string;
  readonly clock?: Clock;
}

export const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Connection of a pod's own ServiceAccount. Throws ConnectError. */
export async function connectInCluster(options: InClusterOptions): Promise<Connection> {
  const { clock = systemClock } = options;
  return connectionTo(await inClusterAccess({ ...options, clock }), clock);
}

/** Connection of a person. Loads the client library, which costs 85 MB: never called by operator or sidecar. Throws ConnectError. */
export async function connectByKubeconfig(options: KubeconfigOptions): Promise<Connection> {
  const { clock = systemClock } = options;
  refuseUncheckedTls(options.env);
  const { kubeconfigAccess } = await import('./kubeconfig.ts');
  return connectionTo(await kubeconfigAccess({ ...options, clock }), clock);
}

export function connectionTo(access: ApiAccess, clock: Clock = systemClock): Connection {
  const transport = createApiTransport(access, { clock });
  return { client: createKubeClient(transport), transport, namespace: access.namespace, close: () => transport.close() };
}

export async function inClusterAccess({ env, folder = ACCOUNT_FOLDER, clock = systemClock }: InClusterOptions): Promise<ApiAccess> {
  refuseUncheckedTls(env);
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  if (!/^[0-9A-Za-z.:-]{1,253}$/.test(host) || !/^\d{1,5}$/.test(port)) {
    throw new ConnectError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not name the API server: run the operator in a pod.');
  }
  const [ca, namespace] = await Promise.all([mounted(folder, 'ca.crt'), mounted(folder, 'namespace')]);
  const token = tokenFile(join(folder, 'token'), clock);
  await token(true).catch((cause) => {
    throw new ConnectError(`${folder}/token cannot be read: mount the token of the operator's ServiceAccount.`, cause);
  });
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    tls: { ca, rejectUnauthorized: true },
    namespace: namespace.trim(),
    headers: async (rejected) => ({ authorization: `Bearer ${await token(rejected)}` }),
  };
}

/** With that variable set, whoever answers could be anybody; it is set by people who debug and forget. */
function refuseUncheckedTls(env: Environment): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === undefined) return;
  throw new ConnectError('NODE_TLS_REJECT_UNAUTHORIZED is set: unset it, the API server must prove who it is.');
}

async function mounted(folder: string, name: string): Promise<string> {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch (cause) {
    throw new ConnectError(`${folder}/${name} cannot be read: mount the token of the operator's ServiceAccount.`, cause);
  }
}
