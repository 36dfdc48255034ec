/**
 * What a sidecar loads. A thousand pods pay for each module at their start and in memory, and a Kubernetes client inside of the pod
 * would be one more thing with a way out: the sidecar has neither that nor any part of the operator.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { build, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');
let inputs: Metafile['inputs'];

before(async () => {
  const { metafile } = await build({
    entryPoints: [join(root, 'cli', 'main.ts')],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    logLevel: 'silent',
  });
  inputs = metafile.inputs;
});

/** Files and packages that are reached from `entry`; with `lazy`, those too that are loaded later. */
function reached(entry: string, lazy: boolean): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of inputs[path]?.imports ?? []) if (lazy || kind !== 'dynamic-import') visit(next);
  };
  visit(entry);
  return found;
}

function strangers(found: ReadonlySet<string>): readonly string[] {
  return [...found].filter((path) => path.startsWith('operator/') || path.startsWith('@kubernetes/') || path === 'reflect-metadata');
}

test('import graph: the program itself loads neither the operator nor the sidecar before a command is chosen', () => {
  const found = reached('cli/main.ts', false);
  assert.deepEqual(strangers(found), []);
  assert.ok(!found.has('sidecar/main.ts'));
});

test('import graph: a sidecar with an operator reaches the control stream, and nothing of Kubernetes, ever', () => {
  const found = reached('cli/sidecar.ts', true);
  assert.ok(found.has('sidecar/control/link.ts') && found.has('@grpc/grpc-js'));
  assert.deepEqual(strangers(found), []);
});

test('import graph: a sidecar of files does not load the control stream, and the port listens before the web framework is there', () => {
  const found = reached('sidecar/main.ts', false);
  assert.ok(![...found].some((path) => path === 'sidecar/control/link.ts'));
  for (const name of ['fastify', 'prom-client', 'sidecar/operator-configuration.ts']) assert.ok(!found.has(name), name);
});

test('import graph: SSH is loaded by the first contract that needs it, through one door', () => {
  assert.ok(!reached('sidecar/main.ts', false).has('ssh2'));
  assert.ok(reached('sidecar/main.ts', true).has('ssh2'));
  const doors = Object.keys(inputs).filter((path) => (inputs[path]?.imports ?? []).some(({ path: next }) => next === 'ssh2'));
  assert.deepEqual(
    doors.filter((path) => !path.startsWith('sidecar/execute/ssh/')),
    [],
  );
});
