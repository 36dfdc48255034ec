/** Alerts and dashboards against the metrics that exist, by Prometheus' own tools and by a running Prometheus. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { programPath, unavailable } from '#test/servers/build.ts';
import { startPrometheus } from '#test/servers/prometheus.ts';
import { CATALOGUE, cataloguePage } from './catalogue-page.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Check {
  readonly eval_time: string;
  readonly expr: string;
  readonly exp_samples: readonly unknown[];
}

const root = join(import.meta.dirname, '../..');
const files = join(root, 'charts/postern/files');
const rulesFile = join(files, 'alerts.yaml');
const casesFile = join(import.meta.dirname, 'alerts/cases.yaml');
const rulesText = readFileSync(rulesFile, 'utf8');
const alerts = (parse(rulesText) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);
const dashboards = readdirSync(join(files, 'dashboards')).map((name) => ({
  name,
  text: readFileSync(join(files, 'dashboards', name), 'utf8'),
}));
const runbooks = readFileSync(join(root, 'docs/runbooks.md'), 'utf8');
const skip = await unavailable('prometheus', 'promtool');

test('alerts: promtool finds nothing to say against the rules', { skip }, async () => {
  const run = spawnSync(await programPath('promtool'), ['check', 'rules', '--lint=all', '--lint-fatal', rulesFile], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout + run.stderr);
});

test('alerts: promtool finds nothing to say against the metrics of the catalogue', { skip }, async () => {
  const run = spawnSync(await programPath('promtool'), ['check', 'metrics'], { encoding: 'utf8', input: cataloguePage() });
  assert.equal(run.stdout + run.stderr, '');
  assert.equal(run.status, 0);
});

test('alerts: each fires and clears on made-up time, as its case says', { skip }, async () => {
  const run = spawnSync(await programPath('promtool'), ['test', 'rules', casesFile], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout + run.stderr);
});

test('alerts: none is without a case in which it fires and later clears', () => {
  const { tests } = parse(readFileSync(casesFile, 'utf8')) as { tests: { promql_expr_test: Check[] }[] };
  for (const { alert } of alerts) {
    const proven = tests.some(({ promql_expr_test: checks }) => {
      const own = checks.filter(({ expr }) => expr.includes(`alertname="${alert}"`) && expr.includes('alertstate="firing"'));
      const fired = own.findIndex(({ exp_samples: samples }) => samples.length > 0);
      return fired >= 0 && own.slice(fired + 1).some(({ exp_samples: samples }) => samples.length === 0);
    });
    assert.ok(proven, `${alert} has no case in ${casesFile} in which it fires and then clears`);
  }
});

test('alerts: each has a severity, a sentence, and a chapter of the runbooks that says what to do', () => {
  const chapters = new Map(
    runbooks
      .split(/^## /m)
      .slice(1)
      .map((chapter) => [chapter.slice(0, chapter.indexOf('\n')), chapter]),
  );
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels.severity ?? '', /^(critical|warning|info)$/, alert);
    assert.ok(annotations.summary && annotations.description, alert);
    assert.equal(annotations.runbook_url, `docs/runbooks.md#${alert.toLowerCase()}`);
    const chapter = chapters.get(alert) ?? '';
    for (const part of ['**Means.**', '**Look at.**', '**Do.**', '**Silence.**']) {
      assert.ok(chapter.includes(part), `${alert}: its chapter in docs/runbooks.md has no ${part}`);
    }
  }
  const named = new Set(alerts.map(({ alert }) => alert));
  assert.deepEqual(
    [...chapters.keys()].filter((name) => name.startsWith('Postern') && !named.has(name)),
    [],
  );
});

const MADE_BY_SCRAPING = ['namespace', 'pod', 'le'];

/** What a text of PromQL names that the catalogue does not have. */
function unknownNames(promql: string): string[] {
  const unknown: string[] = [];
  const used: string[] = [];
  for (const [, name = '', matchers = ''] of promql.matchAll(/\b(postern_[a-z0-9_]+)(?:\{([^}]*)\})?/g)) {
    const known = CATALOGUE.get(name) ?? CATALOGUE.get(name.replace(/_(bucket|sum|count)$/, ''));
    if (known === undefined) {
      unknown.push(name);
      continue;
    }
    const labels = [...known.labels, ...MADE_BY_SCRAPING];
    used.push(...labels);
    for (const [, label = ''] of matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)) {
      if (!labels.includes(label)) unknown.push(`${name}{${label}}`);
    }
  }
  for (const [, list = ''] of promql.matchAll(/\bby \(([^)]*)\)/g)) {
    for (const label of list.split(',').map((word) => word.trim())) {
      if (!used.includes(label)) unknown.push(`by (${label})`);
    }
  }
  return unknown;
}

