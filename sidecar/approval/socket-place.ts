/**
 * Where the socket of approvals may be. Its permission is the whole proof of who decides, so nobody else may be able to put another
 * socket in its place, nor to open a file that we would remove.
 */
import { lstatSync, mkdirSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, resolve } from 'node:path';
import { limits } from '#core/bounds/limits.ts';

/** A path that cannot be used; `message` names it and the rule, `cure` says what a person can do. */
export class SocketRefused extends Error {
  readonly cure: string;
  constructor(message: string, cure: string) {
    super(message);
    this.name = 'SocketRefused';
    this.cure = cure;
  }
}

/**
 * The absolute path, free to bind: its folder is made (mode 0700) where only the last part is missing, and a socket that a killed
 * sidecar of this user left behind is removed. Throws SocketRefused.
 */
export async function takeSocketPlace(written: string, uid: number): Promise<string> {
  const path = resolve(written);
  const bytes = Buffer.byteLength(path);
  if (bytes > limits.approvalSocketPathBytesMax)
    throw new SocketRefused(
      `the path of a socket has at most ${limits.approvalSocketPathBytesMax} bytes, and ${path} has ${bytes}`,
      'Name a shorter one; the system would cut it.',
    );
  refuseOpenFolders(ownFolder(dirname(path)), uid);
  await removeStale(path, uid);
  return path;
}

/** Its real path: what the system walks, whatever links the written one goes through. */
function ownFolder(folder: string): string {
  try {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, { mode: 0o700 });
    const real = realpathSync(folder);
    if (statSync(real).isDirectory()) return real;
  } catch (fault) {
    throw new SocketRefused(`the folder ${folder} cannot be used (${faultCode(fault)})`, 'Make it, with mode 0700.');
  }
  throw new SocketRefused(`${folder} is not a folder`, 'Name a path in a folder of your own.');
}

/**
 * In the folder itself others may not write at all: in one like /tmp they could take the name first. In those above it they may not
 * rename what is ours, so there the sticky bit is enough.
 */
function refuseOpenFolders(folder: string, uid: number): void {
  for (let at = folder; ; at = dirname(at)) {
    const found = statSync(at);
    const writable = (found.mode & 0o022) !== 0;
    const sticky = (found.mode & 0o1000) !== 0;
    if (found.uid !== uid && found.uid !== 0)
      throw new SocketRefused(`the folder ${at} belongs to another user (uid ${found.uid})`, OWN_FOLDER);
    if (writable && (at === folder || !sticky)) throw new SocketRefused(`others may write to the folder ${at}`, OWN_FOLDER);
    if (at === dirname(at)) return;
  }
}

const OWN_FOLDER = 'Whoever may write there could take the place of the socket. Name a path in a folder of your own with mode 0700.';

async function removeStale(path: string, uid: number): Promise<void> {
  const found: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new SocketRefused(`${path} is there and is not a socket`, 'Name another path, or remove that file.');
  if (found.uid !== uid) throw new SocketRefused(`the socket ${path} belongs to another user (uid ${found.uid})`, 'Name another path.');
  if (await answers(path)) throw new SocketRefused(`another process listens on ${path}`, 'Stop it, or name another path.');
  // The folder is ours alone, so it is still the one that was looked at.
  rmSync(path);
}

/** Whether somebody accepts connections there; a socket whose process was killed refuses them. */
function answers(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', (fault) => settle(faultCode(fault) !== 'ECONNREFUSED'));
  });
}

/** As the system names it, such as EACCES. */
export function faultCode(fault: unknown): string {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : 'unknown fault';
}
