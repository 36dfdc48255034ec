import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type EvidenceClaim, evidenceFor, isReviewed, type ReviewClaim, readClaim } from '#core/completeness/evidence-claim.ts';
import { type EvidenceQuestion, matchEvidence } from '#core/completeness/evidence-match.ts';
import { idKey, markId } from '#core/completeness/identity.ts';
import type { CompiledContract, Revision } from '#core/contract/compiled.ts';
import { contract } from './build-contract.ts';
import { drive, envelopeOf, items, NOW_MS } from './drive-walk.ts';

const REVISION: Revision = `sha256:${'0'.repeat(64)}`;
type Rules = EvidenceQuestion['rules'];

const RULES: Rules = {
  from: 'list-projects',
  ids: ['project_ids'],
  claim: 'Listed',
  maxAgeMs: 10 * 60_000,
  onIncomplete: 'Refuse',
  match: [
    { evidenceArgument: 'since', given: { kind: 'argument', argument: 'since' } },
    { evidenceArgument: 'group', given: { kind: 'constant', value: 'all' } },
  ],
  proof: 'Checked',
};

function idsOf(...ids: readonly (string | number)[]): string {
  return ids.map((id) => markId(idKey('', [String(id)]), true)).join('');
}

const CLAIM: EvidenceClaim = {
  version: 1,
  complete: true,
  contract: 'list-projects',
  namespace: 'tests',
  revision: REVISION,
  argsDigest: 'sha256:x',
  args: { since: '2026-01-01', group: 'all' },
  scope: { resource: 'projects', visibility: 'all', exclusions: [], absence: 'provable', consistency: 'checked' },
  sources: [''],
  ids: idsOf(1, 2, 3, 'an-id-that-is-longer-than-thirteen'),
  items: 4,
  proof: 'Checked',
  atMs: NOW_MS - 60_000,
};

const REVIEW: ReviewClaim = {
  ...CLAIM,
  complete: false,
  reasons: [{ code: 'TIME_BUDGET_EXCEEDED', message: 'the time of this call was used up' }],
  warnings: [],
  items: 842,
  spentMs: 30_000,
};

const QUESTION: EvidenceQuestion = {
  contract: { namespace: 'tests' },
  rules: RULES,
  args: { project_ids: [1, 2], since: '2026-01-01' },
  claims: [CLAIM],
  readRevision: REVISION,
  nowMs: NOW_MS,
};

const ask = (change: Partial<EvidenceQuestion>, rules: Partial<Rules> = {}) =>
  matchEvidence({ ...QUESTION, ...change, rules: { ...RULES, ...rules } });
const claim = (change: Partial<EvidenceClaim>) => ask({ claims: [{ ...CLAIM, ...change }] });

function refused(verdict: ReturnType<typeof matchEvidence>): string {
  assert.equal(verdict.kind, 'refused', JSON.stringify(verdict));
  return verdict.kind === 'refused' ? `${verdict.code}: ${verdict.lacks.map(({ message }) => message).join(' ')}` : '';
}

