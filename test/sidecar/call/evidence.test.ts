import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EvidenceClaim, ReviewClaim } from '#core/completeness/evidence-claim.ts';
import { createKeyRing, createSealer, SEALING_KEY_BYTES } from '#core/encoding/seal.ts';
import { EvidenceSealer } from '#sidecar/call/evidence.ts';

const sealer = createSealer('evidence', createKeyRing(new Uint8Array(SEALING_KEY_BYTES).fill(7)));
const evidence = (session: string) => new EvidenceSealer(sealer, session);

const CLAIM: EvidenceClaim = {
  version: 1,
  complete: true,
  contract: 'list-things',
  namespace: 'tests',
  revision: `sha256:${'0'.repeat(64)}`,
  argsDigest: 'sha256:x',
  args: {},
  scope: { resource: 'things', visibility: 'all', exclusions: [], absence: 'never', consistency: 'checked' },
  sources: [''],
  ids: '1+',
  items: 1,
  proof: 'Checked',
  atMs: 0,
};
const REVIEW: ReviewClaim = { ...CLAIM, complete: false, reasons: [], warnings: [], spentMs: 1 };

test('evidence: a token gives back what was sealed, to its own session only', () => {
  for (const claim of [CLAIM, REVIEW]) {
    const token = evidence('session-1').seal(claim);
    assert.deepEqual(evidence('session-1').open(token), claim);
    assert.equal(evidence('session-2').open(token), undefined);
  }
});

test('evidence: a token that was changed, cut or made for something else is none', () => {
  const token = evidence('s').seal(CLAIM);
  const other = createSealer('cursor', createKeyRing(new Uint8Array(SEALING_KEY_BYTES).fill(7))).seal(JSON.stringify(CLAIM), 's');
  const changed = `${token.slice(0, 20)}${token[20] === 'A' ? 'B' : 'A'}${token.slice(21)}`;
  for (const wrong of ['', 'x', token.slice(0, -1), changed, other]) assert.equal(evidence('s').open(wrong), undefined, wrong);
});
