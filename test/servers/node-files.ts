/** What the programs of a node read at their start. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dnsAddress, nodeAddress } from './node-network.ts';

export const nodeName = 'node';

/** Who talks to the API server, with the groups its own roles are bound to. */
export const nodeUsers = {
  kubelet: { name: `system:node:${nodeName}`, groups: ['system:nodes'] },
  'kube-controller-manager': { name: 'system:kube-controller-manager', groups: [] },
  'kube-scheduler': { name: 'system:kube-scheduler', groups: [] },
  'kube-proxy': { name: 'system:kube-proxy', groups: [] },
  // A cluster gives it a role of its own to read Services; which one is of no meaning here.
  coredns: { name: 'coredns', groups: ['system:masters'] },
} as const;

export type NodeUser = keyof typeof nodeUsers;

/** A token each, and the lines of the API server's token file. */
export function createTokens(): { readonly tokens: Readonly<Record<NodeUser, string>>; readonly lines: readonly string[] } {
  const names = Object.keys(nodeUsers) as readonly NodeUser[];
  const tokens = Object.fromEntries(names.map((name) => [name, randomBytes(24).toString('base64url')])) as Record<NodeUser, string>;
  const lines = names.map((name) => {
    const { name: user, groups } = nodeUsers[name];
    return [tokens[name], user, user, ...(groups.length > 0 ? [`"${groups.join(',')}"`] : [])].join(',');
  });
  return { tokens, lines };
}

/** Writes `<name>.kubeconfig` into the folder; returns its path. */
export async function writeKubeconfig(
  folder: string,
  name: string,
  access: { url: string; caPem: string; token: string },
): Promise<string> {
  const path = join(folder, `${name}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: access.url, 'certificate-authority-data': Buffer.from(access.caPem).toString('base64') } },
    ],
    users: [{ name, user: { token: access.token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace: 'default' } }],
    'current-context': 'test',
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

export async function writeKubeletConfig(folder: string, { clientCa, cgroup }: { clientCa: string; cgroup: string }): Promise<string> {
  const path = join(folder, 'kubelet.json');
  const resolver = join(folder, 'resolv.conf');
  await writeFile(resolver, '# What pods with dnsPolicy Default see: nobody to ask.\n');
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: clientCa } },
    authorization: { mode: 'Webhook' },
    clusterDNS: [dnsAddress],
    clusterDomain: 'cluster.local',
    resolvConf: resolver,
    // A full disk of the machine is no business of a test.
    evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '0%', 'nodefs.inodesFree': '0%', 'memory.available': '1Mi' },
    imageGCHighThresholdPercent: 100,
    // Faster than in a cluster, where this costs an API server at many nodes; what a test measures of rotation says so.
    nodeStatusUpdateFrequency: '2s',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

/**
 * Every name below `test` is the node, so that contracts can name hosts, but for two that lead where no credential may go.
 * Nothing else outside the cluster resolves.
 */
export async function writeCorefile(folder: string, kubeconfig: string): Promise<string> {
  const path = join(folder, 'Corefile');
  await writeFile(
    path,
    `.:53 {
  bind ${nodeAddress}
  errors
  ready 127.0.0.1:8181
  template IN A metadata.test {
    answer "{{ .Name }} 5 IN A 169.254.169.254"
  }
  template IN A loopback.test {
    answer "{{ .Name }} 5 IN A 127.0.0.1"
  }
  template IN A test {
    answer "{{ .Name }} 5 IN A ${nodeAddress}"
  }
  kubernetes cluster.local {
    kubeconfig ${kubeconfig}
  }
}
`,
  );
  return path;
}
