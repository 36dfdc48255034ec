import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { type Changes, changed, compiledSample, compileSample, sampleContract, shown } from './sample-objects.ts';

const WRITE: Changes = {
  effect: 'Write',
  'http.method': 'POST',
  'http.query': {},
  'http.body': { json: { a: { b: '$(args.code)' } } },
  result: { object: '/', fields: [{ name: 'id' }] },
  completeness: {},
  warnings: [],
};
const READ: ResourceObject = { ...sampleContract(), name: 'read-thing' };
const READS = { contracts: [READ] };
const GIVEN = { contract: 'read-thing', arguments: { shop: '$(args.shop)', day: '$(args.day)', code: '$(args.code)' } };

test('effects: every block is compiled, with its defaults', () => {
  const { effects } = compiledSample(
    {
      ...WRITE,
      effect: 'Destructive',
      'arguments.properties.tags': { type: 'array', minItems: 1, maxItems: 3, uniqueItems: true, items: { type: 'string', maxLength: 9 } },
      'arguments.required.3': 'tags',
      approval: { mode: 'EachCall', reason: '/note' },
      idempotency: { mode: 'Key', header: 'Idempotency-Key', ttl: '24h', settle: { ...GIVEN, done: 'true' } },
      recheck: { ...GIVEN, expect: 'size(result.things) == 1' },
      prepare: { ...GIVEN, fields: [{ name: 'title', path: '/things/0/title', after: 'closed by $(args.code)' }] },
      forEach: { argument: '/tags', order: 'Sequential', onFailure: 'Continue' },
      evidence: {
        from: 'read-thing',
        ids: '/tags',
        claim: 'Listed',
        maxAge: '30m',
        match: [
          ...['shop', 'day', 'code', 'since', 'count', 'words', 'filter', 'note'].map((name) => ({
            evidenceArgument: name,
            argument: name,
          })),
          { evidenceArgument: 'tags', constant: ['red'] },
        ],
      },
    },
    READS,
  );
  const { approval, evidence, recheck, forEach, idempotency, prepare } = effects;
  assert.deepEqual(approval, { mode: 'EachCall', expiresAfterMs: 15 * 60_000, vary: [], reason: ['note'] });
  assert.deepEqual(
    [evidence?.onIncomplete, evidence?.proof, evidence?.ids, evidence?.maxAgeMs],
    ['Refuse', 'Checked', ['tags'], 1_800_000],
  );
  assert.deepEqual(evidence?.match.at(-1), { evidenceArgument: 'tags', given: { kind: 'constant', value: ['red'] } });
  assert.deepEqual([recheck?.contract, recheck?.expect.text], ['read-thing', 'size(result.things) == 1']);
  assert.deepEqual(forEach, { argument: ['tags'], onFailure: 'Continue' });
  assert.deepEqual([idempotency.mode, idempotency.ttlMs, idempotency.settle?.afterMs], ['Key', 86_400_000, 0]);
  assert.deepEqual([prepare?.fields[0]?.name, prepare?.fields[0]?.path.text], ['title', '/things/0/title']);
});

test('effects: who approves by default follows from what an effect risks', () => {
  const mode = (changes: Changes) =>
    compileSample({ ...WRITE, idempotency: { mode: 'Natural' }, ...changes }, READS).contract?.effects.approval.mode;
  assert.equal(mode({}), 'None');
  assert.equal(mode({ effect: 'Destructive' }), 'EachCall');
  const evidence = { from: 'absent', ids: '/code', claim: 'Absent', maxAge: '30m', match: [] };
  assert.equal(mode({ evidence }), 'EachCall');
  assert.equal(mode({ evidence: { ...evidence, claim: 'Listed' } }), 'None');
  assert.equal(compiledSample().effects.approval.mode, 'None');
});

test('effects: one approval of mode Session covers a stated number of calls', () => {
  const session = compiledSample({ ...WRITE, idempotency: { mode: 'Natural' }, approval: { mode: 'Session', vary: ['/note'] } });
  assert.deepEqual(session.effects.approval, { mode: 'Session', expiresAfterMs: 900_000, calls: 20, vary: [['note']] });
});

test('effects: the path and query of a read are its question, which a range may leave open', () => {
  const { problems } = compileSample({ 'http.query.day': '$(args.day)', approval: { mode: 'Session', vary: ['/day', '/since'] } });
  assert.deepEqual(shown(problems), []);
});

