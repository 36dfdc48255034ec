import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  certificateText,
  checkpointText,
  epochKeyName,
  isOrigin,
  isSize,
  isTime,
  parseCertificate,
  parseCheckpoint,
} from '#core/audit/checkpoint.ts';
import { makeSigningKey, verifierText } from '#core/audit/signed-note.ts';

const ORIGIN = 'postern.dev/audit/prod/triage/1b4e28ba';
const TEXT = `${ORIGIN}\n42\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\nepoch 3\ntime 2026-12-01T10:00:00.5Z\n`;
const CHECKPOINT = { origin: ORIGIN, size: 42, hash: Buffer.alloc(32, 0xab), epoch: 3, time: '2026-12-01T10:00:00.5Z' };

describe('checkpoint', () => {
  test('checkpoint: has the text of FORMAT.md', () => {
    assert.equal(checkpointText(CHECKPOINT), TEXT);
    assert.deepEqual(parseCheckpoint(TEXT), CHECKPOINT);
  });

  test('checkpoint: reads as it was written', () => {
    const any = fc.record(
      {
        origin: fc.string({ unit: fc.constantFrom(...'az09.-/'), minLength: 1, maxLength: 200 }).map((name) => `postern.dev/audit/${name}`),
        size: fc.maxSafeNat(),
        hash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
        epoch: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
        time: fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString()),
      },
      { noNullPrototype: true },
    );
    fc.assert(fc.property(any, (checkpoint) => assert.deepEqual(parseCheckpoint(checkpointText(checkpoint)), checkpoint)));
  });

  test('checkpoint: another way of writing it is none', () => {
    const others: Readonly<Record<string, string>> = {
      'another origin': TEXT.replace('postern.dev/audit/', 'example.org/'),
      'letters no origin has': TEXT.replace('prod', 'Prod'),
      'leading zeros': TEXT.replace('42', '042'),
      'a size of 2^53': TEXT.replace('42', '9007199254740992'),
      'a negative size': TEXT.replace('42', '-42'),
      'hash of 31 bytes': TEXT.replace(/q6.*=/, `${Buffer.alloc(31).toString('base64')}`),
      'base64 with other last bits': TEXT.replace('6s=', '6t='),
      'base64 of URLs': TEXT.replace('q6u', '__u'),
      'epoch 0': TEXT.replace('epoch 3', 'epoch 0'),
      'epoch 03': TEXT.replace('epoch 3', 'epoch 03'),
      'another time': TEXT.replace('T10', ' 10'),
      'a zone': TEXT.replace('Z', '+00:00'),
      'a line more': `${TEXT}more\n`,
      'no line feed': TEXT.slice(0, -1),
      'a line less': TEXT.replace(/time.*\n/, ''),
      'carriage returns': TEXT.replaceAll('\n', '\r\n'),
      nothing: '',
    };
    for (const [name, text] of Object.entries(others)) assert.equal(parseCheckpoint(text), undefined, name);
  });

  test('certificate: names the key of its epoch, and no other', () => {
    const key = makeSigningKey(epochKeyName(ORIGIN, 3));
    const text = certificateText({ origin: ORIGIN, epoch: 3, key });
    assert.equal(text, `postern.dev/audit-epoch/v1\n${ORIGIN}\n3\n${verifierText(key)}\n`);
    assert.equal(parseCertificate(text)?.epoch, 3);
    for (const other of [
      text.replace('\n3\n', '\n4\n'),
      text.replace('\n3\n', '\n03\n'),
      text.replace('/v1', '/v2'),
      `${text}more\n`,
      text.slice(0, -1),
      certificateText({ origin: ORIGIN, epoch: 3, key: makeSigningKey(`${ORIGIN}/epoch-4`) }),
    ])
      assert.equal(parseCertificate(other), undefined, other);
  });

  test('checkpoint: sizes, times and origins have one form each', () => {
    for (const size of ['0', '7', '9007199254740991']) assert.ok(isSize(size), size);
    for (const size of ['', '00', '+1', '1.0', '1e3', '9007199254740992', ' 1', '0x1']) assert.ok(!isSize(size), size);
    for (const time of ['2026-12-01T10:00:00Z', '2026-99-99T99:99:99.123456789Z']) assert.ok(isTime(time), time);
    for (const time of ['2026-12-01T10:00:00', '2026-12-01t10:00:00Z', '2026-12-01T10:00:00.Z', '2026-12-01T10:00:00.0123456789Z'])
      assert.ok(!isTime(time), time);
    assert.ok(!isOrigin('postern.dev/audit/') && !isOrigin(`postern.dev/audit/${'a'.repeat(201)}`) && !isOrigin('postern.dev/audit/a\n'));
  });
});
