/** docs/cluster.md against what is there: its objects, its commands, its scrape configuration, its names. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { clusterCommands } from '#cli/cluster.ts';
import { ANNOTATION, LABEL } from '#core/resource/names.ts';
import { CONTROL_REFUSALS } from '#core/wire/control-refusal.ts';
import { programPath, unavailable } from '#test/servers/build.ts';
import { chart } from './release.ts';

const root = join(chart, '../..');
const page = readFileSync(join(root, 'docs/cluster.md'), 'utf8');
const blocks = (language: string) => [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
/** YAML blocks begin with the name of a file. */
const files = new Map(blocks('yaml').map((text) => [/^# (\S+)\n/.exec(text)?.[1] ?? '', text]));
const commands = blocks('sh').join('\n').replace(/\\\n/g, ' ').split('\n');
const skip = await unavailable('promtool');

test('cluster page: the contract and the binding of the walk-through compile, with nothing to warn of but what they say', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-page-'));
  try {
    const soon = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
    for (const name of ['binding.yaml', 'contract.yaml']) {
      writeFileSync(join(folder, name), (files.get(name) ?? '').replace(/expires: "[0-9-]+"/g, `expires: "${soon}"`));
    }
    const lint = spawnSync(process.execPath, [join(root, 'cli/postern.mjs'), 'contract', 'lint', folder], { encoding: 'utf8' });
    assert.equal(lint.status, 0, lint.stdout + lint.stderr);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('cluster page: promtool takes the scrape configuration', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-page-'));
  try {
    writeFileSync(join(folder, 'prometheus.yml'), files.get('prometheus.yml') ?? '');
    writeFileSync(join(folder, 'alerts.yaml'), readFileSync(join(chart, 'files/alerts.yaml')));
    const check = spawnSync(await programPath('promtool'), ['check', 'config', join(folder, 'prometheus.yml')], { encoding: 'utf8' });
    assert.equal(check.status, 0, check.stdout + check.stderr);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('cluster page: every kubectl postern command is one', () => {
  const known = clusterCommands().map((command) => command.name());
  const used = [...page.matchAll(/kubectl postern ([a-z-]+)/g)].map(([, name = '']) => name);
  assert.ok(used.length > 5);
  for (const name of used) assert.ok(known.includes(name), `kubectl postern ${name}; there are ${known.join(', ')}`);
});

test('cluster page: every value it names is in values.yaml', () => {
  const values: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const table = page.slice(page.indexOf('\n## Values'), page.indexOf('\n## Labels'));
  const named = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
  assert.ok(named.length > 8);
  for (const path of named) {
    const found = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values);
    assert.notEqual(found, undefined, path);
  }
});

test('cluster page: labels, annotations and refusals are those of the code', () => {
  for (const name of [LABEL.enforce, LABEL.inject, LABEL.sessionApproval, ANNOTATION.size]) assert.ok(page.includes(`\`${name}`), name);
  const known = [...Object.keys(CONTROL_REFUSALS).map((code) => code.toLowerCase()), 'handshake'];
  const table = page.slice(page.indexOf('\n## Control stream'), page.indexOf('\n## Upgrades'));
  for (const [, row = ''] of table.matchAll(/^\| (`[^|]+) \|/gm)) {
    for (const [, code = ''] of row.matchAll(/`([^`]+)`/g)) assert.ok(known.includes(code), code);
  }
});

test('cluster page: every command of the walk-through names a program, and quotes close', () => {
  for (const command of commands.filter((line) => line !== '')) {
    const check = spawnSync('sh', ['-n'], { input: command, encoding: 'utf8' });
    assert.equal(check.status, 0, `${command}: ${check.stderr}`);
    assert.match(command.trim(), /^(kubectl|helm|postern|--from-literal)/);
  }
});
