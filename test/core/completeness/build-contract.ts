/**
 * Compiled contracts for tests of the engine, written down as the compiler would leave them: only what a test
 * is about is given, everything else is the default of the contract language.
 */

import { parseLocator, type WrittenLocator } from '#core/completeness/locator.ts';
import { type Locator, type Path, parsePath } from '#core/completeness/path.ts';
import { compileRule, ITEM_VARIABLES, type Rule } from '#core/completeness/rule.ts';
import type { CompiledContract, CompletenessRules, PagingRules, ResultRules } from '#core/contract/compiled.ts';

export function path(text: string): Path {
  const parsed = parsePath(text);
  if (parsed.kind === 'problem') throw new Error(`${text}: ${parsed.message}`);
  return parsed.path;
}

export function locator(written: WrittenLocator): Locator {
  const parsed = parseLocator(written);
  if (parsed.kind === 'problem') throw new Error(parsed.message);
  return parsed.locator;
}

export function rule(text: string): Rule {
  const compiled = compileRule(text, ITEM_VARIABLES);
  if (compiled.kind === 'problem') throw new Error(`${text}: ${compiled.message}`);
  return compiled.rule;
}

export interface Given {
  readonly result?: Partial<ResultRules>;
  readonly paging?: Partial<Omit<PagingRules, 'end'>> & { readonly end?: Partial<PagingRules['end']> };
  readonly completeness?: Partial<Omit<CompletenessRules, 'paging'>>;
  readonly warnings?: CompiledContract['warnings'];
  readonly scrolls?: true;
}

/** A token pager over `/items` with ids, `next` absent or null at the end, pages declared to belong together. */
export function contract(given: Given = {}): CompiledContract {
  const request = { method: 'GET', origin: 'https://api.example.test', segments: [['items']], query: [], headers: [] };
  return {
    name: 'list-things',
    namespace: 'tests',
    action: 'list_things',
    summary: ['List things'],
    owner: 'tests',
    effect: 'Read',
    callers: ['bot'],
    credentials: ['binding'],
    arguments: { type: 'object', properties: {}, required: [] },
    resolve: {},
    constants: {},
    target: { kind: 'http', credential: ['binding'], request, ...(given.scrolls ? { next: request } : {}) },
    result: {
      decoder: 'JSON',
      contentTypes: ['application/json'],
      outcomes: [],
      shape: { kind: 'items', paths: [path('/items')] },
      absentItems: 'Error',
      as: 'things',
      id: [path('/id')],
      fields: [{ name: 'id', path: path('/id'), presence: 'Required' }],
      ...given.result,
    },
    completeness: {
      consistency: { mode: 'Declared', equal: [], because: 'tests' },
      required: [],
      signals: [],
      notices: [],
      totals: [],
      cursor: { ttlMs: 300_000, onExpiry: 'Fail', afterMutation: 'Keep' },
      rateLimit: { wait: 'Never', waits: [], floorMs: 1000, ceilingMs: 3_600_000 },
      freshness: [],
      limits: { pages: 10, items: 1000, bytes: 8_388_608, timeMs: 30_000, parallel: 4 },
      onIncomplete: 'Return',
      ...given.completeness,
      paging: {
        mode: 'Walk',
        next: [{ name: 'cursor', from: [locator({ body: '/next' })], presence: 'Required' }],
        remainder: 'Pages',
        ...given.paging,
        end: { nextIs: ['Absent', 'NullValue'], pageIs: [], ...given.paging?.end },
      },
    },
    warnings: given.warnings ?? {},
    effects: { approval: { mode: 'None', expiresAfterMs: 900_000, vary: [] }, idempotency: { mode: 'None' } },
    presets: [],
    best: 'Complete',
    revision: `sha256:${'0'.repeat(64)}`,
  };
}
