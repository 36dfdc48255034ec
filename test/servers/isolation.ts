/** What a test file knows once `isolated.ts` has put it into namespaces of its own. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Images } from './images.ts';

export const isolationVariables = { folder: 'POSTERN_ISOLATED_FOLDER', images: 'POSTERN_ISOLATED_IMAGES' } as const;

export interface Isolation {
  /** Goes with the namespaces; also the `TMPDIR` in there. */
  readonly folder: string;
  /** Name of the control group every pod of this run is below. */
  readonly controlGroup: string;
  /** Built outside, where there is a network. */
  readonly images: Images;
}

/** Undefined outside. */
export function isolation(): Isolation | undefined {
  const folder = process.env[isolationVariables.folder];
  if (folder === undefined) return undefined;
  return { folder, controlGroup: basename(folder), images: JSON.parse(process.env[isolationVariables.images] ?? '{}') as Images };
}

const firstVersion = [
  'blkio',
  'cpu',
  'cpuacct',
  'cpuset',
  'devices',
  'freezer',
  'hugetlb',
  'memory',
  'net_cls',
  'net_prio',
  'perf_event',
  'pids',
  'systemd',
  'unified',
];

/** Folders that hold a tree of control groups each: one a controller in version 1, the root alone in version 2. */
export function controlGroupTrees(): readonly string[] {
  const root = '/sys/fs/cgroup';
  if (existsSync(`${root}/cgroup.controllers`)) return [root];
  return firstVersion.map((name) => `${root}/${name}`).filter((path) => existsSync(`${path}/cgroup.procs`));
}
