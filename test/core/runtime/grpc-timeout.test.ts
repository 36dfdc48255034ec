import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clampedTimeoutMs } from '#core/runtime/grpc-timeout.ts';

const MAX = 3_600_000;
const cases: readonly (readonly [string | undefined, number | undefined])[] = [
  [undefined, undefined],
  ['20S', 20_000],
  ['1500m', 1500],
  ['1H', 3_600_000],
  ['2H', MAX],
  ['0S', 1],
  ['1n', 1],
  ['99999999u', 100_000],
  ['99999999H', MAX],
  ['999999999S', MAX],
  ['-1S', MAX],
  ['1 S', MAX],
  ['1s', MAX],
  ['S', MAX],
  ['', MAX],
];
for (const [header, expected] of cases) {
  test(`grpc timeout: ${JSON.stringify(header)} is ${expected}`, () => assert.equal(clampedTimeoutMs(header, MAX), expected));
}

test('grpc timeout: no header gives a time outside 1 to the maximum (GRPC-10)', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^-?[0-9]{1,10}[HMSmun]$/)), (header) => {
      const ms = clampedTimeoutMs(header, MAX);
      assert.ok(ms !== undefined && Number.isInteger(ms) && ms >= 1 && ms <= MAX);
    }),
    { numRuns: 1000 },
  );
});
