import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { epochKeyName, parseCertificate } from '#core/audit/checkpoint.ts';
import { isSignedBy, makeSigningKey, parseNote, verifierText } from '#core/audit/signed-note.ts';
import { auditAuthority, chainOrigin } from '#operator/witness/authority.ts';
import { judgeEpoch, type KnownEpoch } from '#operator/witness/epochs.ts';

const origin = chainOrigin('cluster', 'agents', 'uid');
const authority = makeSigningKey('postern.dev/authority/cluster');
const keyOf = (epoch: number, of = origin): string => verifierText(makeSigningKey(epochKeyName(of, epoch)));
const judge = (known: KnownEpoch | undefined, epoch: number, key: string) => judgeEpoch(known, { origin, epoch, key }, authority);

test('epochs: the key of a new epoch is certified, and asked again it is certified alike', () => {
  const key = keyOf(3);
  const first = judge(undefined, 3, key);
  assert.ok(first.kind === 'certified' && first.isNew);
  const again = judge({ epoch: 3, key }, 3, key);
  assert.ok(again.kind === 'certified' && !again.isNew);
  assert.equal(again.note, first.note);
  const note = parseNote(first.note);
  assert.ok(note && isSignedBy(note, authority));
  assert.equal(parseCertificate(note.text)?.epoch, 3);
});

test('epochs: no second key of an epoch is certified, and none of an epoch that has passed (AUD-04)', () => {
  const known = { epoch: 7, key: keyOf(7) };
  const because = (epoch: number, key: string): string => {
    const verdict = judge(known, epoch, key);
    return verdict.kind === 'refused' ? verdict.because : verdict.kind;
  };
  assert.equal(because(7, keyOf(7)), 'other_key');
  assert.equal(because(3, keyOf(3)), 'passed');
  assert.equal(because(8, keyOf(8)), 'certified');
});

test('epochs: a key that bears the name of another chain or epoch, or none, is refused', () => {
  for (const [epoch, key] of [
    [1, keyOf(2)],
    [1, keyOf(1, chainOrigin('cluster', 'agents', 'another'))],
    [0, keyOf(0)],
    [1, 'no key'],
    [2 ** 32, keyOf(2 ** 32)],
  ] as const)
    assert.equal(judge(undefined, epoch, key).kind, 'refused', `${epoch}`);
});

test('authority: one CA key gives one authority, at each replica and in each of its texts, and each cluster has its own name', () => {
  const pem = (key: ReturnType<typeof generateKeyPairSync>['privateKey'], type: 'pkcs8' | 'sec1') =>
    String((key as unknown as { export(options: object): string }).export({ format: 'pem', type }));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const one = verifierText(auditAuthority(pem(privateKey, 'pkcs8'), 'west'));
  assert.equal(verifierText(auditAuthority(pem(privateKey, 'sec1'), 'west')), one);
  assert.match(one, /^postern\.dev\/authority\/west\+/);
  assert.notEqual(verifierText(auditAuthority(pem(other, 'pkcs8'), 'west')), one);
});
