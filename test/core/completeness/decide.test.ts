import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide, forbidsEvidence, type Intent } from '#core/completeness/decide.ts';
import { evidenceFor } from '#core/completeness/evidence-claim.ts';
import { hasId, idKey } from '#core/completeness/identity.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { INCOMPLETE_REASONS, type IncompleteCode } from '#core/error/reasons.ts';
import { contract, type Given, rule } from './build-contract.ts';
import { codesOf, type Driven, drive, envelopeOf, items, NOW_MS, resumed, type Said } from './drive-walk.ts';

const PROVABLE: Given['completeness'] = { scope: { resource: ['x'], visibility: 'all', exclusions: [], absence: 'Provable' } };
const EMPTY_MORE: Said = { body: { items: [], next: 'cursor-2' } };
const EMPTY: Said = { body: { items: [], next: null } };
const MUTATE: Intent = { kind: 'mutate' };
const CLEANUP: Intent = { kind: 'act_on_absence' };
const REPORT: Intent = { kind: 'report' };

function decided(driven: Driven, intent: Intent, nowMs = NOW_MS) {
  return decide(envelopeOf(driven), intent, nowMs);
}

function warned(expires: string, code: 'STALE_INDEX' | 'UPSTREAM_NOTICE'): CompiledContract {
  return contract({
    completeness: { ...PROVABLE, notices: [{ name: 'w', warning: 'w', fields: [] }] },
    warnings: { w: { name: 'w', code, owner: 'team', expires, message: 'read with care' } },
  });
}

function evidence(compiled: CompiledContract, driven: Driven, nowMs = NOW_MS) {
  return evidenceFor({
    contract: compiled,
    walks: [driven.walk],
    envelope: envelopeOf(driven),
    argsDigest: 'sha256:args',
    args: { since: 'x' },
    nowMs,
  });
}

describe('decide', () => {
  it('decide: an empty first page with more pages gives continue_search', () => {
    assert.equal(
      decided(drive(contract({ completeness: PROVABLE }), [EMPTY_MORE], { stop: { limit: 'one_page' } }), REPORT),
      'continue_search',
    );
  });

  it('decide: a cleanup fed by an empty first page with more pages gives refuse_or_request_review', () => {
    const driven = drive(contract({ completeness: PROVABLE }), [EMPTY_MORE], { stop: { limit: 'one_page' } });
    assert.equal(decided(driven, CLEANUP), 'refuse_or_request_review');
    assert.equal(decided(driven, MUTATE), 'refuse_or_request_review');
  });

  it('decide: complete and empty lets a cleanup proceed only where absence can be proven', () => {
    assert.equal(decided(drive(contract({ completeness: PROVABLE }), [EMPTY]), CLEANUP), 'proceed');
    assert.equal(decided(drive(contract(), [EMPTY]), CLEANUP), 'refuse_or_request_review');
    assert.equal(decided(drive(contract(), [EMPTY]), MUTATE), 'proceed');
  });

  it('decide: an incomplete answer without a way on is not a report by itself', () => {
    const denied = drive(contract(), [{ body: { items: items(1, 1), next: 'c1' } }, { status: 403 }]);
    assert.equal(decided(denied, REPORT), 'refuse_or_request_review');
    assert.equal(decided(drive(contract(), [EMPTY]), REPORT), 'proceed');
  });

  it('decide: pages only their owner holds together are not enough unless the intent says so', () => {
    const declared = drive(contract({ completeness: PROVABLE }), [{ body: { items: items(1, 1), next: 'c1' } }, EMPTY]);
    assert.equal(decided(declared, MUTATE), 'refuse_or_request_review');
    assert.equal(decided(declared, { kind: 'mutate', proof: 'declared' }), 'proceed');
    assert.equal(decided(declared, REPORT), 'proceed');
  });

  it('decide: a stale index never carries an effect, any other warning does until its expiry', () => {
    assert.equal(decided(drive(warned('2026-12-31', 'STALE_INDEX'), [EMPTY]), MUTATE), 'refuse_or_request_review');
    assert.equal(decided(drive(warned('2026-12-31', 'UPSTREAM_NOTICE'), [EMPTY]), MUTATE), 'proceed');
    assert.equal(decided(drive(warned('2025-12-31', 'UPSTREAM_NOTICE'), [EMPTY]), MUTATE), 'refuse_or_request_review');
    assert.equal(decided(drive(warned('2026-01-01', 'UPSTREAM_NOTICE'), [EMPTY]), MUTATE), 'proceed', 'the day itself still counts');
    assert.equal(
      decided(drive(warned('2025-12-31', 'UPSTREAM_NOTICE'), [EMPTY]), REPORT),
      'proceed',
      'reads are never blocked by a warning',
    );
    assert.ok(forbidsEvidence({ code: 'UPSTREAM_NOTICE', message: '', expires_at: 'whenever' }, NOW_MS));
  });

  it('decide: every reason there is forbids an effect', () => {
    const produced: Readonly<Record<IncompleteCode, Driven>> = {
      MORE_PAGES_AVAILABLE: drive(contract(), [EMPTY_MORE], { stop: { limit: 'one_page' } }),
      RESULT_LIMIT_REACHED: drive(contract(), [EMPTY_MORE], { stop: { limit: 'pages', value: 1 } }),
      TIME_BUDGET_EXCEEDED: drive(contract(), [EMPTY_MORE], { stop: { limit: 'time_ms', value: 1 } }),
      SOURCE_UNAVAILABLE: drive(contract(), [EMPTY_MORE, { status: 503 }]),
      VISIBILITY_RESTRICTED: drive(contract(), [EMPTY_MORE, { status: 403 }]),
      REMOTE_RATE_LIMITED: drive(contract(), [EMPTY_MORE, { status: 429 }]),
      CURSOR_EXPIRED: drive(contract({ result: { outcomes: [{ name: 'gone', when: rule('status == 410'), is: 'CursorExpired' }] } }), [
        EMPTY_MORE,
        { status: 410 },
      ]),
      SNAPSHOT_CHANGED: drive(
        contract({ completeness: { signals: [{ kind: 'when', name: 's', when: rule('true'), reason: 'SNAPSHOT_CHANGED' }] } }),
        [EMPTY],
      ),
      COMPLETENESS_UNPROVEN: drive(contract(), [{ body: { items: [], next: '' } }]),
    };
    for (const code of INCOMPLETE_REASONS) {
      assert.ok(codesOf(produced[code]).includes(code), code);
      assert.equal(decided(produced[code], MUTATE), 'refuse_or_request_review', code);
      assert.equal(evidence(contract(), produced[code]).kind, 'none', code);
    }
  });
});

