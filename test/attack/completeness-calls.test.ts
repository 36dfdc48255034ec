/** Attacks that need whole calls: handles, sources, limits and cursors together. */
import { describe, test } from 'node:test';
import { ids, page, replay } from './replay.ts';

const OPEN = { method: 'POST', url: 'https://api.example.test/open', values: { handle: '/id' } };

function opened(id: unknown) {
  return {
    request: { method: 'POST', path: '/open' },
    response: { status: 200, headers: { 'content-type': 'application/json' }, body: { id } },
  };
}

describe('attacks on handles', () => {
  const http = { query: { cursor: '$(next.cursor)', handle: '$(open.handle)' }, open: OPEN };
  const handled = { http, completeness: { consistency: { mode: 'SnapshotHandle' } } };

  for (const id of [null, '', {}, []]) {
    test(`a handle ${JSON.stringify(id)} is none`, async () => {
      await replay({
        ...handled,
        test: {
          exchanges: [opened(id)],
          expect: { status: 'error', code: 'REMOTE_PROTOCOL', reasons: ['COMPLETENESS_UNPROVEN'] },
        },
      });
    });
  }

  test('a source that was not reached is opened when its turn comes', async () => {
    await replay({
      http: { ...http, url: 'https://api.example.test/$(source.place)/things' },
      completeness: {
        consistency: { mode: 'SnapshotHandle' },
        sources: {
          list: [
            { name: 'east', values: { place: 'east' } },
            { name: 'west', values: { place: 'west' } },
          ],
        },
        limits: { pages: 1, items: 1000, time: '30s', parallel: 1 },
      },
      test: {
        exchanges: [opened('h1'), page({ items: ids('a') }, { path: '/east/things', query: { handle: 'h1' } })],
        expect: { status: 'partial', reasons: ['RESULT_LIMIT_REACHED', 'MORE_PAGES_AVAILABLE'], continuation: 'next_cursor', items: 1 },
        resume: {
          exchanges: [opened('h2'), page({ items: ids('b') }, { path: '/west/things', query: { handle: 'h2' } })],
          expect: { status: 'ok', items: 1 },
        },
      },
    });
  });

  test('a close that fails changes nothing', async () => {
    await replay({
      http: { ...http, close: { method: 'DELETE', url: 'https://api.example.test/open', query: { handle: '$(open.handle)' } } },
      completeness: { consistency: { mode: 'SnapshotHandle' } },
      test: {
        exchanges: [
          opened('h1'),
          page({ items: ids('a') }, { query: { handle: 'h1' } }),
          { request: { method: 'DELETE', path: '/open' }, failure: 'unreachable' },
        ],
        expect: { status: 'ok', items: 1 },
      },
    });
  });
});

