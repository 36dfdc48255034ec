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
import { startStage } from '#test/flow/stage.ts';
import { rowsOf } from '#test/real/walk-all.ts';
import { programPath, unavailable } from '#test/servers/build.ts';
import { startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { chart } from './release.ts';

const root = join(chart, '../..');
const page = readFileSync(join(root, 'docs/cluster.md'), 'utf8');
const blocks = (language: string) => [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
/** YAML blocks begin with the name of a file. */
const files = new Map(blocks('yaml').map((text) => [/^# (\S+)\n/.exec(text)?.[1] ?? '', text]));
const commands = blocks('sh').join('\n').replace(/\\\n/g, ' ').split('\n');
const skip = await unavailable('promtool');
const skipCall = await unavailable('etcd', 'kube-apiserver');
/** With a day that is never past. */
const fresh = (name: string) => (files.get(name) ?? '').replace(/expires: "[0-9-]+"/g, `expires: "${soon}"`);
const soon = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);

test('cluster page: the contract and the binding of the walk-through compile, with nothing to warn of but what they say', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-page-'));
  try {
    for (const name of ['binding.yaml', 'contract.yaml']) {
      writeFileSync(join(folder, name), fresh(name));
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
    assert.match(command.trim(), /^(kubectl|helm|postern|--from-literal|npm ci$|ln -s )/);
  }
});

test('cluster page: the action of the walk-through answers as the page says, over a real API server', { skip: skipCall }, async () => {
  await using kube = await startKubeApiserver();
  const create = async (path: string, body: object) => {
    const answer = await kube.request('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  };
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/walk';
  await create('/api/v1/namespaces', { metadata: { name: 'walk' } });
  const token = await kube.createServiceAccountToken('walk', 'reader');
  await create('/api/v1/namespaces/walk/serviceaccounts', { metadata: { name: 'default' } });
  await create(`${rbac}/roles`, { metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] });
  await create(`${rbac}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'walk' }],
  });
  for (const name of ['one', 'two'])
    await create('/api/v1/namespaces/walk/pods', {
      metadata: { name },
      spec: { containers: [{ name: 'agent', image: 'example.invalid/agent' }] },
    });
  const here = ['binding.yaml', 'contract.yaml'].map((name) =>
    fresh(name).replaceAll('https://kubernetes.default.svc', kube.url).replace('10.96.0.1/32', '127.0.0.1/32'),
  );
  await using stage = await startStage({
    contracts: here.join('---\n'),
    upstreamPort: 0,
    credentials: { 'postern-cluster-reader/token': token, 'postern-cluster-reader/ca.crt': kube.caPem },
  });
  const any = await stage.call('list_pods', { phase: 'any' });
  assert.deepEqual(
    rowsOf(any).map(({ name }) => name),
    ['one', 'two'],
  );
  assert.equal(any.completeness.complete, true);
  assert.deepEqual(
    any.warnings.map(({ code, owner }: { code: string; owner?: string }) => [code, owner]),
    [['STALE_INDEX', 'walk-team']],
  );
  assert.equal(any.evidence, undefined);
  assert.deepEqual(rowsOf(await stage.call('list_pods', { phase: 'running' })), []);
});
