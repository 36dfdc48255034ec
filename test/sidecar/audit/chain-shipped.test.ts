/** A real chain, shipped to a store of files: what is there, put together, is the chain. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { createFileObjects } from '#core/runtime/file-objects.ts';
import { createOwnSink } from '#sidecar/audit/own-sink.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper } from '#sidecar/audit/shipper.ts';
import { checkChain, entry, IDENTITY, ORIGIN, openChain } from './chain-stage.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-chain-shipped-'));
after(() => rmSync(home, { recursive: true, force: true }));

test('chain and shipper: three runs of a process leave one whole chain in the store, and a manifest for each end', async () => {
  const archive = join(home, 'archive');
  for (const run of ['one', 'two', 'three']) {
    const chain = await openChain(join(home, 'audit'));
    const shipper = new Shipper({
      segments: chain,
      sink: createOwnSink(createFileObjects(archive), ORIGIN),
      list: await openShippedList(join(home, 'shipped'), ORIGIN),
      origin: ORIGIN,
      clock: systemClock,
    });
    shipper.start();
    for (let at = 0; at < 20; at += 1) {
      await chain.append(entry(`${run} ${at}`));
      if (at % 7 === 6) await chain.closeSegment();
    }
    await chain.end();
    assert.deepEqual(await shipper.end(60_000), { shipped: true, manifest: true });
    assert.equal(chain.unshippedBytes, 0);
    await chain.close();
  }
  const segments: Buffer[] = [];
  const manifests: string[] = [];
  for await (const { name } of createFileObjects(archive).list(''))
    if (name.endsWith('.seg')) segments.push(readFileSync(join(archive, name)));
    else manifests.push(readFileSync(join(archive, name), 'utf8'));
  const found = await checkChain(Buffer.concat(segments), true, IDENTITY);
  const texts = found.texts.map(({ text }) => text);
  assert.deepEqual(
    texts,
    ['one', 'two', 'three'].flatMap((run) => Array.from({ length: 20 }, (_, at) => `${run} ${at}`)),
  );
  assert.equal(manifests.length, 3);
  const listed = JSON.parse(manifests.at(-1) ?? '{}').segments;
  assert.deepEqual(
    listed.map(({ bytes }: { bytes: number }) => bytes),
    segments.map(({ length }) => length),
  );
});
