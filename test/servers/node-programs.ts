/** The programs of a node beside API server and containerd, each started until what it is there for has happened. */
import { mkdir } from 'node:fs/promises';
import { programPath } from './build.ts';
import type { KubeApiserver, PreparedApiserver } from './kube-apiserver.ts';
import { type NodeUser, nodeName, writeCorefile, writeKubeconfig, writeKubeletConfig } from './node-files.ts';
import { dnsAddress, nodeAddress, podRange } from './node-network.ts';
import { answers, type Workspace } from './process.ts';

export interface ClusterAccess {
  readonly place: Workspace;
  readonly apiserver: PreparedApiserver;
  readonly tokens: Readonly<Record<NodeUser, string>>;
  readonly request: KubeApiserver['request'];
}

/** Ready when a namespace has its ServiceAccount, without which no pod can be created. */
export async function startControllers(cluster: ClusterAccess): Promise<void> {
  const { place, apiserver, request } = cluster;
  const manager = place.launch({
    program: await programPath('kube-controller-manager'),
    args: [
      `--kubeconfig=${await kubeconfig(cluster, 'kube-controller-manager')}`,
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
      '--use-service-account-credentials',
      `--service-account-private-key-file=${apiserver.files.accountPrivate}`,
      `--root-ca-file=${apiserver.files.ca}`,
    ],
    ready: async () => (await request('GET', '/api/v1/namespaces/default/serviceaccounts/default')).status === 200,
  });
  const scheduler = place.launch({
    program: await programPath('kube-scheduler'),
    args: [`--kubeconfig=${await kubeconfig(cluster, 'kube-scheduler')}`, '--bind-address=127.0.0.1', '--leader-elect=false'],
    ready: async () => true,
  });
  await Promise.all([manager, scheduler]);
}

interface NodeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Ready when the node says so itself. */
export async function startKubelet(cluster: ClusterAccess, cgroup: string): Promise<void> {
  const { place, apiserver, request } = cluster;
  await mkdir('/var/lib/kubelet');
  await place.launch({
    program: await programPath('kubelet'),
    args: [
      `--kubeconfig=${await kubeconfig(cluster, 'kubelet')}`,
      `--config=${await writeKubeletConfig(place.folder, { clientCa: apiserver.files.ca, cgroup })}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${nodeAddress}`,
    ],
    ready: async () => {
      const { body } = await request<NodeObject>('GET', `/api/v1/nodes/${nodeName}`);
      return body.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    },
  });
}

export async function startProxy(cluster: ClusterAccess): Promise<void> {
  await cluster.place.launch({
    program: await programPath('kube-proxy'),
    args: [
      `--kubeconfig=${await kubeconfig(cluster, 'kube-proxy')}`,
      `--hostname-override=${nodeName}`,
      '--proxy-mode=iptables',
      `--cluster-cidr=${podRange}`,
      '--healthz-bind-address=127.0.0.1:10256',
      '--iptables-min-sync-period=0',
      // Zero leaves the sysctls alone: they belong to the machine and may be read-only.
      '--conntrack-max-per-core=0',
      '--conntrack-min=0',
      '--conntrack-tcp-timeout-established=0',
      '--conntrack-tcp-timeout-close-wait=0',
      '--conntrack-udp-timeout=0',
      '--conntrack-udp-timeout-stream=0',
    ],
    ready: () => answers('http://127.0.0.1:10256/healthz'),
  });
}

/** A process of the node behind the Service `kube-dns`, so that a test starts one pod less. */
export async function startDns(cluster: ClusterAccess): Promise<void> {
  const { place, request } = cluster;
  const ports = ['UDP', 'TCP'].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, protocol, port: 53 }));
  await request('POST', '/api/v1/namespaces/kube-system/services', {
    metadata: { name: 'kube-dns' },
    spec: { clusterIP: dnsAddress, ports },
  });
  await request('POST', '/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', {
    metadata: { name: 'kube-dns-node', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [nodeAddress], conditions: { ready: true } }],
    ports,
  });
  await place.launch({
    program: await programPath('coredns'),
    args: ['-conf', await writeCorefile(place.folder, await kubeconfig(cluster, 'coredns'))],
    ready: () => answers('http://127.0.0.1:8181/ready'),
  });
}

function kubeconfig({ place, apiserver, tokens }: ClusterAccess, user: NodeUser): Promise<string> {
  return writeKubeconfig(place.folder, user, { ...apiserver, token: tokens[user] });
}
