/** Values of the chart: each changes what is rendered, each is explained, and a wrong one is refused by name. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { unavailable } from '#test/servers/build.ts';
import { chart, namespace, required, run } from './release.ts';

const skip = await unavailable('helm');

/** A change of each value, and what must then stand in what is rendered. */
const CHANGES: Readonly<Record<string, { readonly to: string; readonly shows: RegExp | null }>> = {
  'image.repository': { to: 'mirror.example.com:5000/postern', shows: /mirror\.example\.com:5000\/postern@sha256:/ },
  'image.digest': { to: `sha256:${'a'.repeat(64)}`, shows: /@sha256:aaaa/ },
  'image.pullPolicy': { to: 'Always', shows: /imagePullPolicy: Always/ },
  'image.pullSecrets': { to: '[{"name":"registry"}]', shows: /imagePullSecrets:\s+- name: registry/ },
  replicas: { to: '5', shows: /replicas: 5/ },
  logLevel: { to: 'debug', shows: /POSTERN_LOG_LEVEL, value: "debug"/ },
  'sidecar.pullPolicy': { to: 'Never', shows: /POSTERN_SIDECAR_PULL_POLICY, value: "Never"/ },
  'sidecar.leaseSeconds': { to: '86400', shows: /POSTERN_LEASE_SECONDS, value: "86400"/ },
  'sidecar.sizes': {
    to: '[{"name":"tiny","cpu":{"request":"1m","limit":"2m"},"memory":{"request":"64Mi","limit":"65Mi"}}]',
    shows: /POSTERN_SIDECAR_SIZES, value: "tiny=1m\/2m\/64Mi\/65Mi"/,
  },
  'approvalWebhook.url': {
    to: 'https://hooks.example.com/x',
    shows: /POSTERN_APPROVAL_WEBHOOK, value: "https:\/\/hooks\.example\.com\/x"/,
  },
  'approvalWebhook.secret': { to: 'postern-hook', shows: /secret: \{secretName: "postern-hook"/ },
  'audit.recipients': { to: `["age1${'q'.repeat(58)}"]`, shows: /POSTERN_AUDIT_RECIPIENTS, value: "age1q{58}"/ },
  'audit.cluster': { to: 'west', shows: /POSTERN_CLUSTER, value: "west"/ },
  'audit.mode': { to: 'Local', shows: /POSTERN_AUDIT_MODE, value: "Local"/ },
  'audit.store.url': { to: 's3://audit/postern', shows: /POSTERN_AUDIT_STORE, value: "s3:\/\/audit\/postern"/ },
  'audit.store.rootsKey': { to: 'ca.crt', shows: /AWS_CA_BUNDLE, value: "\/var\/run\/postern\/audit-store\/ca\.crt"/ },
  'audit.store.secret': { to: 'audit-store', shows: /secret: \{secretName: "audit-store"/ },
  'audit.retention': { to: 'COMPLIANCE:400', shows: /POSTERN_AUDIT_RETENTION, value: "COMPLIANCE:400"/ },
  'operator.resources': { to: '{"limits":{"memory":"1Gi"}}', shows: /memory: 1Gi/ },
  'operator.heapMiB': { to: '700', shows: /max-old-space-size=700/ },
  'operator.nodeSelector': { to: '{"pool":"system"}', shows: /nodeSelector:\s+pool: system/ },
  'operator.tolerations': { to: '[{"key":"system","operator":"Exists"}]', shows: /tolerations:\s+- key: system/ },
  'operator.affinity': { to: '{"podAntiAffinity":{}}', shows: /podAntiAffinity/ },
  'operator.priorityClassName': { to: 'system-cluster-critical', shows: /priorityClassName: system-cluster-critical/ },
  'operator.podLabels': { to: '{"team":"platform"}', shows: /team: platform/ },
  'operator.podAnnotations': { to: '{"example.com/note":"yes"}', shows: /example\.com\/note: "?yes/ },
  'podDisruptionBudget.enabled': { to: 'false', shows: null },
  'webhooks.timeoutSeconds': { to: '7', shows: /timeoutSeconds: 7/ },
  'crds.install': { to: 'false', shows: null },
  'roles.create': { to: 'false', shows: null },
  'roles.aggregate': { to: 'true', shows: /aggregate-to-view: "true"/ },
  'metrics.monitors.enabled': { to: 'true', shows: /kind: PodMonitor/ },
  'metrics.monitors.interval': { to: '15s', shows: /interval: 15s/ },
  'metrics.monitors.labels': { to: '{"release":"prometheus"}', shows: /release: prometheus/ },
  'alerts.enabled': { to: 'true', shows: /kind: PrometheusRule/ },
  'alerts.labels': { to: '{"role":"rules"}', shows: /role: rules/ },
  'alerts.runbookUrl': {
    to: 'https://wiki.example.com/runbooks',
    shows: /runbook_url: https:\/\/wiki\.example\.com\/runbooks#posternnoleader/,
  },
  'dashboards.enabled': { to: 'true', shows: /grafana_dashboard: "1"/ },
  'dashboards.labels': { to: '{"board":"yes"}', shows: /board: "?yes/ },
  'dashboards.annotations': { to: '{"grafana_folder":"Postern"}', shows: /grafana_folder: Postern/ },
  'watcher.enabled': { to: 'true', shows: /kind: Deployment\nmetadata:\n {2}name: postern-watcher/ },
  'watcher.resources': { to: '{"limits":{"memory":"99Mi"}}', shows: /memory: 99Mi/ },
};

/** What must be on for another value to show. */
const NEEDS: Readonly<Record<string, string>> = {
  'metrics.monitors': 'metrics.monitors.enabled',
  alerts: 'alerts.enabled',
  dashboards: 'dashboards.enabled',
  watcher: 'watcher.enabled',
};
/** All of an audit that is shipped, other than what is tried. */
const AUDITED = [
  `--set-json=audit.recipients=["age1${'p'.repeat(58)}"]`,
  '--set=audit.store.url=s3://audit/other',
  '--set=audit.store.secret=another',
];

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
}
const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema;

/** Paths of values as a person sets them: a resource list is one. */
function valuePaths(node: unknown, path = ''): string[] {
  const open = /\.(resources|nodeSelector|affinity|podLabels|podAnnotations|labels|annotations)$/.test(path);
  if (typeof node !== 'object' || node === null || Array.isArray(node) || open) return [path];
  return Object.entries(node).flatMap(([name, child]) => valuePaths(child, path === '' ? name : `${path}.${name}`));
}

test('chart: every value has a change here, and each shows in what is rendered', { skip }, async () => {
  const values: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  assert.deepEqual(Object.keys(CHANGES).sort(), valuePaths(values).sort());
  for (const [path, { to, shows }] of Object.entries(CHANGES)) {
    const needed = Object.entries(NEEDS).find(([prefix]) => path.startsWith(`${prefix}.`))?.[1];
    const enabled = needed === undefined || needed === path ? [] : [`--set=${needed}=true`];
    const on = path.startsWith('audit.') ? AUDITED : enabled;
    const text = async (...args: string[]) => {
      const { status, stdout, stderr } = await run('helm', ['template', 'postern', chart, '-n', namespace, ...required, ...on, ...args]);
      assert.equal(status, 0, `${path}: ${stderr}`);
      return stdout;
    };
    const changed = await text(/^[[{]/.test(to) ? `--set-json=${path}=${to}` : `--set=${path}=${to}`);
    assert.notEqual(changed, await text(), `${path} changes nothing`);
    if (shows !== null) assert.match(changed, shows, path);
  }
});

test('chart: values.yaml explains every value, and the schema knows exactly those', () => {
  const lines = readFileSync(join(chart, 'values.yaml'), 'utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    const entry = /^( *)(- )?[a-zA-Z]+:/.exec(line);
    if (entry === null || entry[2] !== undefined) continue;
    const deep = (entry[1] ?? '').length;
    const before = lines[index - 1] ?? '';
    // A value of a kind with its neighbour above (two resource lists, a class of sizes) shares its comment.
    const shared = deep >= 4 || /^( *)[a-zA-Z]+:/.test(before);
    const opensBlock = line.endsWith(':');
    assert.ok(before.trim().startsWith('#') || shared || opensBlock, `values.yaml:${index + 1} has no comment: ${line}`);
  }
  const known = (node: Schema | undefined, path: string): Schema | undefined =>
    path.split('.').reduce<Schema | undefined>((at, name) => at?.properties?.[name], node);
  for (const path of Object.keys(CHANGES)) assert.ok(known(schema, path), `${path} is not in values.schema.json`);
});

const REFUSED: Readonly<Record<string, { readonly set: string; readonly says: RegExp }>> = {
  'a value that does not exist': { set: 'replica=3', says: /additional properties 'replica' not allowed/ },
  'a misspelled value inside': { set: 'sidecar.leaseSecond=60', says: /'\/sidecar'.*additional properties 'leaseSecond' not allowed/s },
  'a tag in the repository': { set: 'image.repository=registry.example.com/postern:v1', says: /\/image\/repository/ },
  'a digest that is a tag': { set: 'image.digest=latest', says: /\/image\/digest.*does not match pattern '\^\(sha256/s },
  'a lease of a second': { set: 'sidecar.leaseSeconds=1', says: /\/sidecar\/leaseSeconds.*minimum: got 1, want 60/s },
  'a word for a number': { set: 'replicas=two', says: /\/replicas.*got string, want integer/s },
  'a log level of its own': { set: 'logLevel=verbose', says: /\/logLevel.*value must be one of 'error', 'warn', 'info', 'debug'/s },
  'a webhook that waits half a minute': {
    set: 'webhooks.timeoutSeconds=30',
    says: /\/webhooks\/timeoutSeconds.*maximum: got 30, want 10/s,
  },
  'CPU of a sidecar in cores': { set: 'sidecar.sizes[0].cpu.request=1', says: /\/sidecar\/sizes\/0/ },
};

for (const [what, { set, says }] of Object.entries(REFUSED)) {
  test(`chart: refuses ${what} and names it`, { skip }, async () => {
    const { status, stderr } = await run('helm', ['template', 'postern', chart, ...required, '--set', set]);
    assert.notEqual(status, 0);
    assert.match(stderr, says);
  });
}
