#!/usr/bin/env node
// Sources run on Node 24. Under npx and npm scripts that is the pinned one of node_modules; started by an older
// Node directly, hand over to it instead of failing on the first type annotation.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const pinned = join(here, '..', 'node_modules', '.bin', 'node');
const main = join(here, 'main.ts');

if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { runCli } = await import('./main.ts');
  await runCli(process.argv);
} else if (existsSync(pinned)) {
  const run = spawn(pinned, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; what only this process gets is passed on. The other one decides how it ends.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => run.kill(signal));
  run.once('error', () => {
    process.exitCode = 1;
  });
  run.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
} else {
  console.error(
    `postern needs Node 24 or newer; this is ${process.version}. Run "npm ci" in the project (it brings its own Node) or install Node 24. (${main})`,
  );
  process.exitCode = 1;
}
