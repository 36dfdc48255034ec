/**
 * A whole Kubernetes cluster of one node: control plane, kubelet on containerd, bridge network, kube-proxy, CoreDNS. Pods run,
 * Services and `*.svc` names work from them and from the test, images are those the test brings (`imagePullPolicy: Never`).
 *
 * Only inside the namespaces of `isolated.ts`, because it takes fixed addresses and ports, and mounts over /run and /var/lib.
 */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { Agent } from 'undici';
import { programPath, unavailable } from './build.ts';
import { killContainer, startContainerd } from './containerd.ts';
import type { Images } from './images.ts';
import { isolation } from './isolation.ts';
import { compactEtcd, createToken, type KubeApiserver, prepareApiserver, requester, startEtcd } from './kube-apiserver.ts';
import { createTokens, writeKubeconfig } from './node-files.ts';
import { apiServiceAddress, nodeAddress, prepareControlGroups, prepareFolders, prepareNetwork } from './node-network.ts';
import { type ClusterAccess, startControllers, startDns, startKubelet, startProxy } from './node-programs.ts';
import type { Pod } from './pods.ts';
import { startIn } from './process.ts';
import type { ProgramName } from './programs.ts';

const etcdUrl = 'http://127.0.0.1:2379';
const outputMax = 32 * 1024 * 1024;

const commands = [
  ['/usr/bin/containerd', 'containerd'],
  ['/usr/sbin/runc', 'runc'],
  ['/usr/lib/cni/bridge', 'containernetworking-plugins'],
  ['/usr/bin/buildah', 'buildah'],
  ['/usr/sbin/iptables', 'iptables'],
  ['/usr/sbin/conntrack', 'conntrack'],
  ['/usr/bin/busybox', 'busybox-static'],
  ['/usr/sbin/ip', 'iproute2'],
] as const;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Node extends KubeApiserver {
  /** What its containers may run. */
  readonly images: Images;
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** kubectl as admin; resolves for every exit code. `input` goes to its standard input. */
  kubectl(args: readonly string[], input?: string): Promise<CommandResult>;
  /** Sends SIGKILL to the first process of a container, as the out-of-memory killer would. */
  killContainer(pod: Pod, container: string): Promise<void>;
  /** Kills the API server, as a crash would, and starts it again; everything else runs on. */
  restartApiserver(): Promise<void>;
}

/**
 * For `{ skip: await nodeUnavailable() }`: why there can be no node here, or false. With `CI` set always false. `more`: programs that the test
 * starts beside it.
 */
export async function nodeUnavailable(...more: readonly ProgramName[]): Promise<string | false> {
  if (process.env.CI) return false;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'A node needs Linux and root: it makes namespaces and mounts.';
  for (const [path, name] of commands) {
    const found = await access(path).then(
      () => true,
      () => false,
    );
    if (!found) return `A node needs ${path}; Debian has it in the package ${name}.`;
  }
  return unavailable(
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kubelet',
    'kube-proxy',
    'kubectl',
    'coredns',
    'helm',
    ...more,
  );
}

export function startNode(): Promise<Node> {
  const around = isolation();
  if (around === undefined) {
    throw new Error('A node starts only in namespaces of its own: the test file must import isolated.ts first, and run as root on Linux.');
  }
  const { folder, controlGroup, images } = around;
  return startIn('cluster', async (place) => {
    await prepareNetwork();
    await prepareFolders(folder);
    await prepareControlGroups(controlGroup);
    const { tokens, lines } = createTokens();
    await startEtcd(place, etcdUrl);
    const apiserver = await prepareApiserver(place, {
      etcdUrl,
      port: 6443,
      host: nodeAddress,
      hosts: [apiServiceAddress, 'kubernetes.default'],
      users: lines,
    });
    let running = await apiserver.launch();
    const agent = new Agent({ connect: { ca: apiserver.caPem } });
    const request = requester(agent, apiserver);
    const kubeconfig = await writeKubeconfig(place.folder, 'admin', { ...apiserver, token: apiserver.adminToken });
    const cluster: ClusterAccess = { place, apiserver, tokens, request };
    await Promise.all([startContainerd(place, images), startControllers(cluster)]);
    await Promise.all([startKubelet(cluster, controlGroup), startProxy(cluster), startDns(cluster)]);
    const kubectl = await programPath('kubectl');
    return {
      images,
      url: apiserver.url,
      caPem: apiserver.caPem,
      adminToken: apiserver.adminToken,
      request,
      kubeconfig,
      kubectl: (args, input) => runCommand(kubectl, ['--kubeconfig', kubeconfig, ...args], input),
      createServiceAccountToken: (namespace, name) => createToken(request, namespace, name),
      compact: () => compactEtcd(etcdUrl),
      logTail: place.logTail,
      killContainer,
      async restartApiserver() {
        await running.kill();
        running = await apiserver.launch();
      },
      async [Symbol.asyncDispose]() {
        await agent.destroy();
        await place[Symbol.asyncDispose]();
      },
    };
  });
}

function runCommand(program: string, args: readonly string[], input = ''): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { maxBuffer: outputMax }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(error);
    });
    child.stdin?.on('error', () => undefined); // It may end without reading.
    child.stdin?.end(input);
  });
}
