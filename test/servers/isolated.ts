/**
 * Import this first in a test file that needs a whole node: the file then runs again in network, mount and process namespaces
 * of its own, where it may take any address and port, mount what it likes, and leaves nothing behind.
 *
 * - The file is started as this process was, so `node --test` hears its results as if nothing were between. It ends with
 *   the inner process's exit code; nothing of the outer file runs after this import.
 * - Programs and images are built before, because inside there is no way out.
 * - The process namespace is the janitor: when its first process ends, however it ends, the kernel ends everything in it,
 *   also what containerd has put in the background. The folder and the control groups go by the outer process or its janitor.
 * - Where there can be no node, the file runs on as it is: its tests are skipped, with the reason of `nodeUnavailable`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buildImages } from './images.ts';
import { controlGroupTrees, isolation, isolationVariables } from './isolation.ts';
import { nodeUnavailable } from './node.ts';
import { openWorkspace } from './process.ts';

if (isolation() === undefined && (await nodeUnavailable()) === false) process.exit(await runIsolated());

async function runIsolated(): Promise<number> {
  const images = await buildImages();
  await using place = await openWorkspace('node');
  for (const folder of ['var-lib', 'var-log']) await mkdir(join(place.folder, folder));
  for (const tree of controlGroupTrees()) place.clearLater(join(tree, basename(place.folder)));
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  // The shell is the first process of the namespace: it collects what its children leave, which Node does not.
  const inner = ['sh', '-c', '"$@"; exit $?', 'sh', ...self];
  const namespaces = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc', ...inner];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...namespaces], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TMPDIR: place.folder,
      [isolationVariables.folder]: place.folder,
      [isolationVariables.images]: JSON.stringify(images),
    },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
