import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseLinkHeader } from '#core/completeness/link-header.ts';
import { parseLocator, readLocator } from '#core/completeness/locator.ts';
import { locator } from './build-contract.ts';
import { exchange, noReply } from './drive-walk.ts';

const NEXT = '<https://api.example.test/x?page=2&a=b%20c>; rel="next", <https://api.example.test/x?page=9>; rel="last"';

function linked(link: string, written: Parameters<typeof locator>[0]) {
  return readLocator(locator(written), exchange({ headers: { link } }), undefined);
}

describe('locator', () => {
  it('locator: reads a link by relation, and one parameter out of its target', () => {
    assert.deepEqual(linked(NEXT, { link: 'next' }), { kind: 'value', value: 'https://api.example.test/x?page=2&a=b%20c' });
    assert.deepEqual(linked(NEXT, { link: 'next', query: 'a' }), { kind: 'value', value: 'b c' });
    assert.deepEqual(linked('</v2/tags?last=b>; rel=NEXT', { link: 'next', query: 'last' }), { kind: 'value', value: 'b' });
    assert.equal(linked('<https://x.test/>; rel="prev"', { link: 'next' }).kind, 'absent');
    assert.equal(readLocator(locator({ link: 'next' }), exchange({}), undefined).kind, 'absent');
  });

  it('locator: a link that is there without its parameter is unusable, not absent', () => {
    assert.equal(linked('<https://x.test/?cursor=1>; rel="next"', { link: 'next', query: 'page' }).kind, 'unusable');
    assert.equal(linked('<https://x.test/?page=1&page=2>; rel="next"', { link: 'next', query: 'page' }).kind, 'unusable');
    assert.equal(linked('<https://x.test/?page=1>; rel="next", <https://x.test/?page=2>; rel="next"', { link: 'next' }).kind, 'unusable');
  });

  it('locator: a malformed Link header is unusable, because skipping it would read as the end', () => {
    for (const text of ['https://x.test/; rel=next', '<https://x.test/>; rel="next" junk', '<https://x.test/', 'null']) {
      assert.equal(linked(text, { link: 'next' }).kind, 'unusable', text);
    }
  });

  it('locator: an attribute guard looks at the link it stands in', () => {
    const both = '<https://x.test/?c=1>; rel="previous"; results="true", <https://x.test/?c=2>; rel="next"; results="false"';
    assert.equal(linked(both, { link: 'next', where: { results: 'true' } }).kind, 'absent');
    assert.equal(linked(both, { link: 'next', where: { results: 'false' }, query: 'c' }).kind, 'value');
  });

  it('locator: commas and semicolons inside a target or a quoted attribute do not split it', () => {
    assert.deepEqual(parseLinkHeader('<https://x.test/?a=1,2;3>; title="a, \\"b\\"; c"; rel="next"'), [
      { target: 'https://x.test/?a=1,2;3', attributes: Object.assign(Object.create(null), { title: 'a, "b"; c', rel: 'next' }) },
    ]);
  });

  it('locator: header names of Object are absent unless they were sent', () => {
    assert.equal(readLocator(locator({ header: 'constructor' }), exchange({ headers: {} }), undefined).kind, 'absent');
    assert.equal(readLocator(locator({ header: 'X-Next' }), exchange({ headers: { 'x-next': '2' } }), undefined).kind, 'value');
  });

  it('locator: lastItem reads the last item, and nothing on an empty page or without a reply', () => {
    assert.deepEqual(readLocator(locator({ lastItem: '/id' }), exchange({}), { id: 3 }), { kind: 'value', value: 3 });
    assert.equal(readLocator(locator({ lastItem: '/id' }), exchange({}), undefined).kind, 'absent');
    assert.equal(readLocator(locator({ body: '/id' }), noReply('unreachable'), undefined).kind, 'absent');
  });

  it('locator: the written form names exactly one place', () => {
    assert.equal(parseLocator({}).kind, 'problem');
    assert.equal(parseLocator({ body: '/a', header: 'x' }).kind, 'problem');
    assert.equal(parseLocator({ body: '/a', query: 'x' }).kind, 'problem');
    assert.equal(parseLocator({ header: 'a b' }).kind, 'problem');
    assert.equal(parseLocator({ link: '' }).kind, 'problem');
    assert.equal(parseLocator({ body: 'a' }).kind, 'problem');
  });
});
