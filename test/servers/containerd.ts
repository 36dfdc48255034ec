/** containerd as a node of the tests runs it, with the images it is handed: nothing can be pulled. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Image } from './image-store.ts';
import type { Images } from './images.ts';
import { podRange } from './node-network.ts';
import type { Pod } from './pods.ts';
import type { Workspace } from './process.ts';

const run = promisify(execFile);
export const containerdSocket = '/run/containerd/containerd.sock';

// Without `restrict_oom_score_adj` runc fails where the score cannot be lowered ("can't get final child's PID from pipe").
const config = (folder: string, pause: Image) => `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause.tag}"
  restrict_oom_score_adj = true
  enable_selinux = false
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "${join(folder, 'cni')}"
`;

const network = {
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'pods0',
      isGateway: true,
      hairpinMode: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};

export async function startContainerd(place: Workspace, images: Images): Promise<void> {
  await mkdir(join(place.folder, 'cni'));
  await writeFile(join(place.folder, 'cni', '10-pods.conflist'), JSON.stringify(network));
  const file = join(place.folder, 'containerd.toml');
  await writeFile(file, config(place.folder, images.pause));
  await place.launch({ program: 'containerd', args: ['--config', file], ready: async () => ctr('version').then(() => true) });
  for (const image of Object.values<Image>({ ...images })) await importImage(image);
}

/** Known afterwards by tag and by digest; a pod that names the digest needs `imagePullPolicy: Never` all the same. */
async function importImage(image: Image): Promise<void> {
  await ctr('images', 'import', image.archive);
  await ctr('images', 'tag', '--force', image.tag, image.reference);
}

export async function killContainer(pod: Pod, container: string): Promise<void> {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const id = statuses.find(({ name }) => name === container)?.containerID?.replace('containerd://', '');
  if (id === undefined) throw new Error(`pod ${pod.metadata.name} runs no container ${container}`);
  await ctr('tasks', 'kill', '--signal', 'SIGKILL', id);
}

async function ctr(...args: readonly string[]): Promise<string> {
  return (await run('ctr', ['--address', containerdSocket, '--namespace', 'k8s.io', ...args])).stdout;
}
