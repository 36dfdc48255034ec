/** The signature of a chain: who answers for the keys that signed it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { certify, epochKeyName } from '#core/audit/checkpoint.ts';
import { cosign, makeSigningKey } from '#core/audit/signed-note.ts';
import { ChainRig, ORIGIN, verify, wholeChain } from './chain-rig.ts';

describe('signature', () => {
  test('signature: reaches to the last checkpoint of a certified epoch, and what is behind it is counted', () => {
    const rig = wholeChain();
    const at = rig.last;
    rig.checkpoint().receipt();
    const signed = `valid to sequence ${at}, signed by postern.dev/authority/test`;
    const judged = () => verify(rig.files, { keys: [rig.authority] }).signature;
    assert.deepEqual(judged(), { is: 'valid', sequence: at, sentence: signed }, 'notes bear a signature of their own');
    rig.records();
    assert.equal(judged().sentence, `${signed}, 1 record after it is not signed`);
    rig.records(3);
    assert.equal(judged().sentence, `${signed}, 4 records after it are not signed`);
  });

  test('signature: a chain that ended in order has nothing that is not signed', () => {
    const rig = wholeChain().end();
    const { sentence } = verify(rig.files, { keys: [rig.authority] }).signature;
    assert.equal(sentence, `valid to sequence ${rig.last - 1}, signed by postern.dev/authority/test`);
  });

  test('signature: another key never answers for a chain, and always with the same words (AUD-07)', () => {
    const sentences = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('records', 'checkpoint', 'receipt', 'segment', 'epoch'), { minLength: 1, maxLength: 6 }),
        (steps) => {
          const rig = new ChainRig().beginEpoch();
          for (const step of steps) {
            if (step === 'records') rig.records();
            if (step === 'checkpoint') rig.checkpoint();
            if (step === 'receipt') rig.receipt();
            if (step === 'segment') rig.beginSegment();
            if (step === 'epoch') rig.end().beginEpoch();
          }
          const verdict = verify(rig.files, { keys: [makeSigningKey('postern.dev/authority/other')] });
          assert.equal(verdict.good, false);
          sentences.add(verdict.signature.sentence);
        },
      ),
      { numRuns: 1000 },
    );
    assert.deepEqual([...sentences], ['INVALID: no checkpoint is signed by a key that postern.dev/authority/other answers for']);
  });

  test('signature: a key of the same name that is another one does not answer either', () => {
    const rig = wholeChain();
    assert.equal(verify(rig.files, { keys: [makeSigningKey(rig.authority.name)] }).signature.is, 'INVALID');
  });

  test('signature: of two authorities each answers for its epochs, as after a rotation', () => {
    const [first, second] = [makeSigningKey('postern.dev/authority/a'), makeSigningKey('postern.dev/authority/b')];
    const rig = new ChainRig(ORIGIN, first).beginEpoch().records().end();
    const { origin, epoch } = rig.beginEpoch({ certified: false });
    rig.state('certificate', Buffer.from(certify({ origin, epoch, key: rig.key }, second))).checkpoint();
    assert.match(verify(rig.files, { keys: [first, second] }).signature.sentence, /^valid .* signed by postern\.dev\/authority\/b$/);
    assert.equal(verify(rig.files, { keys: [second] }).signature.is, 'INVALID');
  });

  test('signature: the key of a later epoch does not speak for an earlier one (AUD-04)', () => {
    const rig = new ChainRig().beginEpoch().records();
    const first = rig.sequence;
    rig.beginEpoch({ certified: false }).records().checkpoint().beginEpoch().checkpoint();
    const { is, sequence, sentence } = verify(rig.files, { keys: [rig.authority] }).signature;
    assert.deepEqual([is, sequence], ['INVALID', first]);
    assert.match(sentence, new RegExp(`does not answer for the key of epoch 2, from sequence ${first} on`));
  });

  test('signature: a certificate that comes in a later epoch counts', () => {
    const rig = new ChainRig().beginEpoch({ certified: false }).records();
    const { epoch, key } = rig;
    rig.beginEpoch().certificate(epoch, key).checkpoint();
    assert.equal(verify(rig.files, { keys: [rig.authority] }).signature.is, 'valid');
  });

  test('signature: a certificate or receipt in the name of the authority that it did not sign is INVALID', () => {
    const authority = makeSigningKey('postern.dev/authority/test');
    const [rig, other] = [new ChainRig(ORIGIN, authority).beginEpoch(), makeSigningKey(`${ORIGIN}/epoch-9`)];
    const foreign = certify({ origin: ORIGIN, epoch: 9, key: other }, authority);
    const right = certify({ origin: ORIGIN, epoch: 1, key: rig.key }, authority);
    const forged = right.slice(0, right.lastIndexOf('\u2014')) + foreign.slice(foreign.lastIndexOf('\u2014'));
    const at = rig.sequence;
    const { signature } = verify(rig.state('certificate', Buffer.from(forged)).checkpoint().files, { keys: [authority] });
    assert.deepEqual([signature.is, signature.sequence], ['INVALID', at]);

    const told = new ChainRig(ORIGIN, authority).beginEpoch().checkpoint();
    const line = cosign('something else\n', authority, 7);
    const receiptAt = told.sequence;
    const receipt = verify(told.state('receipt', Buffer.from(told.checkpointNote + line)).files, { keys: [authority] }).signature;
    assert.deepEqual([receipt.is, receipt.sequence, receipt.sentence.includes('receipt')], ['INVALID', receiptAt, true]);
    assert.equal(verify(told.files).good, true);
  });

  test('signature: without a checkpoint, or without a certificate, nothing is signed', () => {
    const rig = new ChainRig();
    rig.epoch = 1;
    rig.key = makeSigningKey(epochKeyName(ORIGIN, 1));
    assert.equal(verify(rig.beginSegment().files, { keys: [rig.authority] }).signature.is, 'INVALID');
    const signed = new ChainRig().beginEpoch({ certified: false }).records().checkpoint();
    assert.equal(verify(signed.files, { keys: [signed.authority] }).signature.is, 'INVALID');
    assert.equal(verify([], { keys: [signed.authority] }).signature.is, 'INVALID');
  });

  test('signature: a re-sealed epoch under a key of its maker is INVALID, though its chain is whole (AUD-04)', () => {
    const authority = makeSigningKey('postern.dev/authority/test');
    const forger = makeSigningKey('postern.dev/authority/test');
    const rewritten = new ChainRig(ORIGIN, forger).beginEpoch().records(5).checkpoint();
    const verdict = verify(rewritten.files, { keys: [authority] });
    assert.deepEqual([verdict.broken, verdict.signature.is, verdict.good], [undefined, 'INVALID', false]);
  });
});
