import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { SocketRefused, takeSocketPlace } from '#sidecar/approval/socket-place.ts';

const UID = process.getuid?.() ?? 0;
const root = mkdtempSync(join(tmpdir(), 'postern-place-'));
after(() => rmSync(root, { recursive: true, force: true }));

let next = 0;
/** A folder of our own with this mode, whatever the umask. */
function folder(mode = 0o700): string {
  next += 1;
  const path = join(root, String(next));
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

async function refusal(path: string): Promise<string> {
  const thrown = await takeSocketPlace(path, UID).then(
    () => undefined,
    (fault: unknown) => fault,
  );
  assert.ok(thrown instanceof SocketRefused, `it took ${path}`);
  assert.ok(thrown.cure.length > 10);
  return thrown.message;
}

test('socket place: takes a path in a folder of our own, and makes its last folder with mode 0700', async () => {
  const path = join(folder(), 'new', 'approvals.sock');
  assert.equal(await takeSocketPlace(path, UID), path);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
});

for (const [mode, what] of [
  [0o770, 'the group'],
  [0o707, 'everybody'],
  [0o1777, 'everybody, sticky as /tmp is'],
] as const)
  test(`socket place: refuses a folder that ${what} may write to`, async () => {
    assert.match(await refusal(join(folder(mode), 'a.sock')), /others may write/);
  });

test('socket place: refuses a folder above which others may put another one in its place', async () => {
  const above = folder(0o777);
  mkdirSync(join(above, 'own'), { mode: 0o700 });
  assert.match(await refusal(join(above, 'own', 'a.sock')), /others may write/);
});

test('socket place: looks at the folder a link leads to, not at the link', async () => {
  const open = folder(0o777);
  const link = join(folder(), 'link');
  symlinkSync(open, link);
  assert.match(await refusal(join(link, 'a.sock')), /others may write/);
});

test('socket place: refuses a folder of another user', { skip: UID !== 0 && 'only root can give a folder away' }, async () => {
  const given = folder();
  chownSync(given, 65_534, 65_534);
  assert.match(await refusal(join(given, 'a.sock')), /another user/);
});

test('socket place: leaves a file and a link that are there, and refuses them', async () => {
  const at = folder();
  writeFileSync(join(at, 'file'), 'kept');
  symlinkSync(join(at, 'file'), join(at, 'link'));
  assert.match(await refusal(join(at, 'file')), /not a socket/);
  assert.match(await refusal(join(at, 'link')), /not a socket/);
  assert.match(await refusal(join(at, 'file', 'a.sock')), /cannot be used|not a folder/);
  assert.equal(readFileSync(join(at, 'file'), 'utf8'), 'kept');
});

test('socket place: refuses the socket of a process that listens, and removes one that was left behind', async () => {
  const path = join(folder(), 'a.sock');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  assert.match(await refusal(path), /another process listens/);
  await new Promise((resolve) => server.close(resolve));
  // A process that is killed leaves its socket.
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  assert.equal(spawnSync(process.execPath, ['-e', program]).signal, 'SIGKILL');
  assert.equal(await takeSocketPlace(path, UID), path);
});

test('socket place: says how long a path may be, and how long this one is', async () => {
  const path = join(folder(), 'x'.repeat(120));
  assert.match(await refusal(path), new RegExp(`at most 103 bytes.* has ${path.length}`));
});