describe('evidence match', () => {
  it('evidence match: the answer to the very question, whole and young, is enough', () => {
    const verdict = ask({});
    assert.ok(verdict.kind === 'sufficient');
    assert.deepEqual([verdict.listed, verdict.notListed], [[1, 2], []]);
  });

  it('evidence match: ids compare as canonical text, of any length', () => {
    assert.equal(ask({ args: { ...QUESTION.args, project_ids: ['1', 'an-id-that-is-longer-than-thirteen'] } }).kind, 'sufficient');
    assert.equal(ask({ args: { ...QUESTION.args, project_ids: 3 } }).kind, 'sufficient');
    // `12` is in the text of the ids 1 and 2, and no id.
    assert.equal(ask({ args: { ...QUESTION.args, project_ids: ['12'] } }).kind, 'refused');
    assert.equal(ask({ args: { ...QUESTION.args, project_ids: ['1+2'] } }).kind, 'refused');
  });

  it('evidence match: nothing shown, and something else shown, are two things', () => {
    assert.match(refused(ask({ claims: [] })), /^EVIDENCE_REQUIRED: .*list_projects/);
    assert.match(refused(claim({ contract: 'list-others' })), /^EVIDENCE_INCOMPLETE: .*not of list_projects/);
    assert.match(refused(claim({ namespace: 'other' })), /^EVIDENCE_INCOMPLETE/);
  });

  it('evidence match: age alone is EVIDENCE_EXPIRED, a clock set back too', () => {
    assert.match(refused(claim({ atMs: NOW_MS - RULES.maxAgeMs - 1 })), /^EVIDENCE_EXPIRED: .*10 min/);
    assert.equal(claim({ atMs: NOW_MS - RULES.maxAgeMs }).kind, 'sufficient');
    assert.match(refused(claim({ atMs: NOW_MS + 3_600_000 })), /^EVIDENCE_EXPIRED: .*future/);
    assert.match(refused(claim({ atMs: 0, revision: `sha256:${'1'.repeat(64)}` })), /^EVIDENCE_INCOMPLETE/);
  });

  it('evidence match: another question is refused, whichever argument differs or is too many', () => {
    assert.match(refused(ask({ args: { ...QUESTION.args, since: '2025-01-01' } })), /another question: since/);
    assert.match(refused(claim({ args: { since: '2026-01-01', group: 'mine' } })), /another question: group/);
    assert.match(refused(claim({ args: { since: '2026-01-01' } })), /another question: group/);
    assert.match(refused(claim({ args: { ...CLAIM.args, owner: 'me' } })), /another question: owner/);
    const absent = ask({ args: { project_ids: [1] }, claims: [{ ...CLAIM, args: { group: 'all' } }] });
    assert.equal(absent.kind, 'sufficient', 'absent on both sides is the same question');
  });

  it('evidence match: a read that changed, or is not there, proves nothing', () => {
    assert.match(refused(ask({ readRevision: undefined })), /cannot be called/);
    assert.match(refused(ask({ readRevision: `sha256:${'2'.repeat(64)}` })), /has changed/);
  });

  it('evidence match: targets that are not listed are counted, and three named', () => {
    const args = { ...QUESTION.args, project_ids: [1, 91, 92, 93, 94] };
    assert.match(refused(ask({ args })), /4 targets \(91, 92, 93, \.\.\.\) are not among the 4 items/);
    assert.match(refused(ask({ args: { ...args, project_ids: [1, 'x\u202ey'] } })), /1 target \(x<U\+202E>y\) is not among/);
  });

  it('evidence match: a call without a target rests on nothing', () => {
    for (const ids of [[], undefined, null, {}, [1, {}], [null]]) {
      assert.match(refused(ask({ args: { since: '2026-01-01', ...(ids === undefined ? {} : { project_ids: ids }) } })), /names nothing/);
    }
  });

  it('evidence match: to act on what is absent the list must be one that shows everything', () => {
    const args = { ...QUESTION.args, project_ids: [8, 9] };
    assert.equal(ask({ args }, { claim: 'Absent' }).kind, 'sufficient');
    assert.match(refused(ask({}, { claim: 'Absent' })), /2 targets \(1, 2\) are among the items/);
    const never = { ...CLAIM, scope: { ...CLAIM.scope, absence: 'never' as const } };
    assert.match(refused(ask({ args, claims: [never] }, { claim: 'Absent' })), /does not prove/);
  });

  it('evidence match: what only an owner declares is not a check, unless the contract takes that', () => {
    const declared = [{ ...CLAIM, proof: 'Declared' as const }];
    assert.match(refused(ask({ claims: declared })), /only declared/);
    assert.equal(ask({ claims: declared }, { proof: 'Declared' }).kind, 'sufficient');
  });

  it('evidence match: several sources make an id ambiguous', () => {
    assert.match(refused(claim({ sources: ['us', 'eu'] })), /several sources/);
    assert.match(refused(claim({ sources: ['us'] })), /several sources/);
  });

  it('evidence match: two halves are no list, and the best of several is the one that counts', () => {
    const halves = [
      { ...CLAIM, ids: idsOf(1), items: 1 },
      { ...CLAIM, ids: idsOf(2), items: 1 },
    ];
    assert.equal(ask({ claims: halves }).kind, 'refused');
    assert.equal(ask({ claims: [{ ...CLAIM, atMs: 0 }, CLAIM, REVIEW] }).kind, 'sufficient');
  });

  it('evidence match: an incomplete answer is refused, or put before a person with what it lacks', () => {
    assert.match(refused(ask({ claims: [REVIEW] })), /^EVIDENCE_INCOMPLETE: .*stopped after 30 s with 842 items/);
    const verdict = ask({ claims: [REVIEW] }, { onIncomplete: 'RequestReview' });
    assert.ok(verdict.kind === 'review');
    assert.match(verdict.lacks.map(({ message }) => message).join(' '), /stopped after 30 s with 842 items.*time of this call was used up/);
    const more = ask({ claims: [REVIEW], args: { ...QUESTION.args, project_ids: [1, 99] } }, { onIncomplete: 'RequestReview' });
    assert.ok(more.kind === 'review');
    assert.deepEqual([more.listed, more.notListed], [[1], [99]], 'so that a person may choose the listed ones only');
  });

  it('evidence match: what a person may decide over comes before what nobody may, however much it lacks', () => {
    const old: EvidenceClaim = { ...CLAIM, atMs: 0 };
    for (const claims of [
      [old, REVIEW],
      [REVIEW, old],
    ])
      assert.equal(ask({ claims }, { onIncomplete: 'RequestReview' }).kind, 'review');
  });

  it('evidence match: no person is asked over an answer that is old, or to another question, or contradicts the call', () => {
    const review = { onIncomplete: 'RequestReview' } as const;
    refused(ask({ claims: [{ ...REVIEW, atMs: 0 }] }, review));
    refused(ask({ claims: [{ ...REVIEW, args: {} }] }, review));
    refused(ask({ claims: [REVIEW], readRevision: undefined }, review));
    refused(ask({ claims: [REVIEW] }, { ...review, claim: 'Absent' }));
    refused(ask({ args: { ...QUESTION.args, project_ids: [99] } }, review));
    refused(ask({ claims: [] }, review));
  });

  it('evidence match: whatever one thing is changed in a claim that was enough, it is not enough any more (P7)', () => {
    const changes: { readonly [Name in keyof EvidenceClaim]?: fc.Arbitrary<unknown> } = {
      complete: fc.constant(false),
      contract: fc.string().filter((text) => text !== CLAIM.contract),
      namespace: fc.string().filter((text) => text !== CLAIM.namespace),
      revision: fc.string().filter((text) => text !== CLAIM.revision),
      args: fc
        .dictionary(fc.constantFrom('since', 'group', 'x'), fc.jsonValue(), { maxKeys: 3 })
        .filter((args) => JSON.stringify(args) !== JSON.stringify(CLAIM.args)),
      sources: fc.array(fc.constantFrom('', 'a'), { maxLength: 3 }).filter((sources) => !(sources.length === 1 && sources[0] === '')),
      ids: fc.uniqueArray(fc.integer({ min: 3, max: 99 })).map((ids) => idsOf(...ids)),
      proof: fc.constantFrom('Declared', 'Unproven').filter((proof) => proof === 'Declared'),
      atMs: fc.oneof(fc.integer({ min: 0, max: NOW_MS - RULES.maxAgeMs - 1 }), fc.integer({ min: NOW_MS + 301_000, max: 2 * NOW_MS })),
    };
    const single = fc.oneof(
      ...Object.entries(changes).map(([name, value]) => (value as fc.Arbitrary<unknown>).map((to) => [name, to] as const)),
    );
    fc.assert(
      fc.property(fc.array(single, { minLength: 1, maxLength: 3 }), fc.constantFrom('Refuse', 'RequestReview'), (changed, onIncomplete) => {
        const broken = { ...REVIEW, ...CLAIM, ...Object.fromEntries(changed) } as EvidenceClaim;
        assert.notEqual(
          ask({ claims: [broken] }, { onIncomplete: onIncomplete as Rules['onIncomplete'] }).kind,
          'sufficient',
          JSON.stringify(changed),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('evidence match: an incomplete answer is never enough, whatever else it says', () => {
    const anything = fc.record({
      ids: fc.constantFrom(idsOf(1, 2, 3), ''),
      items: fc.nat(),
      reasons: fc.constantFrom([], REVIEW.reasons),
      warnings: fc.constantFrom([], ['STALE_INDEX']),
      proof: fc.constantFrom('Checked', 'Declared', 'Unproven'),
      atMs: fc.integer({ min: NOW_MS - 1_000_000, max: NOW_MS }),
    });
    fc.assert(
      fc.property(fc.array(anything, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.boolean(), (parts, absent, review) => {
        const claims = parts.map((part) => ({ ...REVIEW, ...part }) as ReviewClaim);
        const rules = {
          claim: absent ? 'Absent' : 'Listed',
          onIncomplete: review ? 'RequestReview' : 'Refuse',
          proof: 'Declared',
        } as const;
        const verdict = ask({ claims }, rules);
        assert.notEqual(verdict.kind, 'sufficient');
        if (!review) assert.equal(verdict.kind, 'refused');
        if (verdict.kind !== 'sufficient') assert.ok(verdict.lacks.length > 0, 'what it lacks is said');
      }),
    );
  });
});

describe('review claim', () => {
  const MORE = { body: { items: items(1, 3), next: 'c1' } };
  const given = (reviewed: boolean, compiled: CompiledContract = contract()) => {
    const driven = drive(compiled, [MORE], { stop: { limit: 'time_ms', value: 30_000 } });
    return evidenceFor({
      contract: compiled,
      walks: [driven.walk],
      envelope: envelopeOf(driven),
      argsDigest: 'sha256:a',
      args: {},
      nowMs: NOW_MS,
      reviewed,
    });
  };

  it('review claim: an incomplete answer has one only where some contract lets a person decide', () => {
    assert.equal(given(false).kind, 'none');
    const result = given(true);
    assert.ok(result.kind === 'review');
    const { claim: held } = result;
    assert.deepEqual(
      [held.complete, held.items, held.reasons.map(({ code }) => code)],
      [false, 3, ['TIME_BUDGET_EXCEEDED', 'MORE_PAGES_AVAILABLE']],
    );
    assert.equal(given(true, contract({ result: { id: [] } })).kind, 'none', 'without ids there is nothing to look up');
  });

  it('review claim: a whole answer has evidence and no review claim', () => {
    const compiled = contract();
    const driven = drive(compiled, [{ body: { items: items(1, 2) } }]);
    const made = evidenceFor({
      contract: compiled,
      walks: [driven.walk],
      envelope: envelopeOf(driven),
      argsDigest: '',
      args: {},
      nowMs: NOW_MS,
      reviewed: true,
    });
    assert.equal(made.kind, 'evidence');
  });

  it('review claim: which reads give them follows from the contracts of the same namespace', () => {
    const read = contract();
    const user = (change: Partial<CompiledContract>, onIncomplete: Rules['onIncomplete'] = 'RequestReview'): CompiledContract => ({
      ...read,
      name: 'archive',
      effects: { ...read.effects, evidence: { ...RULES, from: read.name, onIncomplete } },
      ...change,
    });
    assert.equal(isReviewed(read, [read]), false);
    assert.equal(isReviewed(read, [read, user({})]), true);
    assert.equal(isReviewed(read, [user({}, 'Refuse')]), false);
    assert.equal(isReviewed(read, [user({ namespace: 'other' })]), false);
  });

  it('review claim: a token of another version, or of something else, is none', () => {
    assert.deepEqual(readClaim(JSON.parse(JSON.stringify(REVIEW))), REVIEW);
    for (const value of [null, 'x', [], {}, { ...CLAIM, version: 2 }, { ...CLAIM, complete: undefined }, { ...CLAIM, complete: 'true' }])
      assert.equal(readClaim(JSON.parse(JSON.stringify(value))), undefined);
  });
});
