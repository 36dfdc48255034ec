import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue, ResultRules } from '#core/contract/compiled.ts';
import { contract, path, rule } from './build-contract.ts';
import { codesOf, drive, envelopeOf, items, resumed, type Said } from './drive-walk.ts';

function read(result: Partial<ResultRules>, ...bodies: readonly JsonValue[]) {
  const answers: readonly Said[] = bodies.map((body) => ({ body }));
  const driven = drive(contract({ result }), answers);
  return { driven, codes: codesOf(driven), rows: driven.rows.map((row) => ({ ...row })) };
}

describe('collect', () => {
  it('items: several lists are joined, map values are walked, and a path that ends in * names the items', () => {
    const two = { shape: { kind: 'items', paths: [path('/a'), path('/b')] } } as const;
    assert.deepEqual(read(two, { a: [{ id: 1 }], b: [{ id: 2 }] }).rows, [{ id: 1 }, { id: 2 }]);
    const scopes = { shape: { kind: 'items', paths: [path('/scopes/*/list')] }, absentItems: 'Empty' } as const;
    assert.deepEqual(read(scopes, { scopes: { r1: { list: [{ id: 1 }] }, r2: {} } }).rows, [{ id: 1 }]);
    const values = { shape: { kind: 'items', paths: [path('/map/*')] } } as const;
    assert.deepEqual(read(values, { map: { x: { id: 1 }, y: { id: 2 } } }).rows, [{ id: 1 }, { id: 2 }]);
    assert.deepEqual(read({ shape: { kind: 'items', paths: [path('/')] } }, [{ id: 7 }]).rows, [{ id: 7 }]);
  });

  it('items: an absent or null list is empty only where the contract says so', () => {
    for (const body of [{}, { items: null }]) {
      assert.equal(read({}, body).driven.folded.kind, 'error');
      assert.deepEqual(read({ absentItems: 'Empty' }, body).codes, []);
    }
    assert.equal(read({ absentItems: 'Empty' }, { items: 'three' }).driven.folded.kind, 'error');
  });

  it('items: XML has no list of one element', () => {
    assert.deepEqual(read({ decoder: 'XML' }, { items: { id: 'a' } }).rows, [{ id: 'a' }]);
    assert.equal(read({ decoder: 'JSON' }, { items: { id: 'a' } }).driven.folded.kind, 'error');
  });

  it('id: duplicates are dropped within a page, across pages and across calls', () => {
    const page = { items: [{ id: 'a' }, { id: 'a' }, { id: 'b' }], next: 'c1' };
    const { driven, rows } = read({}, page, { items: [{ id: 'b' }, { id: 'c' }], next: null });
    assert.deepEqual(rows, [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    assert.equal(envelopeOf(driven).completeness.page.walk.returned, 3);
    const first = drive(contract(), [{ body: page }], { stop: { limit: 'one_page' } });
    const from = resumed(first);
    assert.deepEqual(drive(contract(), [{ body: { items: [{ id: 'b' }, { id: 'c' }], next: null } }], { from }).rows.length, 1);
  });

  it('id: it is text, of several parts where the contract says so, and its absence proves nothing', () => {
    assert.deepEqual(read({}, { items: [{ id: 7 }, { id: '7' }] }).rows.length, 1);
    const both = { id: [path('/index'), path('/id')] };
    assert.equal(
      read(both, {
        items: [
          { index: 'a', id: 'b' },
          { index: 'ab', id: '' },
          { index: 'a', id: 'b' },
        ],
      }).rows.length,
      2,
    );
    const missing = read({ fields: 'All' }, { items: [{ name: 'x' }, { name: 'x' }] });
    assert.deepEqual([missing.codes, missing.rows.length], [['COMPLETENESS_UNPROVEN'], 2]);
  });

  it('id: a walk longer than a cursor remembers is unproven, unless its snapshot rules duplicates out', () => {
    const many = { body: { items: items(1, 3500), next: 'c1', version: '1' } };
    const last = { body: { items: items(1, 1), next: null, version: '1' } };
    for (const [mode, codes] of [
      ['Declared', ['COMPLETENESS_UNPROVEN']],
      ['SnapshotHandle', []],
    ] as const) {
      const compiled = contract({ completeness: { consistency: { mode, equal: [] } } });
      const first = drive(compiled, [many], { stop: { limit: 'pages', value: 1 }, open: { pit: 'p' } });
      const [from] = first.sealed ?? [];
      assert.ok(from !== undefined && JSON.stringify(from).length < 60_000);
      assert.deepEqual(codesOf(drive(compiled, [last], { from })), codes);
    }
  });

  it('where: keeps items, and what it cannot judge is kept and unproven', () => {
    assert.deepEqual(read({ where: rule("item.id != 'i1'") }, { items: items(1, 3) }).rows, [{ id: 'i2' }, { id: 'i3' }]);
    const open = read({ where: rule('item.size > 1.0') }, { items: items(1, 2) });
    assert.deepEqual([open.codes, open.rows.length], [['COMPLETENESS_UNPROVEN'], 2]);
    assert.deepEqual(read({ where: rule('item.id') }, { items: items(1, 1) }).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('fields: only what is declared passes, a missing required one is a warning, a restricted one is named', () => {
    const fields = [
      { name: 'id', path: path('/id'), presence: 'Required' },
      { name: 'owner', path: path('/owner/name'), presence: 'Required' },
      { name: 'email', path: path('/email'), presence: 'Restricted' },
      { name: 'note', path: path('/note'), presence: 'Optional' },
    ] as const;
    const { driven, rows, codes } = read(
      { fields },
      { items: [{ id: 1, owner: { name: 'o', secret: 's' }, email: null, extra: 1 }, { id: 2 }] },
    );
    assert.deepEqual(rows, [{ id: 1, owner: 'o', email: null }, { id: 2 }]);
    assert.deepEqual(codes, []);
    const envelope = envelopeOf(driven);
    assert.deepEqual(envelope.omitted_fields, [
      { path: '/owner', cause: 'ABSENT' },
      { path: '/email', cause: 'NOT_PERMITTED' },
    ]);
    assert.deepEqual(
      envelope.warnings.map(({ code, fields: names }) => [code, names]),
      [['PARTIAL_FIELD_SET', ['owner']]],
    );
  });

  it('object: one value, whose absence is no empty answer', () => {
    const shape = { kind: 'object', path: path('/user') } as const;
    const { driven } = read({ shape, as: 'user' }, { user: { id: 'u', secret: 's' } });
    assert.deepEqual({ ...(envelopeOf(driven).data.user as object) }, { id: 'u' });
    assert.equal(read({ shape }, {}).driven.folded.kind, 'error');
  });

  it('aggregate: counts and sums span the walk and stand for the rows', () => {
    const aggregate = [
      { name: 'count', op: 'Count' },
      { name: 'cents', op: 'Sum', path: path('/cents') },
      { name: 'least', op: 'Min', path: path('/cents') },
      { name: 'most', op: 'Max', path: path('/cents') },
    ] as const;
    const { driven, codes } = read(
      { aggregate, as: 'sales' },
      {
        items: [
          { id: 1, cents: 5 },
          { id: 2, cents: '7' },
        ],
        next: 'c1',
      },
      {
        items: [
          { id: 2, cents: 7 },
          { id: 3, cents: 1 },
        ],
        next: null,
      },
    );
    assert.deepEqual(codes, []);
    assert.deepEqual({ ...(envelopeOf(driven).data.sales as object) }, { count: 3, cents: 13, least: 1, most: 7 });
    assert.equal(driven.rows.length, 0);
    const empty = read({ aggregate, as: 'sales' }, { items: [], next: null });
    assert.deepEqual({ ...(envelopeOf(empty.driven).data.sales as object) }, { count: 0, cents: 0, least: null, most: null });
    assert.deepEqual(read({ aggregate }, { items: [{ id: 1 }], next: null }).codes, ['COMPLETENESS_UNPROVEN']);
  });
});
