import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlanParts, planDigest } from '#core/approval/plan-digest.ts';

const parts: PlanParts = {
  revision: `sha256:${'01'.repeat(32)}`,
  argsDigest: `sha256:${'02'.repeat(32)}`,
  requests: [{ method: 'POST', url: 'https://api.example.com/a', body: 'x' }],
  evidence: ['sha256:03'],
  grant: { calls: 2, vary: ['/reason'] },
};

test('plan digest: every part of what is sent is part of it (APR-01, APR-02)', () => {
  const changes: readonly Partial<PlanParts>[] = [
    { revision: `sha256:${'ff'.repeat(32)}` },
    { argsDigest: 'sha256:ff' },
    { requests: [{ method: 'POST', url: 'https://api.example.com/b', body: 'x' }] },
    { requests: [] },
    { evidence: [] },
    { evidence: ['sha256:03', 'sha256:04'] },
    { grant: { calls: 3, vary: ['/reason'] } },
    { grant: { calls: 2, vary: [] } },
  ];
  const { grant: _, ...once } = parts;
  const digests = [parts, once as PlanParts, ...changes.map((change) => ({ ...parts, ...change }))].map(planDigest);
  assert.equal(new Set(digests).size, digests.length);
});

test('plan digest: the order of members does not matter, the order of requests does', () => {
  const turned: PlanParts = { ...parts, requests: [{ body: 'x', url: 'https://api.example.com/a', method: 'POST' }] };
  assert.equal(planDigest(turned), planDigest(parts));
  const two = (requests: PlanParts['requests']) => planDigest({ ...parts, requests });
  assert.notEqual(two([1, 2]), two([2, 1]));
});