describe('evidence', () => {
  it('evidence: a complete answer binds the question, the scope, the ids and the time', () => {
    const compiled = contract({ completeness: PROVABLE });
    const result = evidence(compiled, drive(compiled, [{ body: { items: items(1, 2), next: null } }]));
    assert.ok(result.kind === 'evidence');
    const { claim } = result;
    assert.deepEqual(
      [claim.revision, claim.argsDigest, claim.args, claim.proof, claim.items, claim.atMs],
      [compiled.revision, 'sha256:args', { since: 'x' }, 'Checked', 2, NOW_MS],
    );
    assert.equal(claim.scope.absence, 'provable');
    assert.ok(hasId(claim.ids, idKey('', ['i2'])));
    assert.ok(!hasId(claim.ids, idKey('', ['i3'])));
    assert.ok(!hasId(claim.ids, idKey('other', ['i2'])), 'an id belongs to its source');
  });

  it('evidence: what `where` left out was not listed', () => {
    const compiled = contract({ result: { where: rule("item.id != 'i1'") } });
    const result = evidence(compiled, drive(compiled, [{ body: { items: items(1, 2), next: null } }]));
    assert.ok(result.kind === 'evidence' && !hasId(result.claim.ids, idKey('', ['i1'])) && hasId(result.claim.ids, idKey('', ['i2'])));
  });

  it('evidence: the whole walk is bound, over the calls that follow a cursor', () => {
    const compiled = contract();
    const first = drive(compiled, [{ body: { items: items(1, 2), next: 'c1' } }], { stop: { limit: 'one_page' } });
    const from = resumed(first);
    const result = evidence(compiled, drive(compiled, [{ body: { items: items(3, 1), next: null } }], { from }));
    assert.ok(result.kind === 'evidence' && result.claim.items === 3 && hasId(result.claim.ids, idKey('', ['i1'])));
    assert.equal(result.claim.proof, 'Declared');
  });

  it('evidence: there is none without an id, for aggregates, with stale data or past an expiry', () => {
    const without = contract({ result: { id: [] } });
    assert.equal(evidence(without, drive(without, [EMPTY])).kind, 'none');
    const sums = contract({ result: { aggregate: [{ name: 'n', op: 'Count' }] } });
    assert.equal(evidence(sums, drive(sums, [EMPTY])).kind, 'none');
    const stale = warned('2026-12-31', 'STALE_INDEX');
    assert.equal(evidence(stale, drive(stale, [EMPTY])).kind, 'none');
    const noticed = warned('2026-06-30', 'UPSTREAM_NOTICE');
    assert.equal(evidence(noticed, drive(noticed, [EMPTY])).kind, 'evidence');
    assert.equal(evidence(noticed, drive(noticed, [EMPTY]), Date.parse('2026-07-01T00:00:00Z')).kind, 'none');
  });

  it('evidence: a walk whose ids were forgotten gives none, however complete it is', () => {
    const compiled = contract({ completeness: { consistency: { mode: 'SnapshotHandle', equal: [] } } });
    const first = drive(compiled, [{ body: { items: items(1, 3500), next: 'c1' } }], { open: { pit: 'p' }, stop: { limit: 'one_page' } });
    const from = resumed(first);
    const second = drive(compiled, [{ body: { items: items(4000, 1), next: null } }], { from });
    assert.deepEqual(codesOf(second), []);
    assert.equal(evidence(compiled, second).kind, 'none');
  });
});
