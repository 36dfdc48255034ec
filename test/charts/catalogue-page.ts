/** The metrics page as the catalogue promises it: one sample of each metric, with every label. */
import { METRICS } from '#core/runtime/metric-catalogue.ts';
import type { MetricEntry } from '#core/runtime/metric-entry.ts';
import { OPERATOR_METRICS } from '#core/runtime/operator-metric-catalogue.ts';

/** Every metric by its full name. */
export const CATALOGUE: ReadonlyMap<string, MetricEntry> = new Map(
  Object.entries({ ...METRICS, ...OPERATOR_METRICS } as Readonly<Record<string, MetricEntry>>).map(([name, entry]) => [
    `postern_${name}`,
    entry,
  ]),
);

export function cataloguePage(): string {
  const lines: string[] = [];
  for (const [name, { type, help, labels }] of CATALOGUE) {
    const pairs = labels.map((label) => `${label}="x"`);
    const sample = (suffix: string, more: readonly string[] = []) => {
      const all = [...pairs, ...more].join(',');
      lines.push(`${name}${suffix}${all === '' ? '' : `{${all}}`} 1`);
    };
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    if (type === 'histogram') {
      sample('_bucket', ['le="+Inf"']);
      sample('_sum');
      sample('_count');
    } else sample('');
  }
  return `${lines.join('\n')}\n`;
}
