/**
 * Goal: an object in a folder is whole or not there, whatever stops the process, and never replaced. Method: a child process that creates
 * objects is ended by SIGKILL at each of its system calls on the store (strace), or its disk is really full; then somebody else looks.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { StoreFaultKind } from '#core/audit/object-store.ts';
import { StoreFault } from '#core/audit/object-store.ts';
import { createFileObjects } from '#core/runtime/file-objects.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-file-objects-'));
after(() => rmSync(home, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;
const straced = spawnSync('strace', ['-V']).error === undefined;
const namespaces = spawnSync('unshare', [...(isRoot ? [] : ['--user', '--map-root-user']), '--mount', 'true']).status === 0;

let folders = 0;
const newRoot = () => {
  folders += 1;
  return join(home, `store-${folders}`);
};
const object = (name: string, text: string) => ({ name, bytes: Buffer.from(text), sha256: hash('sha256', text, 'buffer') });
const fault = (kind: StoreFaultKind) => (error: unknown) => error instanceof StoreFault && error.kind === kind;
const names = async (root: string, folder = '') => {
  const found: string[] = [];
  for await (const { name } of createFileObjects(root).list(folder)) found.push(name);
  return found;
};
const asides = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('.'));

test('file objects: an object is created once, equal bytes are present, others leave it as it was (AUD-19)', async () => {
  const root = newRoot();
  const store = createFileObjects(root);
  assert.deepEqual(await store.probe(), []);
  assert.equal(await store.create(object('a/b/1.seg', 'one')), 'created');
  assert.equal(await store.create(object('a/b/1.seg', 'one')), 'present');
  await assert.rejects(store.create(object('a/b/1.seg', 'two')), fault('occupied'));
  await assert.rejects(store.create(object('a/b/1.seg', 'longer')), fault('occupied'));
  assert.equal((await store.read('a/b/1.seg', 3))?.toString(), 'one');
  assert.deepEqual(asides(join(root, 'a/b')), []);
  await assert.rejects(store.read('a/b/1.seg', 2), fault('too-large'));
  assert.equal(await store.read('a/b/2.seg', 2), undefined);
  assert.equal(await store.read('x/y/2.seg', 2), undefined);
});

test('file objects: a hundred writers of one name with bytes of their own leave exactly one', async () => {
  const root = newRoot();
  const store = createFileObjects(root);
  const ends = await Promise.allSettled(Array.from({ length: 100 }, (_, index) => store.create(object('one', `writer ${index}`))));
  const winners = ends.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
  assert.equal(winners.length, 1);
  assert.equal((await store.read('one', 100))?.toString(), `writer ${winners[0]}`);
  for (const end of ends) if (end.status === 'rejected') assert.ok(fault('occupied')(end.reason), String(end.reason));
});

test('file objects: names are listed in the order of their bytes, with what stands below a folder', async () => {
  const root = newRoot();
  const store = createFileObjects(root);
  for (const name of ['b/2', 'b/10', 'b-c/1', 'a', 'ü/1', 'b/x/1']) await store.create(object(name, name));
  assert.deepEqual(await names(root), ['a', 'b-c/1', 'b/10', 'b/2', 'b/x/1', 'ü/1']);
  assert.deepEqual(await names(root, 'b/'), ['b/10', 'b/2', 'b/x/1']);
  assert.deepEqual(await names(root, 'none/'), []);
  assert.deepEqual(await names(join(root, 'not-there')), []);
});

test('file objects: neither a name nor a link leads out of the store', async () => {
  const root = newRoot();
  const store = createFileObjects(root);
  const outside = newRoot();
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret');
  await store.create(object('a/1', 'one'));
  symlinkSync(outside, join(root, 'link'));
  symlinkSync(join(outside, 'secret'), join(root, 'a/2'));
  symlinkSync(join(outside, 'new'), join(root, 'a/3'));
  for (const name of ['../x', '/etc/x', 'a/../../x', 'a//x', '.x', 'a/.x', 'link/x', 'link/deep/x', 'a/2'])
    await assert.rejects(store.create(object(name, 'x')), fault('refused'), name);
  await assert.rejects(store.create(object('a/3', 'x')), (error) => error instanceof StoreFault);
  for (const name of ['../x', 'link/secret', 'a/2', 'a']) await assert.rejects(store.read(name, 100), fault('refused'), name);
  assert.deepEqual(await names(root), ['a/1']);
  await assert.rejects(names(root, 'link/'), fault('refused'));
  assert.deepEqual(readdirSync(outside), ['secret']);
});

const WRITER = `
  import { createFileObjects } from '#core/runtime/file-objects.ts';
  import { hash } from 'node:crypto';
  const store = createFileObjects(process.argv[1]);
  const bytes = Buffer.alloc(300_000, 7);
  for (const name of ['n/d/1.seg', 'n/d/2.seg']) {
    console.log(name + ' ' + await store.create({ name, bytes, sha256: hash('sha256', bytes, 'buffer') }).catch((error) => error.kind));
  }
`;
const NODE = [process.execPath, '--input-type=module', '-e', WRITER];
const repository = join(import.meta.dirname, '../../..');

test('file objects: SIGKILL at any system call leaves each object whole or not there, and the next writer nothing aside', {
  skip: straced ? false : 'strace is not here',
}, async () => {
  let killed = 0;
  for (const call of ['mkdir', 'openat', 'write', 'pwrite64', 'fsync', 'link', 'unlink']) {
    for (let nth = 1; ; nth += 1) {
      const root = newRoot();
      const paths = [root, join(root, 'n'), join(root, 'n/d'), join(root, 'n/d/1.seg'), join(root, 'n/d/2.seg')];
      // Aside files have names nobody can know; link and unlink carry them, and what is on a descriptor is matched by nothing else.
      const filter = ['openat', 'mkdir'].includes(call) ? paths.flatMap((path) => ['-P', path]) : [];
      const inject = [`trace=${call}`, `inject=${call}:signal=KILL:when=${nth}`];
      const run = spawnSync('strace', ['-f', '-o', '/dev/null', ...inject.flatMap((text) => ['-e', text]), ...filter, ...NODE, root], {
        cwd: repository,
        encoding: 'utf8',
      });
      await assertWhole(root, run.stdout);
      if (run.signal !== 'SIGKILL' && run.status === 0) break;
      killed += 1;
      if (nth > 12) break;
    }
  }
  assert.ok(killed > 12, `${killed} places`);
});

async function assertWhole(root: string, said: string): Promise<void> {
  const store = createFileObjects(root);
  const bytes = Buffer.alloc(300_000, 7);
  for (const name of ['n/d/1.seg', 'n/d/2.seg']) {
    const found = await store.read(name, 1_000_000);
    if (said.includes(`${name} created`)) assert.ok(found !== undefined, `${name} was acknowledged`);
    if (found !== undefined) assert.ok(found.equals(bytes), `${name} is whole`);
    assert.equal(await store.create({ name, bytes, sha256: hash('sha256', bytes, 'buffer') }), found === undefined ? 'created' : 'present');
  }
  assert.deepEqual(readdirSync(join(root, 'n/d')), ['1.seg', '2.seg']);
}

test('file objects: a failing fsync is no success, and the object can be created afterwards (AUD-10)', {
  skip: straced ? false : 'strace is not here',
}, async () => {
  for (let nth = 1; nth <= 12; nth += 1) {
    const root = newRoot();
    const inject = ['trace=fsync', `inject=fsync:error=EIO:when=${nth}`];
    const run = spawnSync('strace', ['-f', '-o', '/dev/null', ...inject.flatMap((text) => ['-e', text]), ...NODE, root], {
      cwd: repository,
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
    await assertWhole(root, run.stdout);
  }
});

test('file objects: on a full disk nothing is created and nothing is left, and with room it works (AUD-08)', {
  skip: namespaces ? false : 'namespaces are not allowed here',
}, () => {
  const root = newRoot();
  mkdirSync(root);
  const script = `mount -t tmpfs -o size=512k tmpfs "$1" && "$2" --input-type=module -e "$3" "$1"; ls -A "$1/n/d"`;
  const enter = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const run = spawnSync('unshare', [...enter, 'sh', '-c', script, 'sh', root, process.execPath, WRITER], {
    cwd: repository,
    encoding: 'utf8',
  });
  assert.deepEqual(run.stdout.trim().split('\n'), ['n/d/1.seg created', 'n/d/2.seg unavailable', '1.seg'], run.stderr);
  assert.deepEqual(readFileSync('/proc/self/mounts', 'utf8').includes(root), false);
});
