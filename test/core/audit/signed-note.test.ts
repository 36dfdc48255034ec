import assert from 'node:assert/strict';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  cosign,
  cosignedAt,
  cosignedBy,
  isSignedBy,
  makeSigningKey,
  parseNote,
  parseNoteBytes,
  parseSigner,
  parseVerifier,
  type SigningKey,
  signedBy,
  signerText,
  signingKeyOf,
  signNote,
  verifierText,
} from '#core/audit/signed-note.ts';
import { limits } from '#core/bounds/limits.ts';

const TEXT = 'postern.dev/audit/x\n7\nqqqq\n';

describe('signed note', () => {
  test('signed note: the note of the specification is right (C2SP signed-note, golang.org/x/mod/sumdb/note)', () => {
    // The example of the package that the specification took its form from.
    const key = parseVerifier('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    const note =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
      '\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
    const parsed = parseNote(note);
    assert.ok(key !== undefined && parsed !== undefined);
    assert.equal(signedBy(parsed, key), 'valid');
    assert.equal(verifierText(key), 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    const signer = parseSigner('PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz');
    assert.ok(signer !== undefined);
    assert.equal(verifierText(signer), verifierText(key));
    assert.equal(signNote(parsed.text, signer), note);
  });

  test('signed note: key id, signature and cosignature are what the specifications say, worked out apart', () => {
    const seed = Buffer.alloc(32, 7);
    const key = signingKeyOf('example.org/witness', seed);
    const secret = createPrivateKey({
      key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const raw = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
    const id = (algorithm: number) =>
      createHash('sha256').update('example.org/witness\n').update(Buffer.of(algorithm)).update(raw).digest().subarray(0, 4);
    const line = (bytes: Buffer) => `\u2014 example.org/witness ${bytes.toString('base64')}\n`;
    assert.equal(
      verifierText(key),
      `example.org/witness+${id(1).toString('hex')}+${Buffer.concat([Buffer.of(1), raw]).toString('base64')}`,
    );
    assert.equal(signNote(TEXT, key), `${TEXT}\n${line(Buffer.concat([id(1), sign(null, Buffer.from(TEXT), secret)]))}`);
    const time = Buffer.from('0000000069a0f1c2', 'hex');
    const seconds = Number(time.readBigUInt64BE());
    const cosigned = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${TEXT}`), secret);
    assert.equal(cosign(TEXT, key, seconds), line(Buffer.concat([id(4), time, cosigned])));
  });

  test('signed note: each signature is one for its own purpose, name, key and text', () => {
    const [key, other] = [makeSigningKey('a'), makeSigningKey('a')];
    const signed = noteOf(signNote(TEXT, key));
    const receipt = noteOf(signNote(TEXT, other) + cosign(TEXT, key, 1_700_000_000));
    assert.equal(isSignedBy(signed, key), true);
    assert.equal(signedBy(signed, other), 'absent');
    assert.equal(cosignedBy(signed, key), 'absent');
    assert.equal(signedBy(receipt, key), 'absent');
    assert.equal(cosignedAt(receipt, key), 1_700_000_000);
    assert.equal(signedBy({ ...signed, text: `${TEXT}more\n` }, key), 'wrong');
    assert.equal(cosignedBy({ ...receipt, text: `${TEXT}more\n` }, key), 'wrong');
    assert.equal(cosignedAt({ ...receipt, text: `${TEXT}more\n` }, key), undefined);
  });

  test('signed note: one wrong line of a known key spoils the right one beside it', () => {
    const key = makeSigningKey('a');
    const [right, foreign] = [signNote(TEXT, key), signNote('another\n', key)];
    const note = noteOf(right + foreign.slice(foreign.lastIndexOf('\u2014')));
    assert.equal(signedBy(note, key), 'wrong');
    assert.equal(isSignedBy(note, key), false);
    const cosigned = noteOf(right + cosign(TEXT, key, 5) + cosign('another\n', key, 5));
    assert.equal(cosignedBy(cosigned, key), 'wrong');
  });

  test('signed note: a time from 2^53 on is no time', () => {
    const key = makeSigningKey('a');
    const note = noteOf(signNote(TEXT, key) + cosign(TEXT, key, 5));
    const [first, second] = note.signatures;
    assert.ok(first !== undefined && second !== undefined);
    const late = Buffer.from(second.signature);
    late.writeBigUInt64BE(2n ** 53n);
    assert.equal(cosignedBy({ ...note, signatures: [first, { ...second, signature: late }] }, key), 'wrong');
  });

  test('signed note: hostile notes are none', () => {
    const good = signNote(TEXT, makeSigningKey('a'));
    const line = good.slice(good.lastIndexOf('\u2014'));
    const cases: Readonly<Record<string, string>> = {
      empty: '',
      'no signature': `${TEXT}\n`,
      'no empty line': `${TEXT}${line}`,
      'no text': `\n\n${line}`,
      'no line feed at the end': good.slice(0, -1),
      'a carriage return': good.replace('\n', '\r\n'),
      'an escape': `\u001b[2J${good}`,
      'a null': `a\u0000${good}`,
      'a text that is not ASCII': `\u00e9${good}`,
      'a delete': `\u007f${good}`,
      'another dash': good.replace('\u2014', '-'),
      'two blanks': good.replace('\u2014 ', '\u2014  '),
      'a plus in the name': good.replace('\u2014 a', '\u2014 a+b'),
      'a name that is not ASCII': good.replace('\u2014 a', '\u2014 \u0430'),
      'base64 that is written in another way': `${TEXT}\n\u2014 a AAAAAAB=\n`,
      'no signature behind the key id': `${TEXT}\n\u2014 a AAAAAA==\n`,
      'a signature of 147 bytes': `${TEXT}\n\u2014 a ${Buffer.alloc(151).toString('base64')}\n`,
      'too many signatures': `${TEXT}\n${line.repeat(limits.auditNoteSignaturesMax + 1)}`,
      'too long': `${'a'.repeat(limits.auditNoteBytesMax)}\n\n${line}`,
    };
    for (const [name, note] of Object.entries(cases)) assert.equal(parseNote(note), undefined, name);
    assert.ok(parseNote(`${TEXT}\n${line.repeat(limits.auditNoteSignaturesMax)}`));
    assert.ok(parseNote(`${TEXT}\n\u2014 a ${Buffer.alloc(150).toString('base64')}\n`));
    assert.equal(parseNoteBytes(Buffer.concat([Buffer.of(0xff), Buffer.from(good)])), undefined);
    assert.equal(parseNoteBytes(Buffer.concat([Buffer.from('\ufeff'), Buffer.from(good)])), undefined);
  });

  test('signed note: what is signed reads back, whatever the text of lines', () => {
    const key = makeSigningKey('a');
    const line = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 40 });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), (lines) => {
        const text = `x${lines.join('\n')}\n`;
        const note = parseNote(signNote(text, key));
        assert.equal(note?.text, text);
        assert.ok(note !== undefined && isSignedBy(note, key));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (noise) => {
        parseNote(noise);
        parseVerifier(noise);
      }),
    );
  });

  test('signed note: keys read as they were written, and nothing else does', () => {
    const key = makeSigningKey('postern.dev/authority/x');
    const text = verifierText(key);
    assert.equal(verifierText(parseVerifier(text) as SigningKey), text);
    assert.equal(signerText(parseSigner(`${signerText(key)}\n`) as SigningKey), signerText(key));
    const wrong = [
      `${text} `,
      `${text}\n`,
      text.replace('postern', 'Postern'),
      text.slice(0, -1),
      `${text}A`,
      '',
      'a+b+c',
      text.replace('+A', '+B'),
    ];
    for (const one of wrong) assert.equal(parseVerifier(one), undefined, one);
    assert.equal(parseSigner(signerText(key).replace('postern', 'Postern')), undefined);
    assert.equal(parseSigner(text), undefined);
    for (const name of ['', 'a b', 'a+b', 'a\n', '\u00e9', 'a'.repeat(301)]) assert.throws(() => makeSigningKey(name), RangeError);
  });
});

function noteOf(text: string) {
  const note = parseNote(text);
  assert.ok(note !== undefined);
  return note;
}
