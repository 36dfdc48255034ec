/** The network and the folders of a node, inside the namespaces of `isolated.ts`; on the machine itself nothing changes. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { controlGroupTrees } from './isolation.ts';

const run = promisify(execFile);

/** Of the node; what a test listens on here, pods can reach. */
export const nodeAddress = '172.30.0.1';
export const podRange = '10.244.0.0/24';
export const serviceRange = '10.96.0.0/16';
/** Of the `kubernetes` Service: the first of the range. */
export const apiServiceAddress = '10.96.0.1';
export const dnsAddress = '10.96.0.10';

export async function prepareNetwork(): Promise<void> {
  await run('ip', ['link', 'set', 'lo', 'up']);
  // A bridge, since not every kernel knows `dummy` devices; the route leads nowhere and is asked for by kubelet and CNI.
  await run('ip', ['link', 'add', 'node0', 'type', 'bridge']);
  await run('ip', ['address', 'add', `${nodeAddress}/16`, 'dev', 'node0']);
  await run('ip', ['link', 'set', 'node0', 'up']);
  await run('ip', ['route', 'add', 'default', 'via', '172.30.0.2']);
  for (const path of ['ip_forward', 'conf/all/route_localnet']) await writeFile(`/proc/sys/net/ipv4/${path}`, '1');
}

/** Programs keep their customary paths; what stands behind these is the folder. */
export async function prepareFolders(folder: string): Promise<void> {
  await run('mount', ['--bind', join(folder, 'var-lib'), '/var/lib']);
  await run('mount', ['--bind', join(folder, 'var-log'), '/var/log']);
  await run('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
  await mkdir('/run/lock');
}

/** One control group for all pods of this node, in every tree, so that nothing of it stays. */
export async function prepareControlGroups(name: string): Promise<void> {
  for (const tree of controlGroupTrees()) await mkdir(join(tree, name), { recursive: true });
}