test('effects: a key in the request does not move what the author wrote, and is the only new part', () => {
  const plain = compiledSample({ ...WRITE, approval: { mode: 'EachCall' } });
  const keyed = compiledSample({ ...WRITE, idempotency: { mode: 'Key', body: '/a/key', ttl: '1h' } });
  assert.ok(plain.target.kind === 'http' && keyed.target.kind === 'http');
  const { body: before, ...rest } = plain.target.request;
  const { body: after, ...same } = keyed.target.request;
  assert.deepEqual(same, rest);
  assert.match(JSON.stringify(after), /"key",\{"kind":"slot","slot":\{"root":"operation","path":\["key"\]/);
  assert.doesNotMatch(JSON.stringify(before), /operation/);
});

test('effects: a read that does not name every caller leaves the action not ready, and names who is missing', () => {
  const around = { contracts: [{ ...READ, spec: changed(READ.spec, { callers: [{ serviceAccount: 'other' }] }) }] };
  const { contract, problems } = compileSample(
    {
      ...WRITE,
      approval: { mode: 'EachCall' },
      recheck: { ...GIVEN, expect: 'true' },
      prepare: { ...GIVEN, fields: [{ name: 'a', path: '/a' }] },
    },
    around,
  );
  assert.equal(contract?.notReady, 'bot may call this action and not read-thing, which it needs.');
  assert.deepEqual(shown(problems), ['reference-caller spec.recheck.contract', 'reference-caller spec.prepare.contract']);
});

test('effects: what a preset gives a read counts for whoever refers to it', () => {
  const preset = { ...READ, kind: 'ContractPreset' as const, name: 'shop-v1', spec: { result: { id: ['/id'] } } };
  const read = { ...READ, spec: changed(READ.spec, { 'result.id': undefined, 'completeness.preset': 'shop-v1' }) };
  const evidence = { from: 'read-thing', ids: '/code', claim: 'Listed', maxAge: '30m', match: [] };
  const codes = (presets: readonly ResourceObject[]) =>
    compileSample({ ...WRITE, approval: { mode: 'EachCall' }, evidence }, { contracts: [read], presets }).problems.map(({ code }) => code);
  assert.ok(!codes([preset]).includes('evidence-ids'));
  assert.ok(codes([]).includes('evidence-ids'));
});

test('effects: a read that can only prove that an effect took place settles too', () => {
  const settle = { contract: 'list-things', arguments: {}, done: 'size(result.things) == 1' };
  const { problems } = compileSample({
    effect: 'Write',
    'http.method': 'POST',
    'http.query': {},
    result: { object: '/', fields: [{ name: 'id' }] },
    completeness: {},
    warnings: [],
    idempotency: { mode: 'None', settle },
    approval: { mode: 'EachCall' },
  });
  assert.deepEqual(shown(problems), []);
});

/** Names every object has, as names and as values. */
const name = fc.constantFrom('constructor', 'toString', 'hasOwnProperty', 'isPrototypeOf', 'a');
const { awkward } = fc.letrec<{ awkward: unknown }>((tie) => ({
  awkward: fc.oneof(
    { depthSize: 'small' },
    name,
    fc.array(tie('awkward'), { maxLength: 2 }),
    fc.dictionary(name, tie('awkward'), { maxKeys: 3 }),
  ),
}));

test('effects: whatever the blocks of an effect and the reads behind them hold, the compiler does not throw', () => {
  const given = {
    contract: 'read-thing',
    arguments: { id: '$(args.code)' },
    expect: 'true',
    done: 'true',
    fields: [{ name: 'a', path: '/a' }],
  };
  const base: Changes = {
    effect: 'Write',
    'http.method': 'POST',
    'http.query': {},
    'http.body': { json: { a: { b: '$(args.code)' } } },
    result: { object: '/', fields: [{ name: 'id' }] },
    completeness: {},
    warnings: [],
    approval: { mode: 'Session', vary: ['/note'] },
    idempotency: { mode: 'Key', body: '/a/key', ttl: '1h', settle: given },
    recheck: given,
    prepare: given,
    evidence: { from: 'read-thing', ids: '/code', claim: 'Listed', maxAge: '1h', match: [{ evidenceArgument: 'id', argument: 'code' }] },
    forEach: { argument: '/tags', order: 'Sequential', onFailure: 'Stop' },
  };
  const read: ResourceObject = { ...sampleContract({ effect: 'Read' }), name: 'read-thing' };
  const own = [
    'approval',
    'approval.vary',
    'idempotency',
    'idempotency.body',
    'idempotency.settle',
    'recheck',
    'recheck.arguments',
    'prepare',
  ].concat(['prepare.fields', 'evidence', 'evidence.match', 'evidence.ids', 'forEach', 'forEach.argument', 'http.body', 'arguments']);
  const others = ['arguments', 'result', 'result.id', 'callers', 'approval', 'completeness', 'completeness.preset', 'effect'];
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), awkward);
  fc.assert(
    fc.property(fc.constantFrom(...own), value, fc.constantFrom(...others), value, (path, to, otherPath, otherTo) => {
      const contracts = [{ ...read, spec: changed(read.spec, { [otherPath]: otherTo as JsonValue }) }];
      const { problems } = compileSample({ ...base, [path]: to as JsonValue }, { contracts });
      for (const problem of problems) assert.ok(problem.cure !== '' && problem.message !== '');
    }),
    { numRuns: 300 },
  );
});
