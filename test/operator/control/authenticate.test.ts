import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ControlRefusal } from '#core/wire/control-refusal.ts';
import { Authenticator } from '#operator/control/authenticate.ts';
import { KubeError } from '#operator/kube/kube-error.ts';

/** An API server that refuses every token, counts what it is asked, and may be away. */
function refusing() {
  const asked = { reviews: 0, atOnce: 0, atOnceMax: 0 };
  const state = { away: false, nowMs: 0 };
  const clock: Clock = { ...systemClock, monotonicMs: () => state.nowMs };
  const kube = {
    get: async <T>() => null as T | null,
    create: async <T>() => {
      asked.reviews += 1;
      asked.atOnce += 1;
      asked.atOnceMax = Math.max(asked.atOnceMax, asked.atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      asked.atOnce -= 1;
      if (state.away) throw new KubeError('away', { status: 0, reason: 'Unreachable' });
      return { status: { authenticated: false } } as T;
    },
  };
  const authenticator = new Authenticator({ kube, clock, judge: () => undefined });
  const attempt = (token: string, peer: string) =>
    authenticator.authenticate(`Bearer ${token}`, peer).then(
      () => 'ACCEPTED',
      (refusal: ControlRefusal) => refusal.code,
    );
  return { asked, state, attempt };
}

let serial = 0;
function token(change: Record<string, unknown> = {}): string {
  serial += 1;
  const claims = { aud: ['postern-control'], exp: Math.floor(Date.now() / 1000) + 3600, jti: serial, ...change };
  return ['{"alg":"RS256"}', JSON.stringify(claims), `signature ${serial}`]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
}

test('authenticate: a token that cannot be right costs no review', async () => {
  const { asked, attempt } = refusing();
  for (const wrong of ['x', 'a.b.c', token({ aud: 'other' }), token({ exp: 1 }), token({ exp: 'soon' })])
    assert.equal(await attempt(wrong, '10.0.0.1'), 'TOKEN_REFUSED');
  assert.equal(asked.reviews, 0);
});

test('authenticate: a token that was refused is not reviewed again for a while', async () => {
  const { asked, state, attempt } = refusing();
  const same = token();
  for (let count = 0; count < 10; count += 1) assert.equal(await attempt(same, `10.0.0.${count}`), 'TOKEN_REFUSED');
  assert.equal(asked.reviews, 1);
  state.nowMs += limits.controlRefusedTokenMs + 1;
  await attempt(same, '10.0.0.1');
  assert.equal(asked.reviews, 2);
});

test('authenticate: an address whose tokens are refused cannot drive reviews without bound, and others are not held up by it', async () => {
  const { asked, state, attempt } = refusing();
  const codes = await Promise.all(Array.from({ length: 500 }, () => attempt(token(), '10.0.0.66')));
  assert.ok(codes.includes('TOO_MANY'));
  assert.ok(asked.reviews <= limits.controlFailuresBurst + limits.controlReviewsAtOnceMax, `${asked.reviews} reviews`);
  assert.ok(asked.atOnceMax <= limits.controlReviewsAtOnceMax);
  assert.equal(await attempt(token(), '10.0.0.7'), 'TOKEN_REFUSED', 'another address is heard');
  state.nowMs += limits.controlFailureMs * (limits.controlFailuresBurst + limits.controlReviewsAtOnceMax);
  assert.equal(await attempt(token(), '10.0.0.66'), 'TOKEN_REFUSED', 'after a wait it is heard again');
});

test('authenticate: while the API server is away nobody is accepted, and nobody is held to have failed', async () => {
  const { asked, state, attempt } = refusing();
  state.away = true;
  for (let count = 0; count < 2 * limits.controlFailuresBurst; count += 1) assert.equal(await attempt(token(), '10.0.0.1'), 'NOT_READY');
  state.away = false;
  assert.equal(await attempt(token(), '10.0.0.1'), 'TOKEN_REFUSED');
  assert.equal(asked.reviews, 2 * limits.controlFailuresBurst + 1);
});
