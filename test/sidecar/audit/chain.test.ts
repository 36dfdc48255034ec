import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { entry, openChain, readChain } from './chain-stage.ts';

test('chain: what is acknowledged stands in it once, in order, and a stranger finds it whole', async (t) => {
  const folder = freshFolder(t);
  const chain = await openChain(folder);
  const recorded = await Promise.all(Array.from({ length: 20 }, (_, index) => chain.append(entry(`r${index}`))));
  const single = await chain.append(entry('r20'));
  assert.deepEqual([...new Set(recorded.map(({ frameSequence }) => frameSequence))].length, 1, 'who waits together is one frame');
  await chain.end();
  await chain.close();
  const read = await readChain(folder);
  assert.deepEqual(
    read.texts,
    [...recorded, single].map(({ sequence }, index) => ({ sequence, text: `r${index}` })),
  );
});
