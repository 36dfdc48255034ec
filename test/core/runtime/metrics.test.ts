import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { METRICS } from '#core/runtime/metric-catalogue.ts';
import type { MetricEntry } from '#core/runtime/metric-entry.ts';
import { type CountedContract, type CountedEnvelope, SidecarMetrics } from '#core/runtime/metrics.ts';

/** 2026-01-01T00:00:00Z */
const START_MS = 1_767_225_600_000;

function manual(): Clock & { pass(ms: number): void } {
  let now = START_MS;
  const pass = (ms: number) => {
    now += ms;
  };
  return { wallMs: () => now, monotonicMs: () => now, sleep: async () => {}, alarm: () => () => {}, pass };
}

const contract: CountedContract = {
  action: 'search_code',
  owner: 'platform',
  warnings: { scope: { name: 'scope', code: 'DEFAULT_SCOPE_APPLIED', owner: 'search-team', expires: '2026-06-30' } },
  completeness: { notices: [{ warning: 'scope' }, { warning: 'lag', when: {} }] },
};

const partial: CountedEnvelope = {
  completeness: {
    complete: false,
    incomplete_reasons: [
      { code: 'RESULT_LIMIT_REACHED', origin: 'sidecar', limit: { pages: 10 } },
      { code: 'SOURCE_UNAVAILABLE', origin: 'upstream', limit: { total: 5 } },
    ],
    continuation: { kind: 'next_cursor', cursor: 'c' },
    page: { returned: 42 },
    budget: { waited_ms: 1500 },
  },
  warnings: [
    { code: 'DEFAULT_SCOPE_APPLIED', name: 'scope', owner: 'search-team', expires_at: '2026-06-30' },
    { code: 'STALE_INDEX', name: 'lag', owner: 'search-team', expires_at: '2026-02-01', observed_age_ms: 60_000 },
    { code: 'CREDENTIAL_REFLECTED' },
  ],
};