test('alerts: every metric and label they name is in the catalogue', () => {
  for (const { alert, expr } of alerts) assert.deepEqual(unknownNames(expr), [], alert);
});

interface Panel {
  readonly title: string;
  readonly description: string;
  readonly targets: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}

test('dashboards: valid JSON whose every panel explains itself and names only metrics and labels of the catalogue', () => {
  assert.equal(dashboards.length, 3);
  for (const { name, text } of dashboards) {
    const { panels, templating } = JSON.parse(text) as Dashboard;
    for (const { title, description, targets } of panels) {
      assert.ok(title && description && targets.length > 0, `${name}: ${title}`);
      for (const { expr } of targets) assert.deepEqual(unknownNames(expr), [], `${name}: ${title}`);
    }
    for (const { definition = '' } of templating.list) assert.deepEqual(unknownNames(definition), [], name);
  }
});

test('alerts: a running Prometheus loads them, takes every query of the dashboards, and tells a person what expired', {
  skip,
}, async (t) => {
  const now = Math.floor(Date.now() / 1000);
  const labels = '{namespace="triage",contract="list-open-issues",code="STALE_INDEX",owner="triage-team"}';
  const samples = Array.from(
    { length: 20 },
    (_, index) => `postern_operator_warnings_expiry_seconds${labels} 1000 ${now - 150 + index * 30}`,
  );
  await using prometheus = await startPrometheus({
    config: 'global: {evaluation_interval: 1s}\nrule_files: [alerts.yaml]\n',
    files: { 'alerts.yaml': rulesText },
    samples: `# TYPE postern_operator_warnings_expiry_seconds gauge\n${samples.join('\n')}\n# EOF\n`,
  });
  const get = async <Data>(path: string): Promise<Data> =>
    ((await (await fetch(`${prometheus.url}/api/v1/${path}`)).json()) as { data: Data }).data;

  await t.test('alerts: all are loaded', async () => {
    const { groups } = await get<{ groups: { rules: { name: string }[] }[] }>('rules');
    assert.deepEqual(groups.flatMap(({ rules }) => rules.map(({ name }) => name)).sort(), alerts.map(({ alert }) => alert).sort());
  });

  await t.test('alerts: the text of a firing one names contract and owner', async () => {
    interface Firing {
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }
    let found: Firing | undefined;
    for (let tries = 0; tries < 120 && found === undefined; tries += 1) {
      const { alerts: firing } = await get<{ alerts: Firing[] }>('alerts');
      found = firing.find((alert) => alert.labels.alertname === 'PosternWarningExpired');
      if (found === undefined) await sleep(250);
    }
    assert.equal(found?.annotations.summary, 'STALE_INDEX of triage/list-open-issues is past its day');
    assert.match(found?.annotations.description ?? '', /^triage-team answers for it\./);
  });

  await t.test('dashboards: every query is one', async () => {
    for (const { name, text } of dashboards) {
      const { panels } = JSON.parse(text) as Dashboard;
      for (const { title, targets } of panels) {
        for (const { expr } of targets) {
          const query = expr.replace(/\$__rate_interval|\$__range/g, '5m').replace(/\$[a-z]+/g, '.*');
          const answer = await fetch(`${prometheus.url}/api/v1/query?${new URLSearchParams({ query })}`);
          assert.equal(answer.status, 200, `${name}: ${title}: ${await answer.text()}`);
        }
      }
    }
  });
});

test('dashboards: their identifiers stay, because bookmarks have them', () => {
  assert.deepEqual(dashboards.map(({ text }) => (JSON.parse(text) as Dashboard).uid).sort(), [
    'postern-effects',
    'postern-trust',
    'postern-warnings',
  ]);
});
