/**
 * Rules of the code as tests: the guard of the guard. Each block of the import graph in biome.json must really refuse
 * something, and each source file must fall in exactly one block, because a later override replaces an earlier one.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

interface Block {
  readonly includes: readonly string[];
  readonly linter: { readonly rules: { readonly style?: { readonly noRestrictedImports?: unknown } } };
}

const root = join(import.meta.dirname, '..');
const config: { overrides: Block[] } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
const blocks = config.overrides.filter((block) => block.linter.rules.style?.noRestrictedImports !== undefined);
const globs = blocks.flatMap((block) => block.includes);
/** `core/error/**` covers a folder and what is below it, `sidecar/*.ts` the files of one folder alone. */
const folderOf = (glob: string) => glob.replace(/\/\*\*$|\/\*\.ts$/, '');
const covers = (glob: string, file: string) =>
  glob.endsWith('/**') ? file.startsWith(`${folderOf(glob)}/`) : dirname(file) === folderOf(glob);

/** Something each folder must not import: its neighbour's inside, and a package that has another door. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  'core/error': ['#core/bounds/clock.ts', 'undici'],
  'core/bounds': ['#core/error/reasons.ts', 'yaml'],
  'core/resource': ['#core/contract/compile.ts', 'undici'],
  'core/encoding': ['#core/completeness/fold.ts', 'yaml'],
  'core/completeness': ['#core/contract/compile.ts', 'undici'],
  'core/contract': ['#core/runtime/log.ts', '@grpc/grpc-js'],
  'core/approval': ['#core/wire/status.ts', 'undici'],
  'core/audit': ['#core/contract/compile.ts', 'undici'],
  'core/wire': ['#core/runtime/grpc.ts', '@grpc/grpc-js'],
  'core/runtime': ['#sidecar/call/calls.ts', 'undici'],
  'sidecar/credential': ['#sidecar/execute/read.ts', 'undici'],
  'sidecar/cursor': ['#sidecar/call/plan.ts', 'undici'],
  'sidecar/wal': ['#sidecar/journal/journal.ts', 'ssh2'],
  'sidecar/audit': ['#sidecar/journal/journal.ts', '@aws-sdk/client-s3'],
  'sidecar/journal': ['#sidecar/call/plan.ts', 'pino'],
  'sidecar/approval': ['#sidecar/call/plan.ts', 'ssh2'],
  'sidecar/decode': ['#sidecar/execute/read.ts', 'undici'],
  'sidecar/execute': ['#sidecar/call/plan.ts', '@grpc/grpc-js'],
  'sidecar/call': ['#sidecar/credential/store.ts', 'undici'],
  'sidecar/serve': ['#sidecar/execute/read.ts', '@grpc/grpc-js'],
  'sidecar/contract-test': ['#sidecar/serve/action-service.ts', '@grpc/grpc-js'],
  sidecar: ['#operator/main.ts', '@grpc/grpc-js'],
  'sidecar/control': ['#sidecar/call/plan.ts', '@grpc/grpc-js'],
  'operator/kube': ['#operator/settings.ts', 'fastify'],
  'operator/certificate': ['#operator/webhook/server.ts', 'fastify'],
  'operator/pod': ['#operator/guard/judge.ts', '@kubernetes/client-node'],
  'operator/guard': ['#operator/control/service.ts', '@kubernetes/client-node'],
  'operator/access': ['#operator/contract/reconcile.ts', '@kubernetes/client-node'],
  'operator/contract': ['#operator/binding/reconcile.ts', '@kubernetes/client-node'],
  'operator/binding': ['#operator/contract/reconcile.ts', '@kubernetes/client-node'],
  'operator/session': ['#operator/control/service.ts', '@kubernetes/client-node'],
  'operator/approval': ['#operator/control/service.ts', '@kubernetes/client-node'],
  'operator/witness': ['#operator/control/service.ts', '@aws-sdk/client-s3'],
  'operator/rotation': ['#operator/binding/reconcile.ts', '@kubernetes/client-node'],
  'operator/exposure': ['#operator/control/service.ts', '@kubernetes/client-node'],
  'operator/control': ['#operator/session/reconcile.ts', '@grpc/grpc-js'],
  'operator/webhook': ['#operator/control/service.ts', '@kubernetes/client-node'],
  operator: ['#sidecar/main.ts', '@kubernetes/client-node'],
  cli: ['#operator/control/service.ts', '@grpc/grpc-js'],
};

/** The lines of a probe file, one import each, that Biome refuses. */
function refusedLines(folder: string, specifiers: readonly string[]): readonly number[] {
  const probe = join(root, folder, 'tidy-probe.ts');
  const source = specifiers.map((specifier, index) => `export { x${index} } from '${specifier}';`).join('\n');
  mkdirSync(dirname(probe), { recursive: true });
  writeFileSync(probe, `${source}\n`);
  try {
    const run = spawnSync(
      join(root, 'node_modules/.bin/biome'),
      ['lint', '--only=style/noRestrictedImports', '--max-diagnostics=none', probe],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    const found = (run.stdout + run.stderr).matchAll(/tidy-probe\.ts:(\d+):\d+ lint\/style\/noRestrictedImports/g);
    return [...found].map((match) => Number(match[1]));
  } finally {
    rmSync(probe, { force: true });
  }
}

test('tidy: every block of the import graph has a probe here', () => {
  assert.deepEqual(globs.map(folderOf).sort(), Object.keys(FORBIDDEN).sort());
});

for (const [folder, forbidden] of Object.entries(FORBIDDEN)) {
  test(`tidy: ${folder} may not import ${forbidden.join(', ')} or a parent folder`, () => {
    const specifiers = [...forbidden, '../sibling/file.ts'];
    assert.deepEqual(
      refusedLines(folder, specifiers),
      specifiers.map((_, index) => index + 1),
    );
  });
}

test('tidy: every source file falls in exactly one block', () => {
  const files = execFileSync('git', ['ls-files', 'core', 'sidecar', 'operator', 'cli'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.endsWith('.ts') && !file.includes('/gen/'));
  for (const file of files) {
    const owners = globs.filter((glob) => covers(glob, file));
    assert.equal(owners.length, 1, `${file} is in blocks: ${owners.join(', ') || 'none'}`);
  }
});

test('tidy: nothing uses the global fetch, which follows redirects and reads the environment', () => {
  const found = spawnSync('git', ['grep', '-nE', '\\bfetch\\(', '--', 'core', 'sidecar', 'cli', 'operator'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(found.stdout, '');
});

test('tidy: no test is skipped, focused or left to do in the source', () => {
  const found = spawnSync('git', ['grep', '-nE', '\\b(it|test|describe)\\.(skip|todo|only)\\b', '--', 'test'], {
    cwd: root,
    encoding: 'utf8',
  });
  const lines = found.stdout.split('\n').filter((line) => line !== '' && !line.includes('tidy.test.ts'));
  assert.deepEqual(lines, []);
});
