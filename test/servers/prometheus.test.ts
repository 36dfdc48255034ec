import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unavailable } from './build.ts';
import { startPrometheus } from './prometheus.ts';

interface Answer {
  readonly status: string;
  readonly data: unknown;
  readonly warnings?: readonly string[];
}

const skip = await unavailable('prometheus', 'promtool');
const at = Date.UTC(2026, 0, 15) / 1000;
const samples = [
  '# TYPE widgets gauge',
  ...['a', 'b', 'c'].map((name, value) => `widgets{name="${name}"} ${value + 1} ${at}`),
  '# EOF',
  '',
].join('\n');
const rules = `
groups:
  - name: widgets
    interval: 1s
    rules: [{ alert: AlwaysFiring, expr: vector(1) }]
`;

test('prometheus: a real Prometheus starts with samples and rules', { skip }, async (t) => {
  await using prometheus = await startPrometheus({
    config: 'rule_files: [rules.yml]\n',
    files: { 'rules.yml': rules },
    samples,
  });
  const get = async (path: string, query: Record<string, string>): Promise<Answer> => {
    const response = await fetch(`${prometheus.url}/api/v1/${path}?${new URLSearchParams(query)}`);
    return (await response.json()) as Answer;
  };

  await t.test('prometheus: a query sees the loaded samples at their time', async () => {
    const answer = await get('query', { query: 'sum(widgets)', time: String(at) });
    assert.equal(answer.status, 'success');
    assert.deepEqual(answer.data, { resultType: 'vector', result: [{ metric: {}, value: [at, '6'] }] });
    assert.equal(answer.warnings, undefined);
  });

  await t.test('prometheus: a list cut by limit carries a warning, an uncut one none', async () => {
    const window = { 'match[]': 'widgets', start: String(at - 60), end: String(at + 60) };
    const cut = await get('series', { ...window, limit: '2' });
    assert.equal((cut.data as unknown[]).length, 2);
    assert.deepEqual(cut.warnings, ['results truncated due to limit']);
    const whole = await get('series', { ...window, limit: '3' });
    assert.equal((whole.data as unknown[]).length, 3);
    assert.equal(whole.warnings, undefined);
  });

  await t.test('prometheus: rules from a file beside the configuration are loaded', async () => {
    const { data } = await get('rules', {});
    const [group] = (data as { groups: { name: string }[] }).groups;
    assert.equal(group?.name, 'widgets');
  });
});
