/** A rule that is stopped because it costs too much has not said no. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contract, rule } from '#test/core/completeness/build-contract.ts';
import { drive } from '#test/core/completeness/drive-walk.ts';

test('an outcome rule that is too costly to end makes no answer usable', () => {
  const polled = contract({
    result: { outcomes: [{ name: 'running', when: rule("body.items.exists(i, i.state == 'running')"), is: 'Unavailable' }] },
  });
  const done = (count: number) => Array.from({ length: count }, (_, id) => ({ id, state: 'done' }));
  assert.equal(drive(polled, [{ body: { items: done(1000) } }]).folded.kind, 'envelope');
  const { folded } = drive(polled, [{ body: { items: [...done(300_000), { id: 'last', state: 'running' }] } }]);
  assert.equal(folded.kind === 'error' && folded.reason, 'REMOTE_PROTOCOL');
});
