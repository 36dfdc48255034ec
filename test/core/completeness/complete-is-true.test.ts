/**
 * P5: `complete: true` is never a guess. A simulated collection is walked under every kind of trouble, in one call
 * or in many that follow cursors; an oracle that shares nothing with the engine knows what was there.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Envelope } from '#core/completeness/envelope.ts';
import { holdBack, type Row, type SourceWalk, startWalk, stopWalk, takePage } from '#core/completeness/walk.ts';
import type { CompiledContract, NextEnd } from '#core/contract/compiled.ts';
import { contract, locator, path, rule } from './build-contract.ts';
import { contextOf, exchange, foldOne } from './drive-walk.ts';
import { type Fault, type Scenario, SimulatedRemote } from './simulated-remote.ts';

/** Under the mutation harness one seed and no shrinking: a planted fault must be found, quickly and always. */
const mutated = process.env.POSTERN_MUTANT !== undefined;
const RUNS = process.env.CI === undefined || mutated ? 100 : 1000;
const harness = mutated ? { seed: 20260101, endOnFailure: true } : {};

interface Reader {
  readonly ends: readonly NextEnd[];
  readonly basis: 'SnapshotKey' | 'SinglePage';
  readonly pagesPerCall: number;
  readonly itemsPerCall: number;
  readonly calls: number;
  readonly onePage: boolean;
}

const faultKinds: readonly Fault[] = [
  'busy',
  'limited',
  'denied',
  'expired',
  'cut',
  'html',
  'unframed',
  'shard',
  'mute',
  'hidden',
  'refused',
];

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  style: fc.constantFrom('token', 'offset', 'keyset'),
  frozen: fc.boolean(),
  count: fc.integer({ min: 0, max: 40 }),
  sizes: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 }).filter((sizes) => sizes.some((size) => size > 0)),
  mutations: fc.array(
    fc.record({ afterAsk: fc.integer({ min: 0, max: 6 }), kind: fc.constantFrom('insert', 'delete', 'swap'), at: fc.nat(60) }),
    { maxLength: 2 },
  ),
  faults: fc.array(fc.record({ ask: fc.nat(8), kind: fc.constantFrom(...faultKinds), lasting: fc.boolean() }), { maxLength: 1 }),
  cap: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined, freq: 5 }),
  end: fc.constantFrom('absent', 'null', 'empty', 'same'),
  flag: fc.boolean(),
  total: fc.boolean(),
});

const readers: fc.Arbitrary<Reader> = fc.record({
  ends: fc.subarray<NextEnd>(['Absent', 'NullValue', 'EmptyString', 'SameAsSent'], { minLength: 1 }),
  basis: fc.constantFrom('SnapshotKey', 'SinglePage'),
  pagesPerCall: fc.integer({ min: 1, max: 12 }),
  itemsPerCall: fc.integer({ min: 1, max: 60 }),
  calls: fc.integer({ min: 1, max: 30 }),
  onePage: fc.boolean(),
});

