import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expectation } from '#sidecar/contract-test/contract-test.ts';
import { compareOutcome, type Outcome } from '#sidecar/contract-test/outcome.ts';

const expected: Expectation = {
  status: 'partial',
  reasons: ['SOURCE_UNAVAILABLE'],
  warnings: [],
  continuation: 'none',
  sources: ['eu-west', 'us-east'],
  unconsumed: 0,
};

function outcomeNaming(...sources: readonly (readonly string[] | undefined)[]): Outcome {
  return {
    status: 'partial',
    warnings: [],
    omitted: [],
    completeness: {
      complete: false,
      truncated: true,
      incomplete_reasons: sources.map((names) => ({
        code: 'SOURCE_UNAVAILABLE',
        message: 'a source did not answer',
        origin: 'upstream',
        ...(names === undefined ? {} : { sources: names }),
      })),
      continuation: { kind: 'none' },
      scope: { resource: 'events', visibility: '', exclusions: [], absence: 'never', consistency: 'single_page' },
      page: { returned: 0, walk: { returned: 0, calls: 1, pages: 1 } },
      sources: [],
      budget: { deadline_ms: 0, spent_ms: 0, waited_ms: 0 },
    },
  };
}

test('outcome: sources of all reasons compare as one set', () => {
  assert.deepEqual(compareOutcome(expected, outcomeNaming(['us-east'], ['eu-west', 'us-east'], undefined)), []);
  assert.deepEqual(
    compareOutcome(expected, outcomeNaming(['us-east'])).map(({ at }) => at),
    ['sources'],
  );
});
