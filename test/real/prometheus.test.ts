/**
 * Goal: what a real Prometheus 3 remarks on an answer - cut by a limit, odd question, nothing - becomes the right
 * completeness. Method: loaded samples, one server started with a small `--query.max-samples`, TLS in front.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stage, startStage } from '#test/flow/stage.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Prometheus, startPrometheus } from '#test/servers/prometheus.ts';
import { startTlsFront, type TlsFront } from '#test/servers/tls-front.ts';
import { codesOf, rowsOf } from './walk-all.ts';

const SERIES = 120;
const AT = Date.UTC(2026, 0, 15) / 1000;
const skip = await unavailable('prometheus', 'promtool');

const names = Array.from({ length: SERIES }, (_, index) => `w${String(index).padStart(3, '0')}`);
const samples = [
  '# TYPE widgets gauge',
  ...names.flatMap((name, index) =>
    [AT - 120, AT - 60, AT].map((time, step) => `widgets{name="${name}",instance="i${index % 4}"} ${index + step} ${time}`),
  ),
  '# EOF',
  '',
].join('\n');

/** What an agent may ask, and the PromQL the owner wrote for it. */
const QUESTIONS = {
  all: 'widgets',
  rising: 'rate(widgets[5m])',
  quantile: 'quantile by (name) (7, widgets)',
  nothing: 'widgets{name="of nobody"}',
  broken: 'widgets{',
  huge: 'count_over_time(widgets[5m:100ms])',
};

let prometheus: Prometheus;
let front: TlsFront;
let stage: Stage;

before(async () => {
  if (skip !== false) return;
  prometheus = await startPrometheus({ samples, flags: ['--query.max-samples=2000'] });
  front = await startTlsFront({ target: prometheus.url });
  stage = await startStage({
    contracts: contracts(front.url),
    upstreamPort: 0,
    credentials: { 'postern-metrics/token': 'metrics-token-0123456789', 'postern-metrics/ca.crt': front.caPem },
  });
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await front?.[Symbol.asyncDispose]();
  await prometheus?.[Symbol.asyncDispose]();
});

function contracts(origin: string): string {
  const limit = 'limit: {type: integer, minimum: 1, maximum: 1000}';
  const window = `start: "${AT - 300}", end: "${AT + 300}"`;
  return [
    `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: metrics, namespace: real}
spec:
  owner: observability
  secret: {name: postern-metrics}
  contracts: [ask, list-series, list-names]
  destinations: [{origin: "${origin}", methods: [GET], pathPrefixes: [/api/v1/], addresses: [127.0.0.1/32], ca: {key: ca.crt}}]
  use: {bearer: {key: token}}`,
    contract('ask', {
      argumentsSchema: `required: [question], properties: {question: {type: string, enum: [${Object.keys(QUESTIONS).join(', ')}]}, ${limit}}`,
      resolve: Object.entries(QUESTIONS).map(([label, promql]) => `${label}: {promql: '${promql}'}`),
      http: `url: "${origin}/api/v1/query", query: {query: "$(resolve.question.promql)", time: "${AT}", limit: "$(args.limit)"}`,
      result:
        'items: [/data/result], as: rows, id: [/metric/name], fields: [{name: name, path: /metric/name}, {name: value, path: /value}]',
    }),
    contract('list-series', {
      argumentsSchema: `properties: {${limit}}`,
      http: `url: "${origin}/api/v1/series", query: {"match[]": widgets, ${window}, limit: "$(args.limit)"}`,
      result: 'items: [/data], as: series, id: [/name, /instance], fields: [{name: name}, {name: instance}]',
    }),
    contract('list-names', {
      argumentsSchema: `properties: {${limit}}`,
      http: `url: "${origin}/api/v1/label/name/values", query: {${window}, limit: "$(args.limit)"}`,
      result: 'items: [/data], as: names, id: [/], fields: [{name: name, path: /}]',
    }),
  ].join('\n---\n');
}

interface Parts {
  readonly argumentsSchema: string;
  readonly resolve?: readonly string[];
  readonly http: string;
  readonly result: string;
}

function contract(name: string, { argumentsSchema, resolve, http, result }: Parts): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: real}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: Ask Prometheus
  owner: sre
  effect: Read
  callers: [{serviceAccount: sre-bot}]
  credentials: [metrics]
  arguments: {type: object, additionalProperties: false, ${argumentsSchema}}
