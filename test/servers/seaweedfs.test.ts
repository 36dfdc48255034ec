import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unavailable } from './build.ts';
import { startSeaweedfs } from './seaweedfs.ts';

const skip = await unavailable('weed');

test('seaweedfs: a real S3 server starts', { skip }, async (t) => {
  await using s3 = await startSeaweedfs();
  await s3.createBucket('reports');
  const keys = ['a.txt', "b (copy)'s.txt", 'c/d.txt'];
  for (const key of keys) await s3.putObject('reports', key, `content of ${key}`);

  const list = async (query: Record<string, string>) => {
    const { status, body } = await s3.send({
      method: 'GET',
      path: '/reports',
      query: { 'list-type': '2', 'max-keys': '2', ...query },
    });
    assert.equal(status, 200, body);
    return body;
  };

  await t.test('seaweedfs: a list with max-keys is truncated and continues by NextContinuationToken', async () => {
    const first = await list({});
    assert.match(first, /<IsTruncated>true<\/IsTruncated>/);
    const token = /<NextContinuationToken>([^<]+)</.exec(first)?.[1];
    assert.ok(token);
    const second = await list({ 'continuation-token': token });
    assert.match(second, /<IsTruncated>false<\/IsTruncated>/);
    assert.match(second, /<Key>c\/d\.txt<\/Key>/);
  });

  await t.test('seaweedfs: an object comes back as it was put, also under a key that needs escaping', async () => {
    for (const key of keys) {
      const { body } = await s3.send({ method: 'GET', path: `/reports/${key}` });
      assert.equal(body, `content of ${key}`);
    }
  });

  await t.test('seaweedfs: a second write with if-none-match gets 412', async () => {
    const again = await s3.send({
      method: 'PUT',
      path: '/reports/a.txt',
      headers: { 'if-none-match': '*' },
      body: 'other',
    });
    assert.equal(again.status, 412);
  });

  await t.test('seaweedfs: the buckets are the created ones and no others', async () => {
    const { body } = await s3.send({ method: 'GET', path: '/' });
    assert.deepEqual(body.match(/<Name>[^<]*/g), ['<Name>reports']);
  });

  await t.test('seaweedfs: an unsigned request is refused', async () => {
    const response = await fetch(`${s3.endpoint}/reports/a.txt`);
    assert.equal(response.status, 403);
    await response.arrayBuffer();
  });
});
