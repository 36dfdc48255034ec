import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import type { Entry } from '#sidecar/audit/audit-log.ts';
import type { AuditChain } from '#sidecar/audit/chain.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { entry, openChain, readChain } from './chain-stage.ts';

const lingering = (text: string): Entry => ({ ...entry(text), lingers: true });
/** No alarm ever rings: what goes, goes for another reason. */
const silent = { ...systemClock, alarm: () => () => {} };

test('chain: what nobody waits for goes in one frame with the next record that somebody waits for, in the order of the calls', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder, { clock: silent });
  const outcome = chain.append(lingering('outcome'));
  const [first, second, third] = await Promise.all([outcome, chain.append(entry('intent')), chain.append(lingering('behind'))]);
  assert.equal(first.frameSequence, second.frameSequence);
  assert.deepEqual([second.sequence, third.sequence], [first.sequence + 1, first.sequence + 2]);
  await chain.close();
  assert.deepEqual(
    (await readChain(folder)).texts.map(({ text }) => text),
    ['outcome', 'intent', 'behind'],
  );
});

test('chain: what nobody waits for goes by itself when nothing else comes', async (t) => {
  const chain = await openChain(freshFolder(t));
  const [first, second] = await Promise.all([chain.append(lingering('a')), chain.append(lingering('b'))]);
  assert.equal(first.frameSequence, second.frameSequence, 'one commit takes what lingers');
  await chain.close();
});

const LEAVINGS: Readonly<Record<string, (chain: AuditChain) => Promise<void> | void>> = {
  'a close': (chain) => chain.close(),
  'an end': (chain) => chain.end(),
  'a segment that is closed': (chain) => chain.closeSegment(),
  'a word to hurry': (chain) => chain.hurry(),
};

for (const [what, leave] of Object.entries(LEAVINGS)) {
  test(`chain: ${what} takes along what lingers`, async (t) => {
    const folder = freshFolder(t);
    const chain = await openChain(folder, { clock: silent });
    const recorded = chain.append(lingering('told'));
    await Promise.all([recorded, leave(chain)]);
    await chain.close();
    assert.deepEqual(
      (await readChain(folder)).texts.map(({ text }) => text),
      ['told'],
    );
  });
}
