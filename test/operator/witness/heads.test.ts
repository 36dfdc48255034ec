import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { epochKeyName, signCheckpoint } from '#core/audit/checkpoint.ts';
import { cosignedAt, makeSigningKey, parseNote } from '#core/audit/signed-note.ts';
import { chainOrigin } from '#operator/witness/authority.ts';
import { type KnownHead, relate, witness } from '#operator/witness/heads.ts';

const origin = chainOrigin('cluster', 'agents', '0b6f6c1e-8a0f-4a53-9d5e-3f1c2b7a9e10');
const key = makeSigningKey(epochKeyName(origin, 1));
const authority = makeSigningKey('postern.dev/authority/cluster');
const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
const checkpoint = (size: number, sha256: Uint8Array, change: { origin?: string; epoch?: number } = {}, by = key) =>
  signCheckpoint({ origin, size, hash: sha256, epoch: 1, time: '2026-12-01T00:00:00Z', ...change }, by);
const keyOf = (epoch: number) => (epoch === 1 ? key : undefined);
const terms = { origin, keyOf, authority, nowMs: 1_796_083_200_000 };

test('witness: whatever a sidecar shows, no two receipts contradict each other (AUD-24)', () => {
  const shown = fc.array(fc.record({ size: fc.integer({ min: 1, max: 12 }), past: fc.constantFrom('one', 'other') }), { maxLength: 40 });
  fc.assert(
    fc.property(shown, (heads) => {
      let known: KnownHead | undefined;
      let highest = 0;
      const witnessed = new Map<number, string>();
      for (const { size, past } of heads) {
        const sha256 = digest(`${past} ${size}`);
        const verdict = witness(checkpoint(size, sha256), { ...terms, known });
        if (verdict.kind === 'witnessed') {
          assert.ok(size >= highest, 'a chain never gets shorter');
          const hex = sha256.toString('hex');
          assert.equal(witnessed.get(size) ?? hex, hex, 'one size, one hash');
          witnessed.set(size, hex);
          highest = size;
          known = verdict.head;
        } else {
          assert.equal(verdict.kind, 'conflict');
          assert.ok(size < highest || witnessed.get(size) !== sha256.toString('hex'), 'no alarm without a cause');
        }
      }
    }),
  );
});

test('witness: a smaller size is a rollback, an equal one with another hash a fork, and the same head again is the same (AUD-01, AUD-03)', () => {
  const known = { size: 9, hash: digest('nine') };
  assert.equal(relate(undefined, known), 'grown');
  assert.equal(relate(known, { size: 10, hash: digest('ten') }), 'grown');
  assert.equal(relate(known, { size: 9, hash: digest('nine') }), 'same');
  assert.equal(relate(known, { size: 9, hash: digest('other') }), 'fork');
  assert.equal(relate(known, { size: 8, hash: digest('eight') }), 'rollback');
});

test('witness: a receipt is the checkpoint with one cosignature that anybody can check', () => {
  const verdict = witness(checkpoint(3, digest('three')), { ...terms, known: undefined });
  assert.ok(verdict.kind === 'witnessed');
  const note = parseNote(verdict.note);
  assert.ok(note);
  assert.equal(note.signatures.length, 2);
  assert.equal(cosignedAt(note, authority), terms.nowMs / 1000);
  assert.equal(cosignedAt(note, makeSigningKey(authority.name)), undefined);
});

test('witness: what is not signed with the certified key is refused and never a conflict: nobody breaks a chain of others', () => {
  const known = { size: 9, hash: digest('nine') };
  const because = (text: string): string => {
    const verdict = witness(text, { ...terms, known });
    return verdict.kind === 'refused' ? verdict.because : verdict.kind;
  };
  assert.equal(because(checkpoint(8, digest('eight'), {}, makeSigningKey(key.name))), 'signature');
  assert.equal(because(checkpoint(8, digest('eight'), { epoch: 2 })), 'not_certified');
  assert.equal(because(checkpoint(8, digest('eight'), { origin: chainOrigin('cluster', 'agents', 'another') })), 'origin');
  assert.equal(because(`${checkpoint(10, digest('ten')) + checkpoint(10, digest('ten')).split('\n').at(-2)}\n`), 'malformed');
  assert.equal(because('no note'), 'malformed');
  assert.equal(because(checkpoint(8, digest('eight'))), 'conflict');
});
