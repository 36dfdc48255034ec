/** A Prometheus that watches Postern in a cluster with the alerts of the chart. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Prometheus, startPrometheus } from '#test/servers/prometheus.ts';

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/**
 * Scrapes the pods at these addresses each second. The rules are the chart's own, but for the half hours they wait before they
 * fire: what a test shows is that they become true.
 */
export async function watch(targets: Readonly<Record<'operator' | 'sidecar', readonly string[]>>): Promise<Prometheus> {
  const rules = await readFile(join(import.meta.dirname, '..', '..', 'charts', 'postern', 'files', 'alerts.yaml'), 'utf8');
  const jobs = Object.entries(targets).map(([job_name, addresses]) => ({
    job_name,
    static_configs: [{ targets: addresses.map((address) => `${address}:7718`) }],
  }));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yaml'],
    scrape_configs: jobs,
  };
  return startPrometheus({
    config: JSON.stringify(config),
    files: { 'alerts.yaml': rules.replaceAll(/^(\s+for:) .*$/gm, '$1 1s') },
  });
}

export async function alerts({ url }: Prometheus): Promise<readonly Alert[]> {
  const answer = await fetch(`${url}/api/v1/alerts`);
  return ((await answer.json()) as { data: { alerts: readonly Alert[] } }).data.alerts;
}