${resolve === undefined ? '' : `  resolve:\n    question:\n      ${resolve.join('\n      ')}\n`}  http: {credential: metrics, method: GET, ${http}}
  result: {${result}}
  completeness:
    preset: prometheus-v1
    reach: {narrowBy: [limit]}
    limits: {time: 20s}
    scope: {resource: widgets, visibility: one Prometheus, absence: Provable}
  warnings: [{name: engine-note, code: UPSTREAM_NOTICE, owner: observability, expires: "2027-06-30", message: The engine remarked on the query}]`;
}

function namesIn(rows: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  return rows.map(({ name }) => name).sort();
}

test('prometheus: a whole answer is complete, with every series', { skip }, async () => {
  const answer = await stage.call('ask', { question: 'all' });
  assert.deepEqual(namesIn(rowsOf(answer)), names);
  assert.deepEqual(
    rowsOf(answer).find(({ name }) => name === 'w007'),
    { name: 'w007', value: [AT, '9'] },
  );
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.completeness.scope.consistency, 'single_page');
  assert.deepEqual(answer.warnings, []);
});

test('prometheus: nothing found is complete and empty', { skip }, async () => {
  const answer = await stage.call('ask', { question: 'nothing' });
  assert.deepEqual(rowsOf(answer), []);
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.completeness.scope.absence, 'provable');
});

for (const { action, args, whole } of [
  { action: 'ask', args: { question: 'all' }, whole: SERIES },
  { action: 'list_series', args: {}, whole: SERIES },
  { action: 'list_names', args: {}, whole: SERIES },
]) {
  test(`prometheus: ${action} cut by its limit is RESULT_LIMIT_REACHED, one row more is complete`, { skip }, async () => {
    const cut = await stage.call(action, { ...args, limit: whole - 1 });
    assert.equal(rowsOf(cut).length, whole - 1);
    assert.deepEqual(codesOf(cut), ['RESULT_LIMIT_REACHED']);
    assert.equal(cut.completeness.incomplete_reasons[0]?.origin, 'upstream');
    assert.equal(cut.completeness.incomplete_reasons[0]?.rule, 'warnings');
    assert.equal(cut.evidence, undefined);

    const all = await stage.call(action, { ...args, limit: whole });
    assert.deepEqual(namesIn(rowsOf(all)), names);
    assert.equal(all.completeness.complete, true);
    assert.notEqual(all.evidence, undefined);
  });
}

test('prometheus: an info about the question is a notice and leaves the answer complete', { skip }, async () => {
  const answer = await stage.call('ask', { question: 'rising' });
  assert.equal(answer.completeness.complete, true);
  assert.equal(rowsOf(answer).length, SERIES);
  assert.deepEqual(
    answer.warnings.map(({ code, owner }) => ({ code, owner })),
    [{ code: 'UPSTREAM_NOTICE', owner: 'observability' }],
  );
});

test('prometheus: a warning about the question is a notice, not a gap', { skip }, async () => {
  const answer = await stage.call('ask', { question: 'quantile' });
  assert.equal(answer.completeness.complete, true);
  assert.deepEqual(
    answer.warnings.map(({ code }) => code),
    ['UPSTREAM_NOTICE'],
  );
});

test('prometheus: a question it refuses is REMOTE_REJECTED, and its words stay behind', { skip }, async () => {
  const error = await stage.refused('ask', { question: 'broken' });
  assert.equal(error.reason, 'REMOTE_REJECTED');
  assert.equal(error.retryable, false);
  assert.doesNotMatch(`${error.message} ${JSON.stringify(error.completeness)}`, /parse error|unexpected|widgets\{/);
});

test('prometheus: too many samples is a cap with a narrower question as the way on', { skip }, async () => {
  const error = await stage.refused('ask', { question: 'huge' });
  assert.equal(error.reason, 'RESULT_INCOMPLETE');
  assert.deepEqual(wayOf(error.completeness), { kind: 'narrow_query', arguments: ['limit'] });
});

function wayOf(completeness: unknown): unknown {
  assert(typeof completeness === 'object' && completeness !== null && 'continuation' in completeness);
  return completeness.continuation;
}
