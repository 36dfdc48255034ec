/** Limits of one, echoes that lie, sources nobody chose, numbers and nesting no answer should have. */
import { describe, test } from 'node:test';
import { ids, page, replay } from './replay.ts';

describe('attacks by odd answers and odd limits', () => {
  test('the smallest limits give every row once and end complete', async () => {
    const all = [
      page({ items: ids('a', 'b'), next: 'A' }, { query: { cursor: null } }),
      page({ items: ids('c') }, { query: { cursor: 'A' } }),
    ];
    const limited = (items: number) => ({
      status: 'partial',
      reasons: ['RESULT_LIMIT_REACHED', 'MORE_PAGES_AVAILABLE'],
      continuation: 'next_cursor',
      items,
    });
    await replay({
      completeness: { limits: { pages: 1, items: 1, time: '30s' } },
      test: {
        exchanges: all.slice(0, 1),
        expect: { ...limited(1), data: { things: [{ id: 'a' }] } },
        resume: {
          exchanges: all.slice(0, 1),
          expect: { ...limited(1), data: { things: [{ id: 'b' }] } },
          resume: { exchanges: all.slice(1), expect: { status: 'ok', data: { things: [{ id: 'c' }] } } },
        },
      },
    });
  });

  test('a page size that is echoed smaller than asked is the stride, and a full page is not short', async () => {
    const paging = { counter: { name: 'offset', unit: 'Item', stride: 'Echoed', echo: { body: '/limit' } }, end: { pageIs: ['Short'] } };
    await replay({
      http: { query: { offset: '$(next.offset)', limit: '$(limits.pageSize)' } },
      completeness: { paging, limits: { pages: 10, items: 100, time: '30s', pageSize: 100 } },
      test: {
        exchanges: [
          page({ items: ids('a', 'b'), limit: 2 }, { query: { offset: '0', limit: '100' } }),
          page({ items: ids('c'), limit: 2 }, { query: { offset: '2' } }),
        ],
        expect: { status: 'ok', items: 3 },
      },
    });
    for (const limit of [0, -1, null, 'two']) {
      await replay({
        http: { query: { offset: '$(next.offset)' } },
        completeness: { paging: { ...paging, end: { pageIs: ['Empty'] } } },
        test: {
          exchanges: [page({ items: ids('a', 'b'), limit })],
          expect: { status: 'partial', reasons: ['COMPLETENESS_UNPROVEN'], items: 2 },
        },
      });
    }
  });

  test('sources that were not chosen are neither asked nor spoken of, and none chosen is no answer', async () => {
    const sources = {
      select: '$(args.places)',
      list: [
        { name: 'east', values: { place: 'east' } },
        { name: 'west', values: { place: 'west' } },
      ],
    };
    const places = { type: 'array', minItems: 0, maxItems: 2, items: { type: 'string', enum: ['east', 'west'] } };
    const attack = {
      http: { url: 'https://api.example.test/$(source.place)/things' },
      arguments: { type: 'object', additionalProperties: false, required: ['places'], properties: { places } },
      completeness: { sources },
    };
    await replay({
      ...attack,
      test: {
        arguments: { places: ['west'] },
        exchanges: [page({ items: ids('a') }, { path: '/west/things' })],
        expect: { status: 'ok', items: 1 },
      },
    });
    await replay({
      ...attack,
      test: { arguments: { places: [] }, exchanges: [], expect: { status: 'partial', reasons: ['COMPLETENESS_UNPROVEN'], items: 0 } },
    });
  });

  test('numbers and nesting no answer should have', async () => {
    const json = { status: 200, headers: { 'content-type': 'application/json' } };
    for (const text of [
      `{"items": ${'['.repeat(140)}${']'.repeat(140)}}`,
      '{"items": [}',
      '{"items": []} {}',
      '{"items": [] ',
      'NaN',
      '\ufeff\ufeff{"items": []}',
    ]) {
      await replay({
        test: {
          exchanges: [{ request: { method: 'GET', path: '/things' }, response: { ...json, text } }],
          expect: { status: 'error', code: 'REMOTE_PROTOCOL', reasons: ['COMPLETENESS_UNPROVEN'] },
        },
      });
    }
    const large = '{"items": [{"id": 9007199254740993}, {"id": 9007199254740992}, {"id": 1e400}, {"id": -1e400}]}';
    await replay({
      test: {
        exchanges: [{ request: { method: 'GET', path: '/things' }, response: { ...json, text: large } }],
        expect: {
          status: 'ok',
          warnings: ['VALUE_NORMALIZED'],
          data: { things: ids('9007199254740993', '9007199254740992', '1e400', '-1e400') },
        },
      },
    });
  });
});