function contractFor(scenario: Scenario, reader: Reader): CompiledContract {
  const keyset = scenario.style === 'keyset';
  return contract({
    result: {
      id: [path('/id')],
      outcomes: [{ name: 'gone', when: rule('status == 410'), is: 'CursorExpired' }],
      ...(keyset ? { order: { by: path('/id'), direction: 'Ascending', compare: 'Number' } } : {}),
    },
    paging: {
      next:
        scenario.style === 'token'
          ? [{ name: 'cursor', from: [locator({ body: '/next' })], presence: 'Required' }]
          : keyset
            ? [{ name: 'cursor', from: [locator({ lastItem: '/id' })], presence: 'Required' }]
            : [],
      ...(scenario.style === 'offset' ? { counter: { name: 'cursor', unit: 'Item', start: 0, stride: 'Returned' } } : {}),
      end: {
        nextIs: scenario.style === 'token' ? reader.ends : [],
        pageIs: scenario.style === 'token' ? [] : ['Empty'],
        ...(scenario.flag ? { flag: { from: locator({ body: '/more' }), equals: 'false', presence: 'Required' } } : {}),
      },
    },
    completeness: {
      consistency: keyset
        ? { mode: 'Keyset', equal: [] }
        : reader.basis === 'SnapshotKey'
          ? { mode: 'SnapshotKey', equal: [locator({ body: '/version' })] }
          : { mode: 'SinglePage', equal: [] },
      required: [{ name: 'failed', anyOf: [locator({ body: '/failed' })], read: 'EveryPage' }],
      signals: [{ kind: 'when', name: 'shards', when: rule('has(body.failed) && body.failed > 0'), reason: 'SOURCE_UNAVAILABLE' }],
      totals: scenario.total
        ? [
            {
              name: 'total',
              from: locator({ body: '/total' }),
              relation: 'Exact',
              relations: {},
              counts: 'RawItems',
              read: 'EveryPage',
              constant: 'Ignored',
              onFewer: 'COMPLETENESS_UNPROVEN',
              onMore: 'COMPLETENESS_UNPROVEN',
            },
          ]
        : [],
      ...(scenario.cap === undefined ? {} : { reach: { total: scenario.cap, fullPage: 'Ignore', narrowBy: ['since'] } }),
    },
  });
}

interface Outcome {
  readonly complete: boolean;
  readonly given: readonly number[];
  readonly reasons: readonly string[];
}

/** Calls until the answer is complete, no cursor is left, or the caller has had enough. */
function read(scenario: Scenario, reader: Reader, remote: SimulatedRemote): Outcome {
  const compiled = contractFor(scenario, reader);
  const given: number[] = [];
  let walk: SourceWalk = startWalk(compiled, '', {}, {});
  for (let call = 0; call < reader.calls; call += 1) {
    const called = oneCall(compiled, reader, remote, walk);
    const { folded, sealed } = foldOne(contextOf(compiled), [called.walk], new Map([['', called.rows]]));
    if (folded.kind === 'error') {
      assert.ok(folded.completeness.incomplete_reasons.length > 0 && !folded.completeness.complete);
    } else {
      checkInvariant(folded.envelope, called.rows.length);
      given.push(...called.rows.map(({ id }) => Number(id)));
      if (folded.envelope.completeness.complete) return { complete: true, given, reasons: [] };
    }
    const [next] = sealed ?? [];
    const { completeness } = folded.kind === 'error' ? folded : folded.envelope;
    if (next === undefined) return { complete: false, given, reasons: completeness.incomplete_reasons.map(({ code }) => code) };
    assert.ok(['next_cursor', 'retry_after'].includes(completeness.continuation.kind));
    walk = next;
  }
  return { complete: false, given, reasons: ['stopped asking'] };
}

function oneCall(
  compiled: CompiledContract,
  reader: Reader,
  remote: SimulatedRemote,
  start: SourceWalk,
): { walk: SourceWalk; rows: readonly Row[] } {
  const context = contextOf(compiled);
  const rows: Row[] = [];
  let walk = start;
  for (let page = 0; !walk.done; page += 1) {
    if (page >= reader.pagesPerCall) return { walk: stopWalk(context, walk, { limit: 'pages', value: reader.pagesPerCall }), rows };
    if (rows.length >= reader.itemsPerCall) return { walk: stopWalk(context, walk, { limit: 'items', value: reader.itemsPerCall }), rows };
    const before = walk;
    const taken = takePage(context, walk, exchange(remote.answer(walk.next.cursor)));
    walk = taken.walk;
    const room = reader.itemsPerCall - rows.length;
    rows.push(...taken.rows.slice(0, room));
    if (taken.rows.length > room)
      return { walk: stopWalk(context, holdBack(before, walk, room), { limit: 'items', value: reader.itemsPerCall }), rows };
    if (taken.step.kind === 'stop') break;
    if (reader.onePage) return { walk: stopWalk(context, walk, { limit: 'one_page' }), rows };
  }
  return { walk, rows };
}

