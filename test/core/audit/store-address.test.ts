import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseStoreAddress, type StoreAddress, StoreAddressUnusable, storeAddressText } from '#core/audit/store-address.ts';

test('store address: a folder and a bucket are read with all their settings', () => {
  assert.deepEqual(parseStoreAddress('file:///var/lib/audit%20x/'), { kind: 'file', folder: '/var/lib/audit x' });
  assert.deepEqual(parseStoreAddress('s3://logs-1'), { kind: 's3', bucket: 'logs-1', prefix: '' });
  assert.deepEqual(parseStoreAddress('s3://logs/a/b/?region=eu-central-1&endpoint=http://127.0.0.1:8333&retention=COMPLIANCE:365'), {
    kind: 's3',
    bucket: 'logs',
    prefix: 'a/b/',
    region: 'eu-central-1',
    endpoint: 'http://127.0.0.1:8333',
    retention: { mode: 'COMPLIANCE', days: 365 },
  });
});

test('store address: what is not understood is refused with the cure, and nothing of it is repeated', () => {
  const refused = {
    'http://bucket/x': /neither file/,
    '/var/lib/audit': /neither file/,
    'file://host/dir': /three slashes/,
    'file:///dir?x=1': /takes no settings/,
    's3://UPPER/x': /names no bucket/,
    's3://bucket:80/x': /endpoint=/,
    's3://AKIA:hunter2@bucket/x': /credentials come from/,
    's3://bucket/x?retention=COMPLIANCE': /COMPLIANCE:DAYS/,
    's3://bucket/x?retention=COMPLIANCE:0': /1 to 36500/,
    's3://bucket/x?retenton=COMPLIANCE:1': /not one of region, endpoint, retention/,
    's3://bucket/x?region=a&region=b': /twice/,
    's3://bucket/x?endpoint=https://host/path': /more than scheme/,
    's3://bucket/x?endpoint=ftp://host': /no http/,
    's3://bucket/a//b': /prefix/,
    's3://bucket/a%2f..%2fb': /prefix/,
    's3://bucket/%zz': /%25/,
    's3://bucket/a%0ab': /control character/,
    's3://bucket/x#y': /%23/,
    [`s3://bucket/${'x'.repeat(3000)}`]: /longer than/,
  };
  for (const [text, cure] of Object.entries(refused))
    assert.throws(
      () => parseStoreAddress(text),
      (error: Error) => error instanceof StoreAddressUnusable && cure.test(error.message) && !error.message.includes('hunter2'),
      text,
    );
});

test('store address: every address that is read is written so that it is read again', () => {
  const part = fc
    .string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'aZ0-._ %+?#ü&='.split('')) })
    .filter((text) => !/^\.{1,2}$/.test(text));
  const address = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts): StoreAddress => ({ kind: 'file', folder: `/${parts.join('/')}` })),
    fc.record({ parts: fc.array(part, { maxLength: 4 }), days: fc.integer({ min: 1, max: 36_500 }) }).map(
      ({ parts, days }): StoreAddress => ({
        kind: 's3',
        bucket: 'my.bucket-1',
        prefix: parts.map((text) => `${text}/`).join(''),
        region: 'us-east-1',
        endpoint: 'https://s3.example:9000',
        retention: { mode: 'GOVERNANCE', days },
      }),
    ),
  );
  fc.assert(fc.property(address, (given) => assert.deepEqual(parseStoreAddress(storeAddressText(given)), given)));
});