describe('attacks on a walk in several calls', () => {
  test('a cursor that fits no request ends the walk and keeps its rows', async () => {
    await replay({
      test: {
        exchanges: [page({ items: ids('a', 'b'), next: { not: 'a text' } })],
        expect: { status: 'partial', reasons: ['COMPLETENESS_UNPROVEN', 'MORE_PAGES_AVAILABLE'], items: 2 },
      },
    });
  });

  test('a rate limit in mid-walk is waited out and nothing is lost', async () => {
    await replay({
      completeness: { rateLimit: { wait: 'WithinBudget' } },
      test: {
        exchanges: [
          page({ items: ids('a'), next: 'A' }),
          page(
            {},
            { query: { cursor: 'A' }, response: { status: 429, headers: { 'content-type': 'application/json', 'retry-after': '3' } } },
          ),
          page({ items: ids('b') }, { query: { cursor: 'A' } }),
        ],
        expect: { status: 'ok', items: 2 },
      },
    });
  });

  test('a wait that does not fit leaves a cursor to the page that was refused', async () => {
    await replay({
      completeness: { rateLimit: { wait: 'WithinBudget' } },
      test: {
        deadline: '2s',
        exchanges: [
          page({ items: ids('a'), next: 'A' }),
          page(
            {},
            { query: { cursor: 'A' }, response: { status: 429, headers: { 'content-type': 'application/json', 'retry-after': '3' } } },
          ),
        ],
        expect: { status: 'partial', reasons: ['REMOTE_RATE_LIMITED', 'MORE_PAGES_AVAILABLE'], continuation: 'retry_after', items: 1 },
        resume: { exchanges: [page({ items: ids('b') }, { query: { cursor: 'A' } })], expect: { status: 'ok', items: 1 } },
      },
    });
  });

  test('time that runs out between two pages loses neither', async () => {
    await replay({
      test: {
        deadline: '5s',
        exchanges: [
          page({ items: ids('a'), next: 'A' }, { response: { after: '4s' } }),
          page({ items: ids('b'), next: 'B' }, { query: { cursor: 'A' }, response: { after: '1s' } }),
        ],
        expect: { status: 'partial', reasons: ['TIME_BUDGET_EXCEEDED', 'MORE_PAGES_AVAILABLE'], continuation: 'next_cursor', items: 1 },
        resume: {
          exchanges: [page({ items: ids('b') }, { query: { cursor: 'A' } })],
          expect: { status: 'ok', items: 1 },
        },
      },
    });
  });

  test('a deadline shorter than one page is an error with its reason', async () => {
    await replay({
      test: {
        deadline: '1s',
        exchanges: [page({ items: ids('a') }, { response: { after: '2s' } })],
        expect: {
          status: 'error',
          code: 'DEADLINE_EXCEEDED',
          reasons: ['TIME_BUDGET_EXCEEDED', 'MORE_PAGES_AVAILABLE'],
          continuation: 'retry_with_deadline',
        },
      },
    });
  });

  test('a job that fails and then is done is done', async () => {
    const outcomes = [
      { name: 'running', when: "body.state == 'running'", is: 'Pending' },
      { name: 'failed', when: "body.state == 'failed'", is: 'Unavailable' },
    ];
    await replay({
      http: { query: { cursor: '$(next.cursor)', handle: '$(open.handle)' }, open: OPEN },
      result: { outcomes },
      completeness: { job: { interval: '1s' } },
      test: {
        exchanges: [opened('j1'), page({ state: 'running', items: ids('x') }), page({ state: 'failed' })],
        expect: { status: 'partial', reasons: ['SOURCE_UNAVAILABLE'], continuation: 'next_cursor', items: 0 },
        resume: {
          exchanges: [page({ state: 'done', items: ids('a', 'b') }, { query: { handle: 'j1' } })],
          expect: { status: 'ok', items: 2 },
        },
      },
    });
  });

  test('one source fails, another is done: the answer names the one, and a second call asks only it', async () => {
    await replay({
      http: { url: 'https://api.example.test/$(source.place)/things' },
      completeness: {
        sources: {
          list: [
            { name: 'east', values: { place: 'east' } },
            { name: 'west', values: { place: 'west' } },
          ],
        },
      },
      test: {
        exchanges: [
          page({ items: ids('a') }, { path: '/east/things' }),
          page({ items: ids('b'), next: 'B' }, { path: '/west/things' }),
          page({}, { path: '/west/things', query: { cursor: 'B' }, response: { status: 503 } }),
        ],
        expect: {
          status: 'partial',
          reasons: ['SOURCE_UNAVAILABLE', 'MORE_PAGES_AVAILABLE'],
          sources: ['west'],
          continuation: 'next_cursor',
          items: 2,
        },
        resume: {
          exchanges: [page({ items: ids('c') }, { path: '/west/things', query: { cursor: 'B' } })],
          expect: { status: 'ok', items: 1 },
        },
      },
    });
  });

  test('limits met in both of two parallel sources are met again, and every row comes once', async () => {
    const answers = ['east', 'west'].map((place) => page({ items: ids('a', 'b', 'c') }, { path: `/${place}/things` }));
    await replay({
      http: { url: 'https://api.example.test/$(source.place)/things' },
      completeness: {
        sources: {
          list: [
            { name: 'east', values: { place: 'east' } },
            { name: 'west', values: { place: 'west' } },
          ],
        },
        limits: { pages: 10, items: 4, time: '30s' },
      },
      test: {
        exchanges: answers,
        expect: { status: 'partial', reasons: ['RESULT_LIMIT_REACHED', 'MORE_PAGES_AVAILABLE'], continuation: 'next_cursor', items: 4 },
        resume: { exchanges: answers.slice(1), expect: { status: 'ok', items: 2, data: { things: [{ id: 'b' }, { id: 'c' }] } } },
      },
    });
  });

  test('Fail lets warnings pass and nothing else', async () => {
    const warnings = [{ name: 'lag', code: 'STALE_INDEX', owner: 'team', expires: '2026-06-01', message: 'the index lags' }];
    const completeness = { onIncomplete: 'Fail', notices: [{ name: 'lag', warning: 'lag' }] };
    await replay({
      completeness,
      warnings,
      test: { exchanges: [page({ items: ids('a') })], expect: { status: 'ok', warnings: ['STALE_INDEX'], items: 1 } },
    });
    await replay({
      completeness,
      warnings,
      test: {
        onePage: true,
        exchanges: [page({ items: ids('a'), next: 'A' })],
        expect: { status: 'error', code: 'RESULT_INCOMPLETE', reasons: ['MORE_PAGES_AVAILABLE'] },
      },
    });
  });

  test('a floor counts what the answer holds, over all calls', async () => {
    const completeness = {
      scope: { resource: 'things', visibility: 'all', absence: 'Provable', floor: 3 },
      limits: { pages: 1, items: 100, time: '30s' },
    };
    const where = "item.id != 'x'";
    const exchanges = [page({ items: ids('a', 'x'), next: 'A' })];
    const expect = { status: 'partial', reasons: ['RESULT_LIMIT_REACHED', 'MORE_PAGES_AVAILABLE'], continuation: 'next_cursor', items: 1 };
    await replay({
      result: { where },
      completeness,
      test: { exchanges, expect, resume: { exchanges: [page({ items: ids('b', 'c') })], expect: { status: 'ok', items: 2 } } },
    });
    await replay({
      result: { where },
      completeness,
      test: {
        exchanges,
        expect,
        resume: { exchanges: [page({ items: ids('b') })], expect: { status: 'partial', reasons: ['COMPLETENESS_UNPROVEN'], items: 1 } },
      },
    });
  });
});