function checkInvariant({ status, completeness }: Envelope, rows: number): void {
  assert.equal(completeness.complete, completeness.incomplete_reasons.length === 0);
  assert.equal(completeness.complete, status === 'ok');
  assert.equal(completeness.page.returned, rows);
  if (completeness.complete) assert.equal(completeness.continuation.kind, 'none');
}

describe('complete', () => {
  it('complete: true is said only when every item of the declared snapshot was accounted for, none invented, none twice', () => {
    fc.assert(
      fc.property(scenarios, readers, (scenario, reader) => {
        const remote = new SimulatedRemote(scenario);
        const outcome = read(scenario, reader, remote);
        if (!outcome.complete) return;
        assert.deepEqual(remote.accounts(outcome.given), { missing: [], strange: [], twice: false });
      }),
      { ...harness, numRuns: RUNS * 5 },
    );
  });

  it('complete: a patient reader is not talked into it by one quiet fault or one change of the list', () => {
    const quiet = fc.record({
      ask: fc.nat(3),
      kind: fc.constantFrom<Fault>('shard', 'mute', 'hidden', 'unframed'),
      lasting: fc.constant(false),
    });
    const troubled = fc.record({ scenario: scenarios, fault: fc.option(quiet, { nil: undefined, freq: 2 }), onePage: fc.boolean() }).map(
      ({ scenario, fault, onePage }): Scenario => ({
        ...scenario,
        cap: undefined,
        end: 'absent',
        // One page that holds everything is the case in which only a second reading of it could differ.
        sizes: onePage ? [100] : scenario.sizes,
        faults: fault === undefined ? [] : [fault],
        mutations:
          fault === undefined ? scenario.mutations.slice(0, 1).map((change) => ({ ...change, afterAsk: change.afterAsk % 3 })) : [],
      }),
    );
    fc.assert(
      fc.property(troubled, readers, (scenario, reader) => {
        const patient: Reader = { ...reader, ends: ['Absent', 'NullValue'], itemsPerCall: (reader.itemsPerCall % 12) + 1, calls: 400 };
        const remote = new SimulatedRemote(scenario);
        const outcome = read(scenario, patient, remote);
        if (!outcome.complete) return;
        assert.deepEqual(remote.accounts(outcome.given), { missing: [], strange: [], twice: false });
      }),
      { ...harness, numRuns: RUNS * 5 },
    );
  });

  it('complete: a list without trouble is always found complete, in one call or many', () => {
    const calm = scenarios.map((scenario): Scenario => ({ ...scenario, mutations: [], faults: [], cap: undefined, end: 'null' }));
    fc.assert(
      fc.property(calm, readers, (scenario, reader) => {
        const patient: Reader = { ...reader, ends: ['Absent', 'NullValue'], basis: 'SnapshotKey', calls: 400 };
        const remote = new SimulatedRemote(scenario);
        const outcome = read(scenario, patient, remote);
        assert.deepEqual(outcome.reasons, []);
        assert.deepEqual(remote.accounts(outcome.given), { missing: [], strange: [], twice: false });
      }),
      { ...harness, numRuns: RUNS * 2 },
    );
  });

  it('complete: a fault that passes does not lose what was collected before it', () => {
    fc.assert(
      fc.property(scenarios, readers, fc.nat(5), fc.constantFrom<Fault>('busy', 'limited'), (scenario, reader, ask, kind) => {
        const calm: Scenario = {
          ...scenario,
          mutations: [],
          faults: [{ ask: ask + 1, kind, lasting: false }],
          cap: undefined,
          end: 'absent',
        };
        const patient: Reader = { ...reader, ends: ['Absent', 'NullValue'], basis: 'SnapshotKey', calls: 400 };
        const remote = new SimulatedRemote(calm);
        assert.deepEqual(read(calm, patient, remote).reasons, []);
      }),
      { ...harness, numRuns: RUNS },
    );
  });
});
