import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeSigningKey, verifierText } from '#core/audit/signed-note.ts';
import { parseEndStatement, parseSegmentStatement, type SegmentStatement, statementBody } from '#core/audit/statement.ts';
import { limits } from '#core/bounds/limits.ts';

const ORIGIN = 'postern.dev/audit/prod/triage/one';
const KEY = verifierText(makeSigningKey(`${ORIGIN}/epoch-2`));
const SEGMENT: SegmentStatement = {
  format: 'postern-audit/1',
  origin: ORIGIN,
  segment: 3,
  epoch: 2,
  key: KEY,
  recipients: ['age1aaa', 'age1bbb'],
  opened_at: '2026-12-01T10:00:00.000Z',
  previous_segment: { bytes: 1000, sha256: '0a'.repeat(32) },
  previous_epoch: { sequence: 41, hash: 'b0'.repeat(32) },
};
const TEXT =
  `{"format":"postern-audit/1","origin":"${ORIGIN}","segment":3,"epoch":2,"key":"${KEY}","recipients":["age1aaa","age1bbb"],` +
  `"opened_at":"2026-12-01T10:00:00.000Z","previous_segment":{"bytes":1000,"sha256":"${'0a'.repeat(32)}"},` +
  `"previous_epoch":{"sequence":41,"hash":"${'b0'.repeat(32)}"}}`;

describe('statement', () => {
  test('segment statement: has the text of FORMAT.md, whatever order its members came in', () => {
    assert.equal(Buffer.from(statementBody(SEGMENT)).toString(), TEXT);
    const backwards = Object.fromEntries(Object.entries(SEGMENT).reverse()) as unknown as SegmentStatement;
    assert.equal(Buffer.from(statementBody(backwards)).toString(), TEXT);
    assert.deepEqual(parseSegmentStatement(Buffer.from(TEXT)), SEGMENT);
  });

  test('segment statement: the largest there can be is read', () => {
    const recipients = Array.from({ length: limits.auditRecipientsMax }, () => `age1${'a'.repeat(4000)}`);
    assert.deepEqual(parseSegmentStatement(statementBody({ ...SEGMENT, recipients }))?.recipients, recipients);
  });

  test('segment statement: another way of writing it is none', () => {
    const others: Readonly<Record<string, string>> = {
      'a blank': TEXT.replace('":3', '": 3'),
      'a line feed': `${TEXT}\n`,
      'a byte order mark': `\ufeff${TEXT}`,
      'another order': TEXT.replace('"segment":3,"epoch":2', '"epoch":2,"segment":3'),
      'a member more': TEXT.replace('"segment"', '"more":1,"segment"'),
      'a member twice': TEXT.replace('"segment":3', '"segment":4,"segment":3'),
      __proto__: TEXT.replace('"segment"', '"__proto__":{},"segment"'),
      'an escape': TEXT.replace('age1aaa', 'age1\\u0061aa'),
      'a number in another way': TEXT.replace('":3', '":3.0'),
      'a number with an exponent': TEXT.replace('":1000', '":1e3'),
      'segment 0': TEXT.replace('":3', '":0'),
      'a key of another epoch': TEXT.replace('"epoch":2', '"epoch":4'),
      'an epoch that no frame has': TEXT.replace('"epoch":2', '"epoch":4294967298'),
      'no key': TEXT.replace(KEY, 'none'),
      'no recipient': TEXT.replace('["age1aaa","age1bbb"]', '[]'),
      'a recipient of another kind': TEXT.replace('age1aaa', 'ssh-ed25519'),
      'a recipient too long': TEXT.replace('age1aaa', `age1${'a'.repeat(4001)}`),
      'too many recipients': TEXT.replace('"age1aaa"', Array(limits.auditRecipientsMax).fill('"age1aaa"').join()),
      'hex in large letters': TEXT.replace('0a0a', '0A0A'),
      'another format': TEXT.replace('audit/1', 'audit/2'),
      'another time': TEXT.replace('.000Z', '+00:00'),
      'a member of a member': TEXT.replace('"sequence":41', '"sequence":41,"more":1'),
      'an array': `[${TEXT}]`,
      nothing: '',
      'no JSON': '{"format":',
      'too long': `{"a":"${'a'.repeat(200_000)}"}`,
    };
    for (const [name, text] of Object.entries(others)) assert.equal(parseSegmentStatement(Buffer.from(text)), undefined, name);
    assert.equal(parseSegmentStatement(Buffer.concat([Buffer.from(TEXT.slice(0, -1)), Buffer.of(0xff)])), undefined);
  });

  test('end statement: has the text of FORMAT.md, and no other', () => {
    const end = { ended_at: '2026-12-01T10:00:00Z', because: 'rotated' } as const;
    const text = '{"ended_at":"2026-12-01T10:00:00Z","because":"rotated"}';
    assert.equal(Buffer.from(statementBody(end)).toString(), text);
    assert.deepEqual(parseEndStatement(Buffer.from(text)), end);
    for (const other of [
      text.replace('rotated', 'fell over'),
      text.replace('00Z', '00'),
      text.replace('}', ',"more":1}'),
      text.replace('{', '{ '),
      '{"because":"rotated","ended_at":"2026-12-01T10:00:00Z"}',
      'null',
      '',
    ])
      assert.equal(parseEndStatement(Buffer.from(other)), undefined, other);
  });
});