async function page(metrics: SidecarMetrics): Promise<Map<string, number>> {
  const { text } = await metrics.exposition();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

for (const [name, entry] of Object.entries(METRICS) as [string, MetricEntry][]) {
  test(`metrics: postern_${name} has a unit, a help sentence and plain labels`, () => {
    assert.match(name, /^[a-z][a-z_]*$/);
    assert.ok(name.endsWith(`_${entry.unit}`) || name.endsWith(entry.unit), name);
    assert.match(entry.help, /^[A-Z0-9].*\.$/);
    // Only counters count up without end; a name that says total says so.
    if (entry.unit === 'total') assert.equal(entry.type, 'counter');
    for (const label of entry.labels) assert.match(label, /^[a-z]+$/);
    for (const label of ['id', 'request', 'path', 'url', 'origin', 'argument', 'message']) assert.ok(!entry.labels.includes(label));
  });
}

test('metrics: what was counted before the library is loaded is not lost', async () => {
  const metrics = new SidecarMetrics(manual());
  metrics.declare(contract);
  for (let index = 0; index < 2500; index += 1) metrics.callFailed('search_code', 'REMOTE_UNAVAILABLE', 5);
  assert.equal((await page(metrics)).get('postern_calls_total{action="search_code",code="REMOTE_UNAVAILABLE"}'), 2500);
});

test('metrics: an answer is counted with its completeness, reasons, limits, rows, waits and cursor', async () => {
  const metrics = new SidecarMetrics(manual());
  metrics.declare(contract);
  metrics.callAnswered('search_code', partial, 120);
  const found = await page(metrics);
  const of = (name: string) => found.get(`postern_${name}`);
  assert.equal(of('calls_total{action="search_code",code="OK"}'), 1);
  assert.equal(of('results_total{action="search_code",completeness="partial"}'), 1);
  assert.equal(of('incomplete_reasons_total{action="search_code",reason="RESULT_LIMIT_REACHED"}'), 1);
  assert.equal(of('limit_stops_total{action="search_code",limit="pages"}'), 1);
  assert.equal(of('limit_stops_total{action="search_code",limit="total"}'), undefined);
  assert.equal(of('result_rows_sum{action="search_code"}'), 42);
  assert.equal(of('remote_wait_seconds_total{action="search_code"}'), 1.5);
  assert.equal(of('cursors_issued_total{action="search_code"}'), 1);
  assert.equal(of('credential_reflections_total{action="search_code"}'), 1);
  assert.equal(of('call_duration_seconds_sum{action="search_code"}'), 0.12);
});

test('metrics: an active warning shows first and last sight, age, expiry and whether it is permanent', async () => {
  const clock = manual();
  const metrics = new SidecarMetrics(clock);
  metrics.declare(contract);
  metrics.callAnswered('search_code', partial, 1);
  clock.pass(10_000);
  metrics.callAnswered('search_code', { ...partial, warnings: partial.warnings.slice(0, 2) }, 1);
  clock.pass(5_000);
  const found = await page(metrics);
  const of = (name: string, code: string, owner = 'search-team') =>
    found.get(`postern_warning_${name}{action="search_code",code="${code}",owner="${owner}"}`);
  assert.equal(of('first_seen_seconds', 'STALE_INDEX'), START_MS / 1000);
  assert.equal(of('last_seen_seconds', 'STALE_INDEX'), START_MS / 1000 + 10);
  assert.equal(of('stale_age_seconds', 'STALE_INDEX'), 65);
  assert.equal(of('expiry_seconds', 'STALE_INDEX'), Date.parse('2026-02-02') / 1000, 'it holds through its day');
  assert.equal(of('permanent_state', 'STALE_INDEX'), 0);
  assert.equal(of('permanent_state', 'DEFAULT_SCOPE_APPLIED'), 1);
  assert.equal(of('stale_age_seconds', 'DEFAULT_SCOPE_APPLIED'), undefined);
  // A built-in warning has no owner of its own: the contract's answers for it, and it does not expire.
  assert.equal(of('last_seen_seconds', 'CREDENTIAL_REFLECTED', 'platform'), START_MS / 1000);
  assert.equal(of('expiry_seconds', 'CREDENTIAL_REFLECTED', 'platform'), undefined);
});

test('metrics: a warning that is not raised any more leaves the page, and comes back as new', async () => {
  const clock = manual();
  const metrics = new SidecarMetrics(clock);
  metrics.declare(contract);
  const key = 'postern_warning_first_seen_seconds{action="search_code",code="STALE_INDEX",owner="search-team"}';
  metrics.callAnswered('search_code', partial, 1);
  clock.pass(limits.warningActiveMs + 1);
  assert.equal((await page(metrics)).get(key), undefined);
  metrics.callAnswered('search_code', partial, 1);
  assert.equal((await page(metrics)).get(key), clock.wallMs() / 1000);
});

test('metrics: a warning that comes back after its time is new, though nobody looked in between', async () => {
  const clock = manual();
  const metrics = new SidecarMetrics(clock);
  metrics.declare(contract);
  metrics.callAnswered('search_code', partial, 1);
  clock.pass(limits.warningActiveMs + 1);
  metrics.callAnswered('search_code', partial, 1);
  const key = 'postern_warning_first_seen_seconds{action="search_code",code="STALE_INDEX",owner="search-team"}';
  assert.equal((await page(metrics)).get(key), clock.wallMs() / 1000);
});

test('metrics: an action nobody declared has no label of its own', async () => {
  const metrics = new SidecarMetrics(manual());
  for (let index = 0; index < 100; index += 1) metrics.callFailed(`word_${index}`, 'ACTION_UNKNOWN', 1);
  const found = await page(metrics);
  assert.equal(found.get('postern_calls_total{action="unknown",code="ACTION_UNKNOWN"}'), 100);
  assert.equal([...found.keys()].filter((key) => key.includes('word_')).length, 0);
});

test('metrics: contracts are counted by readiness', async () => {
  const metrics = new SidecarMetrics(manual());
  metrics.declare(contract);
  metrics.declare({ ...contract, action: 'deploy', notReady: 'Effects are not served.' });
  metrics.declare(contract);
  const found = await page(metrics);
  assert.equal(found.get('postern_loaded_contracts{state="ready"}'), 1);
  assert.equal(found.get('postern_loaded_contracts{state="not_ready"}'), 1);
});

test('metrics: a newer bundle takes the place of the contracts before it', async () => {
  const metrics = new SidecarMetrics(manual());
  metrics.serve([contract, { ...contract, action: 'deploy' }]);
  metrics.serve([contract]);
  metrics.callFailed('deploy', 'ACTION_UNKNOWN', 1);
  const found = await page(metrics);
  assert.equal(found.get('postern_loaded_contracts{state="ready"}'), 1);
  assert.equal(found.get('postern_calls_total{action="unknown",code="ACTION_UNKNOWN"}'), 1);
});

test('metrics: an operator is told of one warning for each action, code and owner, with the earliest expiry', () => {
  const clock = manual();
  const metrics = new SidecarMetrics(clock);
  metrics.serve([contract]);
  metrics.callAnswered('search_code', partial, 1);
  clock.pass(1_000);
  metrics.callAnswered('search_code', partial, 1);
  const [first, ...rest] = metrics.activeWarnings();
  assert.deepEqual(
    [first, ...rest].map((warning) => warning?.code),
    ['CREDENTIAL_REFLECTED', 'DEFAULT_SCOPE_APPLIED', 'STALE_INDEX'],
  );
  assert.deepEqual(rest[0], {
    action: 'search_code',
    code: 'DEFAULT_SCOPE_APPLIED',
    owner: 'search-team',
    firstMs: START_MS,
    lastMs: START_MS + 1_000,
    expiresMs: Date.parse('2026-07-01'),
  });
  clock.pass(limits.warningActiveMs + 1);
  assert.deepEqual(metrics.activeWarnings(), []);
});

test('metrics: only a sidecar with an operator has the series of one', async () => {
  const without = await page(new SidecarMetrics(manual()));
  assert.ok(![...without.keys()].some((key) => key.startsWith('postern_control_') || key.startsWith('postern_session_')));
  const metrics = new SidecarMetrics(manual());
  metrics.control(() => ({
    connected: true,
    leaseMs: 1_500,
    state: 'Suspended',
    kept: false,
    refused: 2,
    credentials: [{ secret: 'postern-x', key: 'token', sinceMs: START_MS - 60_000 }],
  }));
  metrics.controlEnded('silent');
  const found = await page(metrics);
  assert.equal(found.get('postern_control_connected_state'), 1);
  assert.equal(found.get('postern_control_lease_seconds'), 1.5);
  assert.equal(found.get('postern_control_ends_total{reason="silent"}'), 1);
  assert.equal(found.get('postern_session_state{state="Suspended"}'), 1);
  assert.equal(found.get('postern_session_state{state="Active"}'), 0);
  assert.equal(found.get('postern_bundle_kept_state'), 0);
  assert.equal(found.get('postern_refused_contracts'), 2);
  assert.equal(found.get('postern_credential_age_seconds{secret="postern-x",key="token"}'), 60);
});
