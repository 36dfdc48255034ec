import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contract, type Given, locator, path, rule } from './build-contract.ts';
import { codesOf, drive, envelopeOf, items, type Said, wayOf } from './drive-walk.ts';

const TWO: readonly Said[] = [
  { body: { items: items(1, 2), next: 'c1', version: '7' } },
  { body: { items: items(3, 1), next: null, version: '7' } },
];

function of(given: Given, answers: readonly Said[] = TWO) {
  const driven = drive(contract(given), answers);
  const { completeness } = envelopeOf(driven);
  return { codes: codesOf(driven), consistency: completeness.scope.consistency, snapshot: completeness.scope.snapshot, way: wayOf(driven) };
}

function keyset(when?: string): Given {
  return {
    result: { order: { by: path('/id'), direction: 'Ascending', compare: 'Text' } },
    completeness: { consistency: { mode: 'Keyset', equal: [], ...(when === undefined ? {} : { when: rule(when) }) } },
  };
}

describe('consistency', () => {
  it('consistency: several pages without a basis are unproven, one page needs none', () => {
    const single: Given = { completeness: { consistency: { mode: 'SinglePage', equal: [] } } };
    assert.deepEqual(of(single), { codes: ['COMPLETENESS_UNPROVEN'], consistency: 'unproven', snapshot: undefined, way: 'none' });
    assert.deepEqual(of(single, [{ body: { items: [], next: null } }]).codes, []);
    assert.equal(of(single, [{ body: { items: [], next: null } }]).consistency, 'single_page');
  });

  it('consistency: a declared basis satisfies complete and is named', () => {
    const declared = of({});
    assert.deepEqual([declared.codes, declared.consistency], [[], 'declared']);
  });

  it('consistency: equal snapshot keys are checked, named, and a changed one ends in restart', () => {
    const given: Given = { completeness: { consistency: { mode: 'SnapshotKey', equal: [locator({ body: '/version' })] } } };
    assert.deepEqual(of(given), { codes: [], consistency: 'checked', snapshot: '7', way: 'none' });
    const changed = of(given, [TWO[0] as Said, { body: { items: items(3, 1), next: null, version: '8' } }]);
    assert.deepEqual([changed.codes, changed.consistency, changed.way], [['SNAPSHOT_CHANGED'], 'unproven', 'restart']);
    assert.deepEqual(of(given, [TWO[0] as Said, { body: { items: items(3, 1), next: null } }]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('consistency: text of the remote that is no plain token is not shown as a snapshot', () => {
    const given: Given = { completeness: { consistency: { mode: 'SnapshotKey', equal: [locator({ body: '/version' })] } } };
    assert.equal(of(given, [{ body: { items: [], next: null, version: '\u202Eevil' } }]).snapshot, undefined);
  });

  it('consistency: a handle counts only where one was opened', () => {
    const given: Given = { completeness: { consistency: { mode: 'SnapshotHandle', equal: [] } } };
    assert.deepEqual(of(given).codes, ['COMPLETENESS_UNPROVEN']);
    const opened = drive(contract(given), TWO, { open: { pit: 'p1' } });
    assert.deepEqual([codesOf(opened), envelopeOf(opened).completeness.scope.consistency], [[], 'checked']);
  });

  it('consistency: a keyset is checked on the rows, within pages and across them', () => {
    assert.deepEqual(of(keyset()).consistency, 'checked');
    const back: readonly Said[] = [{ body: { items: items(5, 2), next: 'c1' } }, { body: { items: items(3, 1), next: null } }];
    assert.deepEqual(of(keyset(), back).codes, ['COMPLETENESS_UNPROVEN']);
    const shuffled: readonly Said[] = [
      { body: { items: [{ id: 'b' }, { id: 'a' }], next: 'c1' } },
      { body: { items: [{ id: 'c' }], next: null } },
    ];
    assert.deepEqual(of(keyset(), shuffled).codes, ['COMPLETENESS_UNPROVEN']);
    const keyless: readonly Said[] = [{ body: { items: [{ id: 'a' }], next: 'c1' } }, { body: { items: [{ name: 'x' }], next: null } }];
    assert.deepEqual(of(keyset(), keyless).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('consistency: the condition on what was really sent must hold on every page, an error included', () => {
    assert.deepEqual(of(keyset("page.index == 0 || 'after' in sent.query")).codes, ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(
      of(keyset("page.index == 0 || 'after' in sent.query"), [TWO[0] as Said, { ...(TWO[1] as Said), query: { after: 'x' } }]).codes,
      [],
    );
    assert.deepEqual(of(keyset('args.gone == 1')).codes, ['COMPLETENESS_UNPROVEN']);
  });
});
